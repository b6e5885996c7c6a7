"""Tools to test engines with: brute force, random instances, the conformance suite."""
