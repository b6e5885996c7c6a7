"""Minimum certificates on samples."""
