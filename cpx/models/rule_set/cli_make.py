"""``cpx make --problem rule-set`` and ``rule-set-learning``: rule sets that imitate a model."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import given
from cpx.cli.row_question import RuleOptions, Source
from cpx.errors import DataError, InvalidOption, UnknownName, nearest, shown
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    import pandas as pd

    from cpx.modelling.base import Problem
    from cpx.models.rule_set.methods.candidates import Literals
    from cpx.models.rule_set.problem import RuleSetProblem
    from cpx.models.rule_set.selection import RuleSetSelection

__all__ = ["PROBLEMS", "RuleSetOptions", "rule_set"]

SELECTION, LEARNING = PROBLEMS = ("rule-set", "rule-set-learning")
LOSSES = ("zero-one", "hamming")
CANDIDATES = ("forest", "monomials", "anchors", "association")
DISTRIBUTIONS = ("empirical", "product", *opt.FITTED)

_PENALTY = "0.01"
# Options of tables and rules that mean something here.
_TAKEN: tuple[str, ...] = (
    "--table",
    "--target",
    "--model",
    "--distribution",
    "--n-bins",
    "--strategy",
)
_TAKEN += ("--categorical", "--missing", "--seed", "--required", "--forbidden", "--where", "--m")


@dataclass(frozen=True)
class RuleSetOptions:
    """Parameters of a problem of rule sets, in addition to those of the table and the model."""

    label: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="For a rule set: the class that the rules describe.  [default: the last one]",
        ),
    ] = None
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For a rule set: zero-one (an error counts once, default) or hamming (once for "
            "each rule that makes it).",
            autocompletion=opt.choices(LOSSES),
        ),
    ] = None
    penalty: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="For a rule set: price of a rule, as a share of the samples.  [default: 0.01]",
        ),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="FROM",
            help="For a rule set: forest (paths of a random forest, default), monomials (the "
            "best rules around some samples), anchors (the widest precise ones), association "
            "(literals that often hold together), or a file of rules as they are printed.",
            autocompletion=opt.choices(CANDIDATES),
        ),
    ] = None
    max_rules: Annotated[
        int | None,
        typer.Option(metavar="N", help="For a rule set: maximum number of rules."),
    ] = None
    max_literals: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For a rule set: maximum number of conditions in total.",
        ),
    ] = None
    max_overlap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For a rule set: maximum number of samples covered by two or more rules.",
        ),
    ] = None

    def check(self, kind: str | None) -> None:
        """Raise for options that are for another kind of instance."""
        both = ("label", "loss", "penalty")
        for option in given(self, *(both if kind == LEARNING else ())):
            if kind != SELECTION:
                raise InvalidOption(f"{option} is for --problem {SELECTION}")


def rule_set(
    kind: str, source: Source, wanted: RuleOptions, asked: RuleSetOptions, k: int, name: str | None
) -> tuple[Problem, str]:
    """Train the model, draw samples and state the problem of a kind; return words too."""
    from cpx.models.rule_set.learning import RuleSetLearning

    unwanted = () if kind == SELECTION else ("--required", "--forbidden", "--where")
    for option in (*given(source), *given(wanted)):
        if option not in _TAKEN or option in unwanted:
            raise InvalidOption(f"{option} is not for --problem {kind}")
    if source.target is None:
        raise InvalidOption("--target is missing: which of the table's?")
    source.check()
    if source.distribution_name not in DISTRIBUTIONS:
        raise UnknownName("distribution of a rule set", source.distribution_name, DISTRIBUTIONS)
    integer_in("k", k, 1)
    integer_in("m", wanted.m or 1000, 1)
    if asked.loss is not None and asked.loss not in LOSSES:
        raise UnknownName("loss", asked.loss, LOSSES)
    origin = asked.candidates or CANDIDATES[0]
    if origin not in CANDIDATES and not os.path.isfile(origin):
        raise UnknownName("candidates, nor a file", origin, CANDIDATES)
    literals, same, context = _samples(source, asked.label, wanted.m or 1000)
    more: dict[str, Any] = {
        "penalty": asked.penalty or _PENALTY,
        "loss": asked.loss or LOSSES[0],
        "name": name or f"{source.table.name.partition('.')[0]}-rules",
    }
    problem: RuleSetProblem
    if kind == LEARNING:
        problem = RuleSetLearning(literals.samples(same, context), k, **more)
    else:
        problem = _selection(literals, same, context, wanted, asked, k, source.seed, more)
    said = [f"class {context['class']} by {source.model}: {problem.kind}", *problem._brief()]
    return problem, ", ".join(said)


def _selection(
    literals: Literals,
    same: Any,
    context: dict[str, Any],
    wanted: RuleOptions,
    asked: RuleSetOptions,
    k: int,
    seed: int,
    more: dict[str, Any],
) -> RuleSetSelection:
    """Find candidates and state the selection from them."""
    from cpx.cli.progress import phase

    if not os.path.isfile(asked.candidates or "") and (same.all() or not same.any()):
        raise DataError(
            f"{context['classifier']} puts {'all' if same.all() else 'none'} of the {len(same)} "
            f"samples into the class {shown(context['class'])}: no rules can be told from them"
        )
    with phase("looking for candidates"):
        rules = _candidates(literals, same, asked.candidates or CANDIDATES[0], k, seed)
    problem = literals.problem(
        rules,
        same,
        context=context,
        max_rules=asked.max_rules,
        max_literals=asked.max_literals,
        max_overlap=asked.max_overlap,
        **more,
    )
    return _with_choice(problem, wanted)


def _samples(source: Source, label: str | None, m: int) -> tuple[Literals, Any, dict[str, Any]]:
    """Return literals of samples, which of them the model puts into the class, and the context."""
    import numpy as np

    from cpx.cli.progress import phase
    from cpx.data.bits import require_rows_fit
    from cpx.data.oracle import labels
    from cpx.models.rule_set.methods.candidates import Literals

    with phase(f"reading {source.table}"):
        X, y = source.read()
        wanted = _known_class(y, label)
        explainer = source.explainer(X)
    require_rows_fit("m", m, explainer.distribution.n_features)
    with phase(f"training {source.model} on {len(X)} rows", long=True):
        explainer.fit(X, y)
    with phase("drawing samples"):
        drawn = explainer.distribution
        batch = drawn.sample(m, np.random.default_rng(source.seed))
        said = labels(explainer.classifier, batch.rows)
    same = np.array([str(value) == wanted for value in said.tolist()])
    context = {
        "classifier": source.model,
        "distribution": {"name": drawn.name, **drawn.parameters()},
        "seed": source.seed,
        "m": m,
        "class": wanted,
    }
    return Literals.of_bits(batch.bits, explainer.binarizer), same, context


def _known_class(y: pd.Series[Any], label: str | None) -> str:
    known = [str(value) for value in sorted(y.unique().tolist(), key=lambda v: (str(type(v)), v))]
    if label is not None and label not in known:
        raise UnknownName("class", label, known)
    return known[-1] if label is None else label


def _candidates(
    literals: Literals, same: Any, origin: str, k: int, seed: int
) -> tuple[tuple[int, ...], ...]:
    from cpx.models.rule_set.methods.candidates import (
        anchors,
        association_rules,
        forest_paths,
        monomials,
        read_rules,
    )

    if origin == "forest":
        return forest_paths(literals, same, k=k, seed=seed)
    if origin == "monomials":
        return monomials(literals, same, k=k, seed=seed)
    if origin == "anchors":
        return anchors(literals, same, k=k, seed=seed)
    if origin == "association":
        return association_rules(literals, same, k=k)
    return read_rules(origin, literals.names)


def _with_choice(problem: RuleSetSelection, wanted: RuleOptions) -> RuleSetSelection:
    """Return the problem with the rules that must and must not be selected."""
    names = list(problem.feature_names)

    def numbers(option: str, rules: list[str] | None) -> tuple[int, ...]:
        found = []
        for rule in rules or ():
            if not rule.isdecimal() and rule not in names:
                raise InvalidOption(
                    f"{option}: {shown(rule)} is none of the {len(names)} candidates"
                    + nearest(rule, names)
                )
            found.append(int(rule) if rule.isdecimal() else names.index(rule))
        return tuple(found)

    return replace(
        problem,
        required=numbers("--required", wanted.required),
        forbidden=numbers("--forbidden", wanted.forbidden),
        side_constraints=wanted.where or (),  # type: ignore[arg-type]
    )
