"""Benchmarks: each module prints one table, all engines side by side in one run.

``python -m benchmarks`` runs all of them, ``python -m benchmarks compile`` one. Quote
ratios: absolute seconds depend on the machine.
"""
