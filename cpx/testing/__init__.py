"""Tools for testing engines: the conformance suite, random instances, brute force."""
