"""Methods for rule sets: candidates, local search, column generation, other learners."""
