"""Encodings of minimum subsets: one function each, arrays in, statement out."""
