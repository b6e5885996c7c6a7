"""The literals and rules that the tests of rule learners have."""

from __future__ import annotations

from tests.methods.rule_learners.conftest import literals, rng, rules, same

__all__ = ["literals", "rng", "rules", "same"]
