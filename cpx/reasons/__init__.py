"""Sufficient reasons of tree models: exact answers for an attribute set, minimal and minimum sets."""
