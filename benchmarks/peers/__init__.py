"""Other packages to compare with, each run in an interpreter of its own."""
