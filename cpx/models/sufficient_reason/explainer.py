"""What forces a prediction of a model, one row after the other: the door ``reason``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Unpack

import numpy as np

from cpx.answers.covered import CoveredRows
from cpx.answers.explanation import AboutRow, Explanation, Reason
from cpx.answers.result import Result, Status
from cpx.answers.rule import Rule
from cpx.data.condition import ColumnCondition
from cpx.errors import CpxError, EngineError, Infeasible
from cpx.explainers.about_row import of_trees
from cpx.explainers.background import fitted_to_rows, in_words
from cpx.explainers.class_names import ClassNames, class_name
from cpx.explainers.doors import Alike, Answer, Batch
from cpx.explainers.options import (
    ABOVE,
    BELOW,
    BETWEEN,
    CLASS_NAMES,
    FORBIDDEN,
    LABEL,
    MISSING_IN,
    NAME,
    REQUIRED,
    SEED,
    WEIGHTS,
    WHERE,
    WORDS,
    Engine,
    Option,
    ReaderOptions,
    built,
)
from cpx.explainers.preparation import counted, with_limit
from cpx.explainers.rows import row_of
from cpx.modelling.row import fitted_to, refuse_missing_conditions, row_values
from cpx.modelling.side_constraints.parameter import texts_of
from cpx.models.sufficient_reason.features import (
    LEVELS,
    Features,
    Level,
    mapped_weights,
    several,
)
from cpx.models.sufficient_reason.form import DEFINITIONS, Definition
from cpx.models.sufficient_reason.minimum_subset.problem import MinimumSubset
from cpx.models.sufficient_reason.networks.explainer import NetworkRows, about, network_notes
from cpx.models.sufficient_reason.networks.problem import NetworkReason
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.trees import TreeModel, read_model
from cpx.trees.conditions import holds as holds_of
from cpx.trees.form import Missing
from cpx.trees.hold import held_against, hold_many
from cpx.trees.library_agreement import near_ties
from cpx.trees.networks import NetworkModel

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ReasonQuestion:
    """Which reason is wanted; the parameters are explained at :meth:`ReasonExplainer.explain`."""

    level: Annotated[
        Level,
        Option(
            "What a reason is made of: attributes (the columns), intervals (each end of one "
            "counts) or conditions (the tests of the model, each free).",
            "NAME",
            choices=LEVELS,
        ),
    ] = "attributes"
    definition: Annotated[
        Definition,
        Option("sufficient, majoritary or tree-specific.", "NAME", choices=DEFINITIONS),
    ] = "sufficient"
    weights: Annotated[Sequence[int] | Mapping[Any, int] | None, WEIGHTS] = None
    required: Annotated[object, REQUIRED] = ()
    forbidden: Annotated[object, FORBIDDEN] = ()
    where: Annotated[str | Sequence[str], WHERE] = ()
    label: Annotated[Any, LABEL] = None
    name: Annotated[str, NAME] = ""

    def problem(self, trees: TreeModel, x: Any, names: ClassNames) -> SufficientReason:
        """State the problem for a row of a model, whose classes have these names."""
        features = Features(trees, row_values(trees, x), self.level)
        stated = SufficientReason(
            trees,
            features.x,
            self.level,
            self.definition,
            weights=mapped_weights(features, self.weights),
            required=several(self.required),
            forbidden=several(self.forbidden),
            label=self.label,
            context=class_context(trees, int(trees.predict_index(features.x)[0]), names),
            name=self.name,
        )
        texts = texts_of(self.where)
        return stated.where(*texts) if texts else stated


class ReadModel(Alike):
    """A tree model that is read once, and made to fit one row after the other.

    Parameters
    ----------
    model : fitted classifier, TreeModel or path
        Whatever :func:`cpx.read_model` reads. A model that was trained without names gets those
        of the columns of X, or of the row.
    X : DataFrame or array of shape (n, columns), optional
        Rows that say which values may be missing; nothing is drawn from them.
    class_names : sequence or mapping, optional
        Names of the classes, by position or by label.
    words : mapping of columns, optional
        What columns are called: of each a label, or a mapping with ``label`` and ``unit``; by
        default ``X.attrs["words"]``.
    missing : {"auto", "never", "always"} or sequence of str, default="auto"
        Which values rows may lack, of a model that takes missing values: none, all, or those of
        some columns. ``"auto"``: those of columns of which x, X or the model itself shows missing
        values; see :func:`cpx.read_model`. The answer says which.
    above, below : float, optional
    between : (float, float), optional
        Of a model that predicts numbers: which of them are asked about; see
        :func:`cpx.read_model`.
    seed : int, default=0
        Of the engine.
    **reader
        Options of :func:`cpx.read_model` and its readers: ``trusted``, ``rounds``, ``classes``.
    """

    def __init__(
        self,
        model: Any,
        X: Any = None,
        *,
        class_names: Annotated[ClassNames, CLASS_NAMES] = None,
        words: Annotated[Mapping[Any, Any] | None, WORDS] = None,
        missing: Annotated[Missing, MISSING_IN] = "auto",
        above: Annotated[float | None, ABOVE] = None,
        below: Annotated[float | None, BELOW] = None,
        between: Annotated[tuple[float, float] | None, BETWEEN] = None,
        seed: Annotated[int, SEED] = 0,
        **reader: Unpack[ReaderOptions],
    ) -> None:
        self.class_names, self.missing, self.seed = class_names, missing, seed
        self._rows, self.rows, self._called = X, None, words
        self.notes: tuple[str, ...] = ()
        limits = {"above": above, "below": below, "between": between}
        self._read(model, X, {**limits, **reader})

    rows: pd.DataFrame | None
    network: NetworkRows | None = None

    def _read(self, model: Any, X: Any, options: Mapping[str, Any]) -> None:
        try:
            self.model = read_model(model, rows=X, **options)
        except NetworkModel as error:
            given = {name: v for name, v in options.items() if v is not None}
            self.network = NetworkRows(error.model, X, self.class_names, self._called, given)
            self.model = self.network.reader.columns
            return
        if X is not None:
            self.model, self.rows, self.notes = fitted_to_rows(self.model, X)
            self.model = in_words(self.model, self._called, X)
        if self.model.live is not None and self.model.live.sums is not None:
            names = [a.name for a in self.model.attributes]
            self.notes = (*self.notes, self.model.live.sums.told(names))
        if self.model.live is not None and self.model.live.front is not None:
            self.notes = (*self.notes, *self.model.live.front.days_told())

    def fitted(self, x: Any, level: str = "attributes") -> tuple[TreeModel, tuple[str, ...]]:
        """Return the model as it fits the row, and notes."""
        refuse_missing_conditions(level, self.missing)
        known = self.rows is not None or level == "conditions"
        trees, told = fitted_to(self.model, x, self.missing, of_data=known)
        if self.rows is None:
            trees = in_words(trees, self._called)
        return trees, (*self.notes, *told)

    def for_many(self, rows: Sequence[Any], asked: Mapping[str, Any]) -> Batch:
        """Return the rows, of which the live model was asked all at once."""
        known = []
        for x in rows if hasattr(self, "model") else ():
            # What is wrong with a row is said where it is explained.
            with suppress(CpxError):
                trees, _ = self.fitted(row_of(self._rows, x), asked.get("level", "attributes"))
                known.append((trees, row_values(trees, x)))
        hold_many(known)
        return super().for_many(rows, asked)


class ReasonExplainer(ReadModel):
    """Explain predictions of a tree model by the fewest columns that force its class.

    :meth:`cpx.Explainer.reason` asks it. What is said holds for all rows: nothing is sampled.
    """

    __doc__ = f"{__doc__}{(ReadModel.__doc__ or '').partition(chr(10))[2]}"

    asks: ClassVar = (ReasonQuestion, Engine)

    def problem(self, x: Any, **asked: Any) -> SufficientReason | NetworkReason:
        """State the problem of explaining x, with the options of :meth:`explain`."""
        return self._stated(x, built(ReasonQuestion, asked))[0]

    def _stated(
        self, x: Any, question: ReasonQuestion
    ) -> tuple[SufficientReason | NetworkReason, tuple[str, ...]]:
        x = row_of(self._rows, x)
        if self.network is not None:
            return self.network.problem(x, **vars(question))
        trees, notes = self.fitted(x, question.level)
        return question.problem(trees, x, self.class_names), notes

    @counted()
    def _solved(
        self, x: Any, asked: dict[str, Any]
    ) -> tuple[SufficientReason | NetworkReason, Result, tuple[str, ...]]:
        engine = Engine.taken(asked)
        problem, notes = self._stated(x, built(ReasonQuestion, asked))
        engine = replace(engine, hint=_hint(problem, engine.hint))
        result = engine.solve(problem, self.seed)
        if result.explanation is not None:
            told = replace(result.explanation, row=self._about(problem, result.explanation))
            result = replace(result, explanation=told)
        return problem, with_limit(result, engine.time_limit), notes

    def solve(self, x: Any, **options: Any) -> Result:
        """Solve the problem of explaining x, with the options of :meth:`explain`."""
        return self.answer(x, **options).result

    def answer(self, x: Any, **options: Any) -> Answer:
        """Do what :meth:`solve` does, and say what was asked."""
        problem, result, _ = self._solved(x, options)
        called = str(problem.context.get("class", problem.label))
        return Answer(result, called, (problem.kind, *problem._brief()), problem)

    def explain(self, x: Any, **options: Any) -> Reason:
        """Explain the prediction of x by what forces it, whatever the other columns are.

        Parameters
        ----------
        x : one row, or its position or label in X
            The instance: a Series, a dict, a one-row frame or a vector.
        level : {"attributes", "intervals", "conditions"}, default="attributes"
        definition : {"sufficient", "majoritary", "tree-specific"}, default="sufficient"
        weights, required, forbidden, label
            As for :class:`cpx.SufficientReason`, where features can be given by name;
            ``weights`` can be a mapping, of the features that do not weigh 1.
        where : str or sequence of str
            Side constraints on the features; see :meth:`cpx.models.Problem.where`.
        name : str, optional
            That of the problem.
        hint : Explanation, or sequence of int or str
            Features of a known reason.
        backend : str, optional
            The engine: ``hitting-sets`` where several trees are explained in the full sense,
            else ``cpsat``, unless another one is named.
        time_limit : float or None, default=10.0
            Seconds for preparation and engine.
        threads, gap, encoding, isolate, listen
            As for :func:`cpx.solve`.

        Returns
        -------
        Reason
            What forces the class, in words, and between which numbers the size of a smallest
            reason is known to be.

        Raises
        ------
        Infeasible, EngineError
            When there is none, or the engine or the check failed.
        ModelError, UnsupportedModel, DataError
            When the model cannot be read, or x is no row of it.
        """
        problem, result, notes = self._solved(x, options)
        if isinstance(problem, NetworkReason):
            held = network_notes(problem)
        else:
            held = (*_near_tie(problem), *held_against(problem.tree_model, problem.x))
        found: Reason = self.of_row(conclude(problem, result, (*notes, *held)), x)
        return found

    def _about(
        self, problem: SufficientReason | NetworkReason, found: Explanation
    ) -> AboutRow | None:
        """Return the row with its values in the columns that the reason names."""
        if isinstance(problem, NetworkReason):
            return about(problem, found.features)
        S = problem.features.columns(found.features)
        return of_trees(problem.tree_model, problem.features.x, S)

    def of_row(self, found: Any, x: Any) -> Any:
        """Return a reason with what finds the rows of X that it covers."""
        if found.why or self.rows is None:
            return found
        return replace(found, ask_rows=partial(self._covered, found.rule))

    def _covered(self, rule: Rule) -> CoveredRows:
        """Return the rows of X that a reason covers, and near misses."""
        rows, model, holds = np.asarray(self.rows, dtype=np.float64), self.model, list[Any]()
        said = rule.conditions or tuple(literal.means for literal in rule.literals)
        for one in said:
            assert isinstance(one, ColumnCondition)  # as each condition of a tree model
            a = next(a for a, own in enumerate(model.attributes) if own.name == one.column)
            holds.append(holds_of(one, model.attributes[a], rows[:, a], model.cast))
        called = [class_name(label, self.class_names, model.classes) for label in model.classes]
        classes = [called[c] for c in model.predict_index(rows).tolist()]
        index = [*self._rows.index] if hasattr(self._rows, "iloc") else range(len(rows))
        table = np.array(holds, dtype=bool).reshape(len(holds), len(rows)).T
        return CoveredRows.of(table, rule.words, index, classes, rule.conclusion)


def conclude(problem: MinimumSubset, result: Result, told: Sequence[str] = ()) -> Reason:
    """Return the reason that was found, with what is known of it, and further notes.

    Raises EngineError: When there is none, or the engine or the check failed.
    """
    found = result.explanation
    words = "".join(f"; {remark}" for remark in result.remarks)
    if result.status is Status.INFEASIBLE:
        told = f"there is no {problem.candidate()}; {result.engine} proved it{words}"
        raise Infeasible(told, result)
    if found is None or result.status is Status.ERROR:
        what = "no reason" if found is None else "a reason that is wrong"
        raise EngineError(
            f"{result.engine} found {what}: {result.status}, {result.termination}, "
            f"{result.raw_status}{words}",
            result,
        )
    checked = "checked: code that no engine uses confirms that the class is forced"
    said = (text for text in (*told, *result.warnings) if text not in found.notes)
    return Reason(
        found.rule,
        claim=found.claim,
        remarks=(*dict.fromkeys(said), *([checked] if result.verified else [])),
        verified=result.verified,
        result=result,
        row=found.row,
    )


def _near_tie(problem: SufficientReason) -> tuple[str, ...]:
    """Warn where the library, which adds floats, may give x another class than exact sums."""
    model, x = problem.tree_model, problem.x
    if len(model.trees) == 1 or model.rule == "vote" or not near_ties(model, x)[0]:
        return ()
    return (
        "near tie: the scores of x are so close that rounding in the library may decide; "
        f"{model.classes[int(model.predict_index(x)[0])]} is the class by exact sums",
    )


def _hint(problem: SufficientReason | NetworkReason, given: Any) -> Any:
    if given is None or isinstance(given, Explanation):
        return given
    return problem.features.numbers("hint", several(given))


def class_context(model: TreeModel, own: int, names: ClassNames) -> dict[str, str]:
    """Return what the class of index ``own`` is called as context of a problem, if that is said.

    Raises InvalidOption: As for :func:`~cpx.explainers.class_names.class_name`.
    """
    if names is None:
        return {}
    return {"class": class_name(model.classes[own], names, model.classes)}
