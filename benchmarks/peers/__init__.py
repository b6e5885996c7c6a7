"""Other packages, each asked in an interpreter of its own."""
