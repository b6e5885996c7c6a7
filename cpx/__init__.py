"""cpx: explanation problems of machine learning as constraint models.

One statement, any engine, an answer you can trust::

    import cpx
    explanation = cpx.explain(classifier, background, x, k=5)

The names below are imported when they are first used, so ``import cpx`` is fast.

Where things are. A person looks for three things: what is asked, who answers, and how to get an
answer. Rooms stand in layers, and import only from lines above their own:

- ``support``: families, files, lazy imports, argument validation; ``errors``, ``options``;
- ``processes``: all other programs that are started, and what Ctrl-C does; ``compiled``: kernels;
- ``data``: tables as literals, distributions, samples; ``trees``: tree models in one exact form;
- ``answers``: results, explanations, rules, and how they read;
- ``modelling``: the language: problems, statements, encodings, side constraints, saved files;
- ``check``: the frame of the independent checker;
- ``backends``: who answers: CP-SAT, MaxSAT, MILP, and an exact search of our own;
- ``solving``: the one way from a problem and the name of an engine to a checked result;
- ``methods``: sequences of engine calls for all problems;
- ``explainers``: the doors, one call or one estimator;
- ``compare``: experiments; ``export``: problems in the formats of solvers;
- ``testing``: for those who write an engine; ``library``: instances; ``cli``: the command;
- ``models``: what is asked, a folder per family of problems, with all that belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpx.support.lazy_imports import lazily
from cpx.support.versions import __version__ as __version__

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation, Reason
    from cpx.answers.plots import plot_rules, plot_selection
    from cpx.answers.result import Result, Status, Termination
    from cpx.answers.rule import RuleSet
    from cpx.compare import compare
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
    from cpx.explainers.solutions import Solutions, solutions
    from cpx.modelling.instances import load, save
    from cpx.models import (
        MLSE,
        FewestExpected,
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
    from cpx.models.monomial.explainers.rivals import Rivals, rivals
    from cpx.models.rule_set.classifier import RuleSetClassifier
    from cpx.models.rule_set.methods.column_generation import learn_rules
    from cpx.solving import solve
    from cpx.trees import Attribute, TreeModel, read_model

_HOMES = {
    "MLSE": "cpx.models",
    "Attribute": "cpx.trees",
    "Background": "cpx.data",
    "Binarizer": "cpx.data",
    "CpxError": "cpx.errors",
    "Empirical": "cpx.data",
    "Explainer": "cpx.explainers",
    "Explanation": "cpx.answers.explanation",
    "FewestExpected": "cpx.models",
    "KMonomial": "cpx.models",
    "KernelRule": "cpx.models",
    "MaxCoverage": "cpx.models",
    "MaxPrecision": "cpx.models",
    "MinCertificate": "cpx.models",
    "NegativeOnly": "cpx.models",
    "Perturbed": "cpx.data",
    "Product": "cpx.data",
    "Rivals": "cpx.models.monomial.explainers.rivals",
    "Reason": "cpx.answers.explanation",
    "Result": "cpx.answers.result",
    "RuleSet": "cpx.answers.rule",
    "RuleSetClassifier": "cpx.models.rule_set.classifier",
    "RuleSetLearning": "cpx.models",
    "RuleSetSelection": "cpx.models",
    "Samples": "cpx.data",
    "Solutions": "cpx.explainers.solutions",
    "Status": "cpx.answers.result",
    "SufficientReason": "cpx.models",
    "Termination": "cpx.answers.result",
    "TreeModel": "cpx.trees",
    "Uniform": "cpx.data",
    "rivals": "cpx.models.monomial.explainers.rivals",
    "compare": "cpx.compare",
    "explain": "cpx.explainers",
    "learn_rules": "cpx.models.rule_set.methods.column_generation",
    "load": "cpx.modelling.instances",
    "plot_rules": "cpx.answers.plots",
    "plot_selection": "cpx.answers.plots",
    "read_model": "cpx.trees",
    "sample_size": "cpx.data",
    "save": "cpx.modelling.instances",
    "solutions": "cpx.explainers.solutions",
    "solve": "cpx.solving",
}

__all__ = [
    "MLSE",
    "Attribute",
    "Background",
    "Binarizer",
    "CpxError",
    "Empirical",
    "Explainer",
    "Explanation",
    "FewestExpected",
    "KMonomial",
    "KernelRule",
    "MaxCoverage",
    "MaxPrecision",
    "MinCertificate",
    "NegativeOnly",
    "Perturbed",
    "Product",
    "Reason",
    "Result",
    "Rivals",
    "RuleSet",
    "RuleSetClassifier",
    "RuleSetLearning",
    "RuleSetSelection",
    "Samples",
    "Solutions",
    "Status",
    "SufficientReason",
    "Termination",
    "TreeModel",
    "Uniform",
    "compare",
    "explain",
    "learn_rules",
    "load",
    "plot_rules",
    "plot_selection",
    "read_model",
    "rivals",
    "sample_size",
    "save",
    "solutions",
    "solve",
]

_NOW = {
    "Ranking": "Solutions",
    "ProbabilisticExplainer": "Explainer(model, X).expectation(x)",
    "best_rules": "solutions(problem, n)",
    "explain_rows": "Explainer(model, X).rules(X)",
    "optimal_rules": 'solutions(problem, "optimal")',
}
_get, __dir__ = lazily(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in _NOW:
        raise AttributeError(f"cpx.{name} is cpx.{_NOW[name]} now")
    return _get(name)
