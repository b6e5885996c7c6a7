"""The experiment of Lu and Ester, section 5: a decision set for a network on Adult."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cpx.data.scalars import positive_integer, valid_seed

if TYPE_CHECKING:
    from cpx.methods.active.decision_set import DecisionSet
    from cpx.reproduce.ads.network import Network

__all__ = [
    "PUBLISHED",
    "Faithfulness",
    "Settings",
    "faithfulness",
    "surrogates",
]

ADS = "ADS"

Labels = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Faithfulness:
    """How faithful a surrogate is to a black box on test rows, and how simple.

    Attributes
    ----------
    name : str
    accuracy, f1, recall, precision : float
        Of the surrogate's labels, those of the black box being the truth.
    rules, conditions, longest : float or None
        Number of rules, their mean and their greatest number of conditions.
    queries : float or None
        Synthetic instances that the black box was asked about; None where that is not told.
    seconds : float or None
        Processor time.
    spread : float or None
        Standard deviation of F1 over the runs.
    """

    name: str
    accuracy: float
    f1: float
    recall: float
    precision: float
    rules: float | None = None
    conditions: float | None = None
    longest: float | None = None
    queries: float | None = None
    seconds: float | None = None
    spread: float | None = None


# Lu, Ester: An Active Approach for Model Interpretation (arXiv:1910.12207), the two tables of
# section 5.
PUBLISHED = (
    Faithfulness(ADS, 0.897, 0.741, 0.688, 0.803, 24, 4.375, 6),
    Faithfulness("ADS, beta = 0", 0.884, 0.690, 0.602, 0.809, 29, 2.413, 4, 0),
    Faithfulness("BRS+", 0.882, 0.709, 0.666, 0.757, 57, 3.859, 5),
    Faithfulness("SP-Anchor", 0.807, 0.205, 0.116, 0.877, 24, 7.875, 12),
    Faithfulness("DT-Extract", 0.829, 0.357, 0.221, 0.924, 24, 5.375, 8),
    Faithfulness("CART", 0.910, 0.797, 0.820, 0.775, 4406, 8.869, 12, 0),
    Faithfulness("random forest", 0.929, 0.824, 0.773, 0.833, 44687, None, 12, 0),
)
"""The figures of the paper; CART and forest are those without synthetic instances."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the reproduction.

    Attributes
    ----------
    penalty, beta : float
        Of :class:`~cpx.methods.active.ActiveDecisionSet`.
    queries, iterations : int
        Its greatest numbers of them.
    runs : int
        Seeds that the figures of decision sets are means of.
    seed : int
        Of the split and the network; the runs have this one and the following.
    rows : int or None
        Training rows, drawn at random, that decision sets are given; None for all.
    exact : bool
        Whether the exact loop is asked as well, with as many queries.
    """

    penalty: float = 0.0005
    beta: float = 0.02
    queries: int = 2000
    iterations: int = 200
    runs: int = 3
    seed: int = 0
    rows: int | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        positive_integer("runs", self.runs)
        if self.rows is not None:
            positive_integer("rows", self.rows)
        valid_seed(self.seed)


def faithfulness(name: str, ours: Labels, theirs: Labels, **more: float | None) -> Faithfulness:
    """Compare the labels of a surrogate with those of the black box.

    Examples
    --------
    >>> ours, theirs = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    >>> found = faithfulness("mine", ours, theirs)
    >>> found.accuracy, found.f1, found.recall, found.precision
    (0.5, 0.5, 0.5, 0.5)
    """
    both, said, true = int((ours & theirs).sum()), int(ours.sum()), int(theirs.sum())
    return Faithfulness(
        name,
        float((ours == theirs).mean()),
        2 * both / (said + true) if said + true else 0.0,
        both / true if true else 0.0,
        both / said if said else 0.0,
        **more,
    )


def surrogates(network: Network, settings: Settings) -> Iterator[Faithfulness]:
    """Yield the figures of one surrogate after the other.

    First the label that most rows have; then CART and a random forest, which say how hard the
    network is to imitate; then decision sets, without queries and with them. Learned
    ones get no more rules than ADS has with the same seed.
    """
    nothing = np.zeros(len(network.test_labels), dtype=bool)
    yield faithfulness("no rule", nothing, network.test_labels, rules=0, queries=0)
    for name, title in (("tree", "CART"), ("forest", "random forest")):
        yield _yardstick(name, title, network, settings.seed)
    most: dict[int, int] = {}
    for title, learner in _learners(settings):
        runs = []
        for seed in range(settings.seed, settings.seed + settings.runs):
            model = learner(seed, most.get(seed))
            runs.append(_learned(title, model, network, settings.rows, seed))
            if title == ADS:
                most[seed] = max(1, len(model.rules_))
        yield _mean(title, runs)


def _learners(
    settings: Settings,
) -> Iterator[tuple[str, Callable[[int, int | None], DecisionSet]]]:
    """Yield names, and what makes a decision set from a seed and a number of rules."""
    from cpx.methods.active import ActiveDecisionSet, ExactDecisionSet, LearnedDecisionSet

    def active(seed: int, most: int | None, beta: float) -> DecisionSet:
        return ActiveDecisionSet(
            penalty=settings.penalty,
            beta=beta,
            max_iterations=settings.iterations,
            max_queries=settings.queries,
            seed=seed,
        )

    def learned(seed: int, most: int | None, queries: int) -> DecisionSet:
        return LearnedDecisionSet(
            # What ADS pays for a rule is the price of five conditions.
            penalty=0.0,
            condition_penalty=settings.penalty / 5,
            max_rules=most,
            max_queries=queries,
            seed=seed,
        )

    def exact(seed: int, most: int | None) -> DecisionSet:
        # On so many rows, rivals that differ little are worth asking about, too.
        return ExactDecisionSet(
            penalty=settings.penalty,
            max_queries=settings.queries,
            queries_per_round=100,
            tolerance=0.0,
            starts=2,
            time_limit=1.0,
            seed=seed,
        )

    yield "ADS, beta = 0", partial(active, beta=0.0)
    yield ADS, partial(active, beta=settings.beta)
    yield "learned, no queries", partial(learned, queries=0)
    if settings.queries:
        yield "learned", partial(learned, queries=settings.queries)
    if settings.exact:
        yield "exact loop", exact


def _yardstick(name: str, title: str, network: Network, seed: int) -> Faithfulness:
    from cpx.data.classifiers import named_classifier

    start = time.process_time()
    surrogate = named_classifier(name, seed).fit(network.train_rows, network.train_labels)
    seconds = time.process_time() - start
    last = surrogate[-1]
    trees = [one.tree_ for one in getattr(last, "estimators_", [last])]
    # A rule is a leaf of the positive class.
    positive = sum(
        int(((tree.children_left < 0) & (tree.value[:, 0].argmax(axis=1) == 1)).sum())
        for tree in trees
    )
    ours = np.asarray(surrogate.predict(network.test_rows), dtype=bool)
    return faithfulness(
        title, ours, network.test_labels, rules=positive, queries=0, seconds=seconds
    )


def _learned(
    title: str, model: DecisionSet, network: Network, rows: int | None, seed: int
) -> Faithfulness:
    given = network.train_rows
    if rows is not None and rows < len(given):
        given = given.sample(rows, random_state=seed).reset_index(drop=True)
    start = time.process_time()
    model.fit(given, network.classifier)
    seconds = time.process_time() - start
    lengths = [len(rule) for rule in model.rules_] or [0]
    return faithfulness(
        title,
        np.asarray(model.predict(network.test_rows), dtype=bool),
        network.test_labels,
        rules=len(model.rules_),
        conditions=float(np.mean(lengths)),
        longest=max(lengths),
        queries=model.queries_,
        seconds=seconds,
    )


def _mean(name: str, runs: list[Faithfulness]) -> Faithfulness:
    """Return the means over runs, and the spread of F1."""
    fields = [f for f in Faithfulness.__dataclass_fields__ if f not in ("name", "spread")]
    means = {f: float(np.mean([getattr(run, f) for run in runs])) for f in fields}
    spread = float(np.std([run.f1 for run in runs], ddof=1)) if len(runs) > 1 else None
    return Faithfulness(name, **means, spread=spread)
