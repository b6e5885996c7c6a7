"""The reproduction of Lu and Ester as a table, with the figures of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from cpx.reproduce.ads.experiment import PUBLISHED, Faithfulness, Settings
from cpx.reproduce.ads.network import DATASET, HIDDEN, Network
from cpx.reproduce.grids import Grid

__all__ = ["grid", "notes"]

_HEADER = (
    "method",
    "acc",
    "F1",
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


def notes(network: Network, settings: Settings) -> list[str]:
    """Say what was measured."""
    n, kept = len(network.train_rows), len(network.test_rows)
    return [
        f"{DATASET.name}: {n} training rows, {kept} test rows, "
        f"{network.train_rows.shape[1]} attributes.",
        f"Network: {len(HIDDEN)} hidden layers ({', '.join(map(str, HIDDEN))}), accuracy "
        f"{network.train_accuracy:.3f} on the training rows, {network.test_accuracy:.3f} on the "
        f"test rows; it calls {network.test_labels.mean():.3f} of these positive.",
        f"ADS: penalty {settings.penalty:g}, beta {settings.beta:g}, {settings.iterations} "
        f"iterations, at most {settings.queries} queries, "
        f"{'all' if settings.rows is None else settings.rows} training rows; means of "
        f"{settings.runs} runs, from seed {settings.seed}.",
        "±: standard deviation of F1 over the runs. learned: by column generation and "
        "exchange, no more rules than ADS has with the same seed; queries are asked near rows.",
        "rules of CART and forest: leaves of the positive class; in the paper all leaves. "
        "conditions, most: mean and greatest number in a rule. seconds: processor time.",
        "paper: Lu and Ester (2019), the two tables of section 5, 43957 training rows.",
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
        number(row.recall, 3),
        number(row.precision, 3),
        number(row.rules, 0 if whole else 1),
        number(row.conditions, 2),
        number(row.longest, 0),
        number(row.queries, 0),
        number(row.seconds, 1),
    )
