"""What every room needs: files, lazy imports, versions, warnings, argument validation."""
