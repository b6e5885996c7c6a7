"""The leaves of one decision tree as rules."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.models.rule_set.methods.candidates.trees import as_literals, tree_paths
from cpx.models.rule_set.methods.rule_learners.evaluation import FoundRules
from cpx.support.validation import Share, positive_integer, valid_seed


def cart_rules(
    literals: Literals, same: Any, *, k: int = 4, penalty: Share = "0.01", seed: int = 0
) -> FoundRules:
    """Fit a decision tree and return its leaves of the class as rules.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Depth of the tree, the maximum number of literals of a rule.
    penalty : Fraction, int, float or str
        Price of a rule in the figures; the tree knows nothing of it.
    seed : int
        Decides between equal splits.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and Regression Trees, 1984; here
    ``DecisionTreeClassifier`` of scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": range(8)})
    >>> literals = Literals.of_table(table, n_bins=8)
    >>> print(cart_rules(literals, [0, 0, 0, 1, 1, 0, 0, 0], k=2).explanation)
    a > 2.5 and a <= 4.5 => the class
    """
    from sklearn.tree import DecisionTreeClassifier

    labels = literals.labels(same)
    start = time.process_time()
    tree = DecisionTreeClassifier(
        max_depth=min(positive_integer("k", k), literals.features.shape[1]),
        random_state=valid_seed(seed),
    ).fit(literals.features.astype(np.float32), labels)
    rules = [as_literals(path) for path in tree_paths(tree.tree_, 1, leaves=True)]
    spent = time.process_time() - start
    return FoundRules.of("CART", literals, labels, rules, penalty, seconds=spent)
