"""The sufficiency test: whether attributes of a row force its class, whatever the others are."""
