"""Encodings of monomial problems: one function each, arrays in, statement out.

``common`` has what all of them share: the feature variables and the constraints on the
choice of features.
"""
