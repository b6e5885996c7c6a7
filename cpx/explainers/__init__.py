"""From a classifier and an instance to an explanation: what :func:`cpx.explain` does.

- ``entry``: the one call, for either kind of explanation;
- ``explainer``: the steps to a rule, one by one, for any classifier;
- ``question``: which rule is wanted, and how many samples judge it;
- ``widest``: of the most precise rules, the one that covers most;
- ``remarks``: what is guaranteed of a rule, and how it compares with the best one;
- ``forcing``: what forces a prediction of a tree model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.explainers.explainer import Explainer
    from cpx.explainers.one_call import explain

__all__ = ["Explainer", "explain"]

__getattr__, __dir__ = lazily(__name__, {"Explainer": "explainer", "explain": "one_call"})
