"""The doors: from a model, rows and an instance to an explanation, by whatever family offers it.

- ``explainer``: :class:`cpx.Explainer` and :func:`cpx.explain`;
- ``doors``: the kinds of explanations that families register, and their options;
- ``rows``: the row that is meant, by position or label; arguments in another order;
- ``options``: who answers and how long it may take, and how a model is read;
- ``preparation``: the time limit, of which preparation takes its part;
- ``class_names``: what classes are called; ``conditions``: conditions that a person writes;
- ``background``: rows of a model, and the distribution fitted to them;
- ``solutions``: the best few answers to a problem, or all optimal ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.explainers.explainer import Explainer, explain
    from cpx.explainers.solutions import Solutions

__all__ = ["Explainer", "Solutions", "explain"]

__getattr__, __dir__ = lazily(
    __name__, {"Explainer": "explainer", "Solutions": "solutions", "explain": "explainer"}
)
