"""Boolean kernels, and the rules of machines trained with them.

The features of a Boolean kernel are formulas, so that a support vector machine with such a
kernel is a weighted vote of rules. :func:`read_svc` says what a rule weighs, and :func:`best_rule`
finds the one that weighs the most; :func:`extract_rules` does both for a table.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.kernel_rule.boolean_kernels.base import BooleanKernel
    from cpx.models.kernel_rule.boolean_kernels.datasets import (
        BooleanDataset,
        artificial,
        dataset,
        monks,
        tic_tac_toe,
        with_noise,
    )
    from cpx.models.kernel_rule.boolean_kernels.extraction import ExtractedRule, best_rule
    from cpx.models.kernel_rule.boolean_kernels.kernels import (
        BoundedDNFKernel,
        MonotoneConjunctiveKernel,
        MonotoneDisjunctiveKernel,
        MonotoneDNFKernel,
    )
    from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine, read_svc
    from cpx.models.kernel_rule.boolean_kernels.table_rules import (
        ClassRule,
        MachineRules,
        extract_rules,
    )

__all__ = [
    "BooleanDataset",
    "BooleanKernel",
    "BoundedDNFKernel",
    "ClassRule",
    "ExtractedRule",
    "KernelMachine",
    "MachineRules",
    "MonotoneConjunctiveKernel",
    "MonotoneDNFKernel",
    "MonotoneDisjunctiveKernel",
    "artificial",
    "best_rule",
    "dataset",
    "extract_rules",
    "monks",
    "read_svc",
    "tic_tac_toe",
    "with_noise",
]

_HOME = {
    "BooleanKernel": "base",
    **dict.fromkeys(
        ("BooleanDataset", "artificial", "dataset", "monks", "tic_tac_toe", "with_noise"),
        "datasets",
    ),
    **dict.fromkeys(("ExtractedRule", "best_rule"), "extraction"),
    **dict.fromkeys(("KernelMachine", "read_svc"), "machine"),
    **dict.fromkeys(("ClassRule", "MachineRules", "extract_rules"), "table_rules"),
    **dict.fromkeys(
        (
            "BoundedDNFKernel",
            "MonotoneConjunctiveKernel",
            "MonotoneDNFKernel",
            "MonotoneDisjunctiveKernel",
        ),
        "kernels",
    ),
}

__getattr__, __dir__ = lazily(__name__, _HOME)
