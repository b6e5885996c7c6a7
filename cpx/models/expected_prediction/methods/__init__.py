"""Questions about scores of rows that constraint models answer."""
