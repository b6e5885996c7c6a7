"""Distributions fitted to data: mixtures of trees, Chow-Liu trees, naive Bayes."""
