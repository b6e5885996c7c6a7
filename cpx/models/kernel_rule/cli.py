"""The command ``cpx make kernel-rule``: the strongest rule of a support vector machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.declared import Declared
from cpx.cli.kind_options import KindOptions
from cpx.cli.make import Saving, in_words
from cpx.cli.option_groups import Group, grouped
from cpx.errors import InvalidOption
from cpx.explainers.doors import kind
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.cli_row import TrainedModel

_TITLE = "Machine and rule"
_NOT_OF_BINS = ("distribution", "seed", "above", "below", "between", "words")


@grouped(
    source=Group(TrainedModel, "model"),
    bins=KindOptions("rule", without=(*_NOT_OF_BINS, *kind("rule").asked)),
    own=Declared(KernelRule, "max_clauses", "max_literals", title=_TITLE),
)
def make_kernel_rule(
    *,
    source: TrainedModel,
    bins: dict[str, Any],
    label: opt.Label = None,
    cost: Annotated[
        float,
        typer.Option(
            metavar="C",
            help="What an error costs the machine: C of scikit-learn's SVC.",
        ),
    ] = 1.0,
    own: dict[str, Any],
    saving: Saving,
) -> None:
    r"""Make the problem to find the rule of maximum weight of a kernel machine.

    Trains a support vector machine with the kernel of all rules of so many clauses and
    conditions, on the columns in bins. Its vote is a sum over these rules; the problem asks for
    the one that weighs the most.

    \b
    Examples:
      cpx make kernel-rule table.csv --target y --max-clauses 2 --max-literals 3

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    import numpy as np
    from sklearn.svm import SVC

    from cpx.cli.progress import training
    from cpx.cli.reading import class_of
    from cpx.data import Binarizer
    from cpx.models.kernel_rule.boolean_kernels import BoundedDNFKernel, read_svc
    from cpx.processes.interrupts import interruptible

    saving.check(source.table)
    source.check(bins)
    if not cost > 0:
        raise InvalidOption(f"cost must be a number > 0, got {cost}")
    kernel = BoundedDNFKernel(own["max_clauses"], own["max_literals"])
    X, y = source.read(bins)
    positive = class_of(y, label)
    binarizer = Binarizer(**bins).fit(X)
    bits, names = binarizer.transform(X), binarizer.get_feature_names_out().tolist()
    classes = np.where(y.astype(str) == positive, positive, f"not {positive}")
    with training("a machine", len(X)), interruptible():
        svc = SVC(kernel=kernel, C=cost).fit(bits, classes)
    name = saving.name or f"{source.table.name.partition('.')[0]}-kernel-rule"
    problem = read_svc(svc, bits, positive=positive).problem(features=names, name=name)
    saving.write(problem, in_words(problem, positive))
