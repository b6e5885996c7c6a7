"""Sets of rules as plain arrays: what a set costs, what may be left out, how it is stated."""
