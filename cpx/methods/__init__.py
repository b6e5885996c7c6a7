"""How a problem is solved by a sequence of calls of an engine.

- ``dinkelbach``: ratios, by any engine that solves weighted problems.
"""
