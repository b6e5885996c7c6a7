"""Explainers."""
