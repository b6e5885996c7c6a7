"""Fitted."""
