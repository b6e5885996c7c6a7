"""The command ``cpx make rule-set``: few rules that imitate a classifier on all rows."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.declared import Declared
from cpx.cli.make import Saving, in_words
from cpx.cli.option_groups import given, grouped
from cpx.data.distributions import DISTRIBUTIONS
from cpx.errors import DataError, InvalidOption, UnknownName, nearest, shown
from cpx.models.monomial.cli_row import TrainedModel, row_options
from cpx.models.rule_set.learning import RuleSetLearning
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.options import read_named
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    from cpx.models.rule_set.methods.candidates import Literals
    from cpx.models.rule_set.problem import RuleSetProblem

ALL = "all"
DRAWN = tuple(name for name in DISTRIBUTIONS if name not in ("perturbed", "uniform"))
"""Distributions that are of no single row."""


@dataclass(frozen=True)
class Rules:
    """Which rules there are to choose from, and which must and must not be chosen."""

    title: ClassVar[str] = "Rules"

    k: Annotated[
        int, typer.Option("-k", metavar="N", help="Maximum number of conditions of a rule.")
    ] = opt.MOST
    candidates: Annotated[
        str,
        typer.Option(
            metavar="FROM",
            help="forest (paths of a random forest), monomials (the best rules around some "
            "samples), anchors (the widest precise ones), association (literals that often hold "
            "together), all (every rule of at most k conditions), or a file of rules as they are "
            "printed.",
            autocompletion=lambda incomplete: opt.complete_last(incomplete, (*_origins(), ALL)),
        ),
    ] = "forest"
    required: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A candidate that must be chosen, or its number."),
    ] = None
    forbidden: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="One that must not be chosen.")
    ] = None
    where: opt.Where = None

    def check(self, limits: dict[str, Any]) -> None:
        """Raise for what is not known, and for limits on candidates where there are none."""
        integer_in("k", self.k, 1)
        if self.candidates == ALL:
            named = [f"--{name.replace('_', '-')}" for name in limits]
            for option in (*given(self, "k", "candidates"), *named):
                raise InvalidOption(f"{option} is not for --candidates {ALL}")
        elif self.candidates not in _origins() and not os.path.isfile(self.candidates):
            known = (*_origins(), ALL)
            raise UnknownName("candidates, nor a file", self.candidates, known)


@grouped(
    drawing=row_options(),
    own=Declared(RuleSetLearning, "penalty", "loss", title=Rules.title),
    limits=Declared(
        RuleSetSelection, "max_rules", "max_literals", "max_overlap", title=Rules.title
    ),
)
def make_rule_set(
    *,
    source: TrainedModel,
    drawing: dict[str, Any],
    label: opt.Label = None,
    m: Annotated[int, typer.Option("-m", metavar="N", help="Samples the model labels.")] = 1000,
    own: dict[str, Any],
    rules: Rules,
    limits: dict[str, Any],
    saving: Saving,
) -> None:
    r"""Make the problem to find a few rules that imitate a model on all rows.

    Trains a classifier on the table, draws samples and labels them. Rules for a class are
    selected from candidates, of the kind rule-set, or with --candidates all from every rule of
    at most k conditions, of the kind rule-set-learning.

    \b
    Examples:
      cpx make rule-set table.csv --target y --label yes -k 2 -o inst.json
      cpx make rule-set table.csv --target y --candidates all -k 2
      cpx make rule-set table.csv --target y --candidates rules.txt --max-rules 4

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(source.table)
    source.check(drawing)
    drawn, _ = read_named("distribution", drawing.get("distribution", "empirical"))
    if drawn not in DRAWN:
        raise UnknownName("distribution of a rule set", drawn, DRAWN)
    rules.check(limits)
    literals, same, context = _samples(source, drawing, label, integer_in("m", m, 1))
    more = {**own, "name": saving.name or f"{source.table.name.partition('.')[0]}-rules"}
    problem: RuleSetProblem
    if rules.candidates == ALL:
        problem = RuleSetLearning(literals.samples(same, context), rules.k, **more)
    else:
        usual = {"penalty": RuleSetLearning.penalty}
        more = {**usual, **more, **limits}
        problem = _selection(literals, same, context, rules, context["seed"], more)
    saving.write(problem, in_words(problem, context["class"], f" by {source.model}"))


def _selection(
    literals: Literals,
    same: Any,
    context: dict[str, Any],
    rules: Rules,
    seed: int,
    more: dict[str, Any],
) -> RuleSetSelection:
    """Find candidates and state the selection from them."""
    from cpx.cli.progress import phase

    if rules.candidates in _origins() and (same.all() or not same.any()):
        raise DataError(
            f"{context['classifier']} puts {'all' if same.all() else 'none'} of the {len(same)} "
            f"samples into the class {shown(context['class'])}: no rules can be told from them"
        )
    with phase("looking for candidates"):
        found = _candidates(literals, same, rules, seed)
    problem = literals.problem(found, same, context=context, **more)
    names = list(problem.feature_names)
    return replace(
        problem,
        required=_numbers("--required", rules.required, names),
        forbidden=_numbers("--forbidden", rules.forbidden, names),
    ).where(*rules.where or ())


def _samples(
    source: TrainedModel, drawing: dict[str, Any], label: str | None, m: int
) -> tuple[Literals, Any, dict[str, Any]]:
    """Return literals of samples, which of them the model puts into the class, and the context."""
    import numpy as np

    from cpx.cli.progress import phase, training
    from cpx.cli.reading import class_of
    from cpx.data.bits import require_rows_fit
    from cpx.data.oracle import labels
    from cpx.models.rule_set.methods.candidates import Literals

    seed = drawing.get("seed", 0)
    X, y = source.read(drawing)
    wanted = class_of(y, label)
    explainer = source.explainer(X, drawing)
    require_rows_fit("m", m, explainer.distribution.n_features)
    with training(source.model, len(X)):
        explainer.fit(X, y)
    with phase("drawing samples"):
        drawn = explainer.distribution
        batch = drawn.sample(m, np.random.default_rng(seed))
        said = labels(explainer.classifier, batch.rows)
    same = np.array([str(value) == wanted for value in said.tolist()])
    context = {
        "classifier": source.model,
        "distribution": {"name": drawn.name, **drawn.parameters()},
        "seed": seed,
        "m": m,
        "class": wanted,
    }
    return Literals.of_bits(batch.bits, explainer.binarizer), same, context


def _origins() -> dict[str, Any]:
    """Return what finds candidates, by name."""
    from cpx.models.rule_set.methods import candidates as found

    return {
        "forest": found.forest_paths,
        "monomials": found.monomials,
        "anchors": found.anchors,
        "association": found.association_rules,
    }


def _candidates(
    literals: Literals, same: Any, rules: Rules, seed: int
) -> tuple[tuple[int, ...], ...]:
    from cpx.models.rule_set.methods.candidates import read_rules

    origin = _origins().get(rules.candidates)
    if origin is None:
        return read_rules(rules.candidates, literals.names)
    drawn = {} if rules.candidates == "association" else {"seed": seed}
    found: tuple[tuple[int, ...], ...] = origin(literals, same, k=rules.k, **drawn)
    return found


def _numbers(option: str, given: list[str] | None, names: list[str]) -> tuple[int, ...]:
    """Return candidates that are given by number, or as they are printed."""
    found = []
    for rule in given or ():
        if not rule.isdecimal() and rule not in names:
            raise InvalidOption(
                f"{option}: {shown(rule)} is none of the {len(names)} candidates"
                + nearest(rule, names)
            )
        found.append(int(rule) if rule.isdecimal() else names.index(rule))
    return tuple(found)
