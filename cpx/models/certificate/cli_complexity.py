"""The command ``cpx complexity``: how large certificates and trees of a classifier must be."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.kind_options import KindOptions
from cpx.cli.option_groups import Group, grouped
from cpx.errors import InvalidOption
from cpx.explainers.doors import kind
from cpx.models.monomial.cli_row import TrainedModel
from cpx.options import TIME_LIMIT

_NOT_OF_BITS = ("distribution", "above", "below", "between", "words")


@grouped(
    source=Group(TrainedModel),
    bins=KindOptions("rule", without=(*_NOT_OF_BITS, *kind("rule").asked)),
)
def complexity(
    *,
    source: TrainedModel,
    bins: dict[str, Any],
    epsilon: Annotated[
        str, typer.Option(metavar="SHARE", help="Greatest error, from 0 to 1.")
    ] = "0.05",
    time_limit: Annotated[
        float, opt.seconds_option("For GC, which is an interval where it is over.")
    ] = TIME_LIMIT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object as JSON.")] = False,
) -> None:
    r"""Say how large certificates and decision trees of a classifier must be.

    Trains a classifier on the columns in bins, as bits. Over all vectors of these bits, which are
    equally likely: C, the mean size of the smallest certificates; D, the least depth of a
    decision tree; GC, the least size of two collections of certificates. All with an error of at
    most epsilon, after Blanc, Lange and Tan. For at most 12 bits, GC for at most 8.

    \b
    Examples:
      cpx complexity table.csv --target y --model forest --n-bins 2 --epsilon 0.1

    Exit codes: 0 all are exact; 3 GC is an interval, or not computed; 2 wrong input; 1 anything
    else.
    """
    import numpy as np

    from cpx.cli.progress import phase, training
    from cpx.data.oracle import labels
    from cpx.models.certificate.methods.complexity import (
        MOST_BITS,
        MOST_GLOBAL,
        certificate_complexity,
        cube,
        decision_tree_complexity,
        global_certificate_complexity,
    )
    from cpx.support.validation import share

    share("epsilon", epsilon)
    source.check(bins)
    X, y = source.read(bins)
    explainer = source.explainer(X, {**bins, "distribution": "uniform"})
    d = explainer.distribution.n_features
    if d > MOST_BITS:
        raise InvalidOption(
            f"the columns in bins are {d} bits, at most {MOST_BITS} are gone through: take fewer "
            "bins or columns"
        )
    with training(source.model, len(X)):
        explainer.fit(X, y)
    values = np.asarray(labels(explainer.classifier, cube(d)))

    def f(_: Any) -> Any:
        return values

    with phase(f"going through {2**d} vectors of {d} bits"):
        found = certificate_complexity(f, d, epsilon)
        depth = decision_tree_complexity(f, d, epsilon)
        few = d <= MOST_GLOBAL and len(np.unique(values)) <= 2
        collections = (
            global_certificate_complexity(f, d, epsilon, time_limit=opt.limit(time_limit))
            if few
            else None
        )
    sizes = np.bincount(found.sizes, minlength=1).tolist()
    if as_json:
        data = {
            "bits": list(explainer.distribution.feature_names),
            "epsilon": epsilon,
            "C": str(found.mean),
            "sizes": sizes,
            "D": depth,
            "GC": None if collections is None else [collections.low, collections.high],
        }
        typer.echo(json.dumps(data, indent=1))
    else:
        listed = ", ".join(f"{n} of size {k}" for k, n in enumerate(sizes) if n)
        typer.echo(f"C(f, {epsilon})   {float(found.mean):.3f}  smallest certificates: {listed}")
        typer.echo(f"D(f, {epsilon})   {depth}  least depth of a decision tree")
        why = f"not computed: more than {MOST_GLOBAL} bits, or more than two classes"
        typer.echo(f"GC(f, {epsilon})  {why if collections is None else collections}")
    raise typer.Exit(0 if collections is not None and collections.proved else 3)
