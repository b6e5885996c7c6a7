"""All methods at the same number of calls of the classifier."""
