"""Heuristics for one rule: Anchors, levels of beam search, queries of the classifier."""
