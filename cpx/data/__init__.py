"""Data: tables to Boolean features, distributions, samples, classifiers.

Names are imported on first use, so that ``import cpx`` costs no pandas and no
scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.data.background import Background
    from cpx.data.base import Batch, Distribution
    from cpx.data.binarizer import Binarizer
    from cpx.data.classifiers import named_classifier
    from cpx.data.coding import Coding
    from cpx.data.distributions import Empirical, Perturbed, Product, distribution
    from cpx.data.fitted.circuit import Circuit
    from cpx.data.fitted.distribution import read_distribution
    from cpx.data.fitted.fitted import ChowLiu, Factorised, Fitted, Mixture
    from cpx.data.fitted.mixture_choice import Trial, choose_mixture
    from cpx.data.fitted.mixture_fit import fit_mixture
    from cpx.data.fitted.tree_mixture import TreeMixture
    from cpx.data.oracle import Oracle, estimate_precision, labels
    from cpx.data.samples import Samples
    from cpx.data.statistics import (
        clopper_pearson,
        rule_count,
        sample_size,
        uniform_deviation,
    )
    from cpx.data.tables import read_table, row
    from cpx.data.uniform import Uniform

__all__ = [
    "Background",
    "Batch",
    "Binarizer",
    "ChowLiu",
    "Circuit",
    "Coding",
    "Distribution",
    "Empirical",
    "Factorised",
    "Fitted",
    "Mixture",
    "Oracle",
    "Perturbed",
    "Product",
    "Samples",
    "TreeMixture",
    "Trial",
    "Uniform",
    "choose_mixture",
    "clopper_pearson",
    "distribution",
    "estimate_precision",
    "fit_mixture",
    "fit_naive_bayes",
    "labels",
    "named_classifier",
    "read_distribution",
    "read_table",
    "row",
    "rule_count",
    "sample_size",
    "uniform_deviation",
]

_HOME = {
    "Background": "background",
    "Batch": "base",
    "Binarizer": "binarizer",
    "ChowLiu": "fitted.fitted",
    "Circuit": "fitted.circuit",
    "Coding": "coding",
    "Distribution": "base",
    "Empirical": "distributions",
    "Factorised": "fitted.fitted",
    "Fitted": "fitted.fitted",
    "Mixture": "fitted.fitted",
    "Oracle": "oracle",
    "Perturbed": "distributions",
    "Product": "distributions",
    "Samples": "samples",
    "TreeMixture": "fitted.tree_mixture",
    "Trial": "fitted.mixture_choice",
    "Uniform": "uniform",
    "choose_mixture": "fitted.mixture_choice",
    "clopper_pearson": "statistics",
    "distribution": "distributions",
    "estimate_precision": "oracle",
    "fit_mixture": "fitted.mixture_fit",
    "fit_naive_bayes": "fitted.naive_bayes",
    "labels": "oracle",
    "named_classifier": "classifiers",
    "read_distribution": "fitted.distribution",
    "read_table": "tables",
    "row": "tables",
    "rule_count": "statistics",
    "sample_size": "statistics",
    "uniform_deviation": "statistics",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
