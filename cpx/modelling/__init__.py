"""The language of problems: parameters, statements, encodings, side constraints, files."""
