"""cpx: explanation problems of machine learning as constraint models.

One statement, any engine, an answer you can trust::

    import cpx
    explanation = cpx.explain(classifier, background, x, k=5)

The names below are imported when they are first used, so ``import cpx`` is fast.

Where things are, in the order in which data pass through them:

- ``data``, ``trees``: tables as literals, samples, tree models; ``boolean_kernels``: machines;
- ``candidates``: rules that sets of rules are chosen from;
- ``explaining``, ``classifier``: the doors, one call or one estimator;
- ``models``: what is asked, a problem per file; ``instances``: problems saved;
- ``backends``, ``methods``, ``reasons``: who answers; ``isolation``: in a process of its own;
- ``processes``: all other programs that are started, and what Ctrl-C does;
- ``solving``, ``ranking``: from a problem to a checked ``result``; ``check``: the checker;
- ``explanation``, ``rules``, ``rule_sets``: answers, and how they read; ``plots``, ``html``;
- ``compare``, ``baselines``, ``reproduce``: engines, other methods, published experiments;
- ``export``: problems in the formats of solvers, for reading or for elsewhere;
- ``cli``: the command; ``testing``: for those who write an engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation, Reason
    from cpx.answers.plots import plot_rules, plot_selection
    from cpx.answers.result import Result, Status, Termination
    from cpx.answers.rule_set import RuleSet
    from cpx.data import (
        Background,
        Binarizer,
        Empirical,
        Perturbed,
        Product,
        Samples,
        Uniform,
        sample_size,
    )
    from cpx.errors import CpxError
    from cpx.explainers import Explainer, explain
    from cpx.explainers.ranking import Ranking, best_rules, optimal_rules
    from cpx.explainers.rule_set_classifier import RuleSetClassifier
    from cpx.instances import load, save
    from cpx.methods.column_generation import learn_rules
    from cpx.models import (
        KernelRule,
        KMonomial,
        MaxCoverage,
        MaxPrecision,
        MinCertificate,
        NegativeOnly,
        RuleSetLearning,
        RuleSetSelection,
        SufficientReason,
    )
    from cpx.solving import solve
    from cpx.trees import Attribute, TreeModel, read_model

_HOMES = {
    "Attribute": "cpx.trees",
    "Background": "cpx.data",
    "Binarizer": "cpx.data",
    "CpxError": "cpx.errors",
    "Empirical": "cpx.data",
    "Explainer": "cpx.explainers",
    "Explanation": "cpx.answers.explanation",
    "KMonomial": "cpx.models",
    "KernelRule": "cpx.models",
    "MaxCoverage": "cpx.models",
    "MaxPrecision": "cpx.models",
    "MinCertificate": "cpx.models",
    "NegativeOnly": "cpx.models",
    "Perturbed": "cpx.data",
    "Product": "cpx.data",
    "Ranking": "cpx.explainers.ranking",
    "Reason": "cpx.answers.explanation",
    "Result": "cpx.answers.result",
    "RuleSet": "cpx.answers.rule_set",
    "RuleSetClassifier": "cpx.explainers.rule_set_classifier",
    "RuleSetLearning": "cpx.models",
    "RuleSetSelection": "cpx.models",
    "Samples": "cpx.data",
    "Status": "cpx.answers.result",
    "SufficientReason": "cpx.models",
    "Termination": "cpx.answers.result",
    "TreeModel": "cpx.trees",
    "Uniform": "cpx.data",
    "best_rules": "cpx.explainers.ranking",
    "explain": "cpx.explainers",
    "learn_rules": "cpx.methods.column_generation",
    "load": "cpx.instances",
    "optimal_rules": "cpx.explainers.ranking",
    "plot_rules": "cpx.answers.plots",
    "plot_selection": "cpx.answers.plots",
    "read_model": "cpx.trees",
    "sample_size": "cpx.data",
    "save": "cpx.instances",
    "solve": "cpx.solving",
}

__version__ = "0.1.0"
__all__ = [
    "Attribute",
    "Background",
    "Binarizer",
    "CpxError",
    "Empirical",
    "Explainer",
    "Explanation",
    "KMonomial",
    "KernelRule",
    "MaxCoverage",
    "MaxPrecision",
    "MinCertificate",
    "NegativeOnly",
    "Perturbed",
    "Product",
    "Ranking",
    "Reason",
    "Result",
    "RuleSet",
    "RuleSetClassifier",
    "RuleSetLearning",
    "RuleSetSelection",
    "Samples",
    "Status",
    "SufficientReason",
    "Termination",
    "TreeModel",
    "Uniform",
    "best_rules",
    "explain",
    "learn_rules",
    "load",
    "optimal_rules",
    "plot_rules",
    "plot_selection",
    "read_model",
    "sample_size",
    "save",
    "solve",
]


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'cpx' has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
