"""Sufficient reasons of tree models: rows, levels, losses of leaves, words."""
