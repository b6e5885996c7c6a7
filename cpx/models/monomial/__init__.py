"""Monomials: rules of at most k conditions for one class."""
