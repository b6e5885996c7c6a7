"""The right answer to a saved instance, by trying every solution; nothing of cpx is used.

Instances are the JSON objects of the page "file format", and must be tiny: all sets of features,
all rows that a tree model tells apart, and all rules are gone through. The definitions are those
of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from cpx.testing.fuzz.brute.base import Instance, Truth, Value, subsets
from cpx.testing.fuzz.brute.monomials import Certificate, Monomial
from cpx.testing.fuzz.brute.reasons import SufficientReason
from cpx.testing.fuzz.brute.rules import KernelRule, Learning, RuleSet

__all__ = ["Truth", "Value", "subsets", "truth"]


def truth(instance: Instance) -> Truth:
    """Return what is right about a saved instance.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10"}
    >>> truth(instance).best
    (0, (0,))
    """
    return _KINDS[instance["problem"]](instance)


_KINDS: dict[str, Callable[[Instance], Truth]] = {
    **dict.fromkeys(("k-monomial", "negative-only", "max-precision", "max-coverage"), Monomial),
    "min-certificate": Certificate,
    "sufficient-reason": SufficientReason,
    "rule-set": RuleSet,
    "rule-set-learning": Learning,
    "kernel-rule": KernelRule,
}
