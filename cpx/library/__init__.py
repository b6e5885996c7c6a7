"""A library of instances: named families made from open definitions with seeds.

:func:`make` makes one instance, :func:`suite` names many, :func:`best_known` says what is proved
of one, :func:`out_of_sample` measures rules on fresh samples. ``cpx library`` is the command.
Files of instances need not be kept or sent around: the family, its three sizes and the seed are
the instance.
"""

from __future__ import annotations

from cpx.library.families import SUITES, Entry, families, make, suite
from cpx.library.family import Family
from cpx.library.fresh import fresh_samples, out_of_sample
from cpx.library.known import Known, best_known, known_of

__all__ = [
    "SUITES",
    "Entry",
    "Family",
    "Known",
    "best_known",
    "families",
    "fresh_samples",
    "known_of",
    "make",
    "out_of_sample",
    "suite",
]
