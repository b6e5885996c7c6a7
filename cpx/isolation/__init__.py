"""Solves in worker processes with a hard limit.

``server`` is the program of the worker: it loads an engine once and forks a child per job,
so that only the first solve pays for the imports. ``worker`` is our end of it: it sends jobs,
listens to events, interrupts, kills, and makes a result of whatever is left.
"""

from __future__ import annotations

from cpx.isolation.worker import prepare, run_isolated, shutdown

__all__ = ["prepare", "run_isolated", "shutdown"]
