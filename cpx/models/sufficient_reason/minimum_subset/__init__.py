"""Minimum subsets of features that are enough for something: what two families share."""
