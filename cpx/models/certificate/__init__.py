"""Smallest certificates on samples."""
