"""Rule learners of other packages, each run in an interpreter of its own."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from benchmarks.peers.interpreter import ask
from cpx.errors import InvalidOption
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.models.rule_set.methods.rule_learners.evaluation import FoundRules
from cpx.support.validation import closed_unit, positive_integer, seconds, share, valid_seed

if TYPE_CHECKING:
    from cpx.support.validation import Share

__all__ = ["bayesian_rules", "brcg_rules", "skope_rules"]


def brcg_rules(
    literals: Literals,
    same: Any,
    *,
    k: int = 10,
    penalty: Share = "0.01",
    time_limit: float = 100.0,
    solver: str = "ECOS",
    python: str | None = None,
) -> FoundRules:
    """Return the rules of BRCG, the column generation of AIX360.

    The package asks for the same as :func:`cpx.learn_rules`: the Hamming loss and a price per
    rule. Its price per literal is set to zero; of the rule without literals, which it takes for
    free, the price is counted here.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Greatest number of literals of a rule (``D``).
    penalty : Fraction, int, float or str
        Price of a rule as a share of the samples (``lambda0``).
    time_limit : float
        Seconds (``timeMax``). The package looks at the clock between its rounds.
    solver : str
        Of its linear programmes, a name that CVXPY knows.
    python : str, optional
        An interpreter with the package, whose versions of pandas and NumPy are older than those
        of cpx. Default: the environment variable CPX_AIX360, or else this one.

    Raises
    ------
    EngineMissing
        When the interpreter does not have the package; with the pip line.
    EngineError
        When the package fails.

    Notes
    -----
    The package prices by beam search and ends when that finds nothing: it has no bound. Its last
    step, too, selects from the rules by a beam search.

    References
    ----------
    S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS 2018; the
    package AIX360, ``aix360.algorithms.rbm.BooleanRuleCG``.
    """
    limit = seconds(time_limit)
    if limit is None:
        raise InvalidOption("time_limit must be seconds > 0, got None: the package needs one")
    asked = {
        "columns": _columns(literals),
        "penalty": float(Fraction(share("penalty", penalty))),
        "k": positive_integer("k", k),
        "time_limit": limit,
        "solver": solver,
    }
    return _found("brcg", literals, same, penalty, asked, python)


def skope_rules(
    literals: Literals,
    same: Any,
    *,
    k: int = 3,
    penalty: Share = "0.01",
    n_rules: int | None = None,
    min_precision: float = 0.5,
    trees: int = 10,
    seed: int = 0,
    python: str | None = None,
) -> FoundRules:
    """Return the rules of SkopeRules, from the package imodels.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Depth of its trees, the greatest number of literals of a rule.
    penalty : Fraction, int, float or str
        Price of a rule in the figures; the package knows nothing of it.
    n_rules : int, optional
        So many of its rules, the best by its own order; all of them unless given.
    min_precision : float
        Least precision of a rule outside the samples of its tree, from 0 to 1.
    trees : int
        Each of its two kinds of trees, a classification and a regression, is fitted so often.
    seed : int
    python : str, optional
        An interpreter with the package. Default: the environment variable CPX_IMODELS, or else
        this one.

    Raises
    ------
    EngineMissing, EngineError

    Notes
    -----
    The rules are read as a disjunction, as the package ``skope-rules`` reads them. That package
    itself, version 1.0.1, cannot be imported by Python 3.10 and later.

    References
    ----------
    The package skope-rules (F. Gardin, R. Gautier, N. Goix, B. Ndiaye, J.-M. Schertzer, 2017),
    as ``SkopeRulesClassifier`` of imodels.
    """
    asked = {
        "k": positive_integer("k", k),
        "min_precision": closed_unit("min_precision", min_precision),
        "trees": positive_integer("trees", trees),
        "seed": valid_seed(seed),
    }
    most = None if n_rules is None else positive_integer("n_rules", n_rules)
    return _found("skope", literals, same, penalty, asked, python, most)


def bayesian_rules(
    literals: Literals,
    same: Any,
    *,
    k: int = 2,
    penalty: Share = "0.01",
    seed: int = 0,
    python: str | None = None,
) -> FoundRules:
    """Return a Bayesian rule set, from the package imodels.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Greatest number of literals of a rule.
    penalty : Fraction, int, float or str
        Price of a rule in the figures; the package has a prior in its place.
    seed : int
    python : str, optional
        An interpreter with the package. Default: the environment variable CPX_IMODELS, or else
        this one.

    Raises
    ------
    EngineMissing, EngineError

    References
    ----------
    T. Wang, C. Rudin, F. Doshi-Velez, Y. Liu, E. Klampfl, P. MacNeille: A Bayesian Framework for
    Learning Rule Sets for Interpretable Classification, JMLR 2017; here
    ``BayesianRuleSetClassifier`` of imodels.
    """
    asked = {"k": positive_integer("k", k), "seed": valid_seed(seed)}
    return _found("bayesian", literals, same, penalty, asked, python)


_NAMES = {"brcg": "BRCG", "skope": "SkopeRules", "bayesian": "Bayesian rule set"}


def _found(
    method: str,
    literals: Literals,
    same: Any,
    penalty: Share,
    asked: dict[str, Any],
    python: str | None,
    most: int | None = None,
) -> FoundRules:
    labels = literals.labels(same)
    told = ask(method, literals.features, labels, asked, python)
    return FoundRules.of(
        _NAMES[method],
        literals,
        labels,
        told["rules"][:most],
        penalty,
        seconds=told["seconds"],
        versions=told["versions"],
    )


def _columns(literals: Literals) -> list[tuple[str, str, float | str]]:
    """Return what AIX360 calls the literals: column, sign and value."""
    called: list[tuple[str, str, float | str]] = []
    for text in literals.names[::2]:
        threshold = re.fullmatch(r"(.+) <= (\S+)", text)
        category = re.fullmatch(r"(.+?) = (.+)", text)
        if threshold:
            column, value = threshold.groups()
            called += [(column, "<=", float(value)), (column, ">", float(value))]
            continue
        column, kind = category.groups() if category else (text, "1")
        called += [(column, "==", kind), (column, "!=", kind)]
    return called
