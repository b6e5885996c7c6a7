"""Polato and Aiolli (ESANN 2018): rules of kernel machines, Table 2."""
