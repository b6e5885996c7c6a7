"""Sufficient reasons of small ReLU networks: columns vary within their ranges."""
