"""The table of the experiment of Lu and Ester, with the figures of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from benchmarks.papers.ads.experiment import Settings
from benchmarks.papers.ads.faithfulness import ADS, PUBLISHED, Faithfulness
from benchmarks.papers.ads.network import DATASET, HIDDEN, Network
from benchmarks.papers.grids import Grid

__all__ = ["grid", "notes"]

_HEADER = (
    "method",
    "acc",
    "F1",
    "±",
    "lead",
    "±",
    "recall",
    "precision",
    "rules",
    "conditions",
    "most",
    "queries",
    "seconds",
)


def grid(found: Sequence[Faithfulness]) -> Grid:
    """Return our figures, each with those of the paper below it, then the paper's others."""
    published = {row.name: row for row in PUBLISHED}
    lines = []
    for row in found:
        lines.append(_line(row, row.name))
        if row.name in published:
            lines.append(_line(published.pop(row.name), "  paper"))
    lines += [_line(row, f"{row.name}, paper") for row in published.values()]
    return Grid("Faithfulness to the network on the test rows", _HEADER, tuple(lines))


def notes(
    networks: Sequence[Network], settings: Settings, found: Sequence[Faithfulness]
) -> list[str]:
    """Say what was measured."""
    separated = next(row.separated or 0.0 for row in found if row.name == ADS)
    first = networks[0]
    n, kept = len(first.train_rows), len(first.test_rows)

    def mean(values: Iterable[float]) -> str:
        return f"{fmean(values):.3f}"

    return [
        f"{DATASET.name}: {n} training rows, {kept} test rows, "
        f"{first.train_rows.shape[1]} attributes; splits, each with a network: {settings.runs}, "
        f"from seed {settings.seed}.",
        f"Networks: {len(HIDDEN)} hidden layers ({', '.join(map(str, HIDDEN))}), at most "
        f"{settings.epochs} epochs; on average accuracy "
        f"{mean(one.train_accuracy for one in networks)} on the training rows, "
        f"{mean(one.test_accuracy for one in networks)} on the test rows; "
        f"{mean(one.test_labels.mean() for one in networks)} of these are called positive.",
        f"ADS: penalty {settings.penalty:g}, beta {settings.beta:g}, {settings.iterations} "
        f"iterations, at most {settings.queries} queries, {settings.per_iteration} in one "
        "iteration, "
        f"{'all' if settings.rows is None else settings.rows} training rows. weights for F1: "
        "(2 - F) / F for a positive row, F being the F1 score of ADS, beta = 0, on training rows.",
        f"The bounds of the best action of ADS were separated from those of the others in "
        f"{100 * separated:.1f} % of its iterations; the others ended at a limit on queries.",
        "±: standard deviation of F1 over the splits. lead: of F1 over ADS on the same split, and "
        "its standard error. learned: by column generation and exchange, no more rules than ADS "
        "and ADS, beta = 0, have on the same split; queries are asked near rows.",
        "rules of CART and forest: leaves of the positive class; the paper does not say which. "
        "conditions, most: mean and greatest number in a rule. seconds: processor time.",
        "paper: Lu and Ester (2019), the two tables of section 5, 90 % of 48842 rows.",
    ]


def _line(row: Faithfulness, name: str) -> tuple[str, ...]:
    def number(value: float | None, digits: int) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    whole = row.rules is None or float(row.rules).is_integer()
    return (
        name,
        number(row.accuracy, 3),
        number(row.f1, 3),
        number(row.spread, 3),
        "-" if row.lead is None else f"{row.lead:+.4f}",
        number(row.error, 4),
        number(row.recall, 3),
        number(row.precision, 3),
        number(row.rules, 0 if whole else 1),
        number(row.conditions, 2),
        number(row.longest, 0),
        number(row.queries, 0),
        number(row.seconds, 1),
    )
