"""Sets of rules, selected from candidates or learned from samples."""
