"""F1 against the number of rules of ADS, over penalties and beta: the figure of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.ads.experiment import Settings, active_set, imitation
from benchmarks.papers.ads.network import DATASET, HIDDEN, train
from benchmarks.papers.grids import Grid, as_markdown, as_text
from benchmarks.papers.panels import draw_panels
from benchmarks.papers.store import Store, key_of
from cpx.errors import InvalidInstance

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.papers.sources import Source

__all__ = ["BETAS", "PENALTIES", "Point", "curves"]

PENALTIES = (0.005, 0.002, 0.001, 0.0005, 0.0002)
"""lambda, from few rules to many."""

BETAS = (0.0, 0.0005, 0.002, 0.02)

_COLOURS = ("#999999", "#56B4E9", "#0072B2", "#D55E00")
_MARKERS = ("^", "s", "D", "o")


@dataclass(frozen=True)
class Point:
    """One run of ADS; ``key`` is a hash of the setting."""

    key: str
    setting: Mapping[str, Any]
    rules: float
    f1: float
    accuracy: float
    queries: float
    separated: float
    seconds: float

    @classmethod
    def from_line(cls, line: bytes) -> Point:
        """Read a line of a store."""
        try:
            return cls(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise InvalidInstance(f"cannot be read: {error}") from error


def curves(source: Source, settings: Settings, directory: Path) -> None:
    """Run ADS for each penalty and beta that is missing, print a table and draw the curves."""
    from dataclasses import replace

    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    store: Store[Point] = Store(directory, Point.from_line)
    network = None
    rows: Any = None
    points: dict[tuple[float, float], Point] = {}
    for penalty in PENALTIES:
        for beta in BETAS:
            own = replace(settings, penalty=penalty, beta=beta)
            setting = _setting(own, source.identity(DATASET))
            key = key_of(setting)
            if key not in store.records:
                if network is None:
                    note("training the network")
                    network = train(source.load(DATASET), own.seed, own.epochs)
                    rows = network.train_rows
                    if own.rows is not None and own.rows < len(rows):
                        rows = rows.sample(own.rows, random_state=own.seed)
                        rows = rows.reset_index(drop=True)
                model = active_set(own, own.seed, beta)
                made = imitation(f"lambda {penalty:g}, beta {beta:g}", model, network, rows)
                store.add(
                    Point(
                        key,
                        setting,
                        made.rules or 0.0,
                        made.f1,
                        made.accuracy,
                        made.queries or 0.0,
                        made.separated or 0.0,
                        made.seconds or 0.0,
                    )
                )
                note(f"{made.name}: {made.rules} rules, F1 {made.f1:.3f}")
            points[penalty, beta] = store.records[key]
    grid = Grid(
        "ADS: F1 by penalty and beta, with the number of rules",
        ("lambda", *(f"beta = {beta:g}" for beta in BETAS)),
        tuple(_row(points, penalty) for penalty in PENALTIES),
    )
    asked = Grid(
        "Queries, and share of iterations whose best action was separated",
        ("lambda", *(f"beta = {beta:g}" for beta in BETAS)),
        tuple(_queries(points, penalty) for penalty in PENALTIES),
    )
    print(as_text([grid, asked], []))
    write_atomic(directory / "table.md", as_markdown([grid, asked], []).encode())
    paths = [directory / f"f1-by-rules.{form}" for form in ("png", "svg")]
    draw_panels(paths, 1, 4.5, lambda panels: _draw(panels, points))
    note(f"wrote {directory / 'table.md'}, {paths[0]} and {paths[1]}")


def _setting(settings: Settings, data: str) -> dict[str, Any]:
    kept = ("penalty", "beta", "queries", "iterations", "per_iteration", "epochs", "seed", "rows")
    own = {name: getattr(settings, name) for name in kept}
    return {"data": data, "hidden": list(HIDDEN), **own}


def _row(points: Mapping[tuple[float, float], Point], penalty: float) -> tuple[str, ...]:
    own = [points[penalty, beta] for beta in BETAS]
    return (f"{penalty:g}", *(f"{one.f1:.3f} ({one.rules:.0f})" for one in own))


def _queries(points: Mapping[tuple[float, float], Point], penalty: float) -> tuple[str, ...]:
    own = [points[penalty, beta] for beta in BETAS]
    return (f"{penalty:g}", *(f"{one.queries:.0f} ({one.separated:.2f})" for one in own))


def _draw(panels: Sequence[Axes], points: Mapping[tuple[float, float], Point]) -> None:
    panel = panels[0]
    for beta, colour, marker in zip(BETAS, _COLOURS, _MARKERS, strict=False):
        own = sorted((points[p, beta].rules, points[p, beta].f1) for p in PENALTIES)
        rules, scores = np.array(own).T
        panel.plot(rules, scores, color=colour, marker=marker, markersize=4, label=f"β = {beta:g}")
    panel.set_xlabel("number of rules")
    panel.set_ylabel("F1 on the test rows")
    panel.legend(frameon=False)
