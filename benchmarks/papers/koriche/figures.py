"""Figures 1 and 2 of Koriche et al.: error against samples, error against size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks.papers.datasets import Dataset
from benchmarks.papers.koriche.experiment import SAMPLE_COUNTS, SIZES, Experiment
from benchmarks.papers.koriche.methods import Method
from benchmarks.papers.koriche.records import Store, Task
from benchmarks.papers.koriche.summary import Cell, cell
from benchmarks.papers.panels import draw_panels

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.papers.koriche.equal_calls.experiment import Experiment as EqualCalls

__all__ = ["FORMATS", "draw"]

FORMATS = ("png", "svg")

# Colours of equal lightness that readers with colour blindness tell apart (Okabe, Ito), and
# markers for print.
_STYLES = {
    "cop": ("#0072B2", "o"),
    "sat": ("#E69F00", "s"),
    "anchors": ("#999999", "^"),
    "loss": ("#009E73", "D"),
    "exact": ("#56B4E9", "P"),
    "precision": ("#D55E00", "v"),
    "adaptive": ("#CC79A7", "X"),
    "certificates": ("#F0E442", "p"),
    "anchors-99": ("#666666", "<"),
    "anchors-01": ("#000000", ">"),
}


def draw(experiment: Experiment | EqualCalls, store: Store) -> list[Path]:
    """Draw both figures and write them beside the records.

    Parameters
    ----------
    experiment : Experiment
    store : Store

    Returns
    -------
    list of Path
        The files: ``error-by-samples`` and ``error-by-size``, each as PNG and SVG. None when
        the experiment has none of the data sets of the figures.

    Raises
    ------
    EngineMissing
        When matplotlib is not installed; with the pip line.
    OutputError
        When a file cannot be written.
    """
    if not experiment.figured:
        return []

    def by_samples(dataset: Dataset, i: int, method: Method, m: int) -> Task:
        return experiment.task(dataset, i, method, m=m)

    def by_size(dataset: Dataset, i: int, method: Method, k: int) -> Task:
        return experiment.task(dataset, i, method, k=k)

    return [
        *_figure(experiment, store, "error-by-samples", "samples m", SAMPLE_COUNTS, by_samples),
        *_figure(experiment, store, "error-by-size", "greatest size k", SIZES, by_size),
    ]


def _figure(
    experiment: Experiment | EqualCalls,
    store: Store,
    name: str,
    axis: str,
    points: Sequence[int],
    task: Callable[[Dataset, int, Method, int], Task],
) -> list[Path]:
    datasets = experiment.figured

    def drawn(panels: Sequence[Axes]) -> None:
        for panel, dataset in zip(panels, datasets, strict=True):
            panel.set_title(dataset.name, fontsize=9)
            panel.set_xlabel(axis)
            for method in experiment.present:
                cells = [
                    cell(
                        [task(dataset, i, method, at) for i in range(experiment.instances)], store
                    )
                    for at in points
                ]
                _curve(panel, method, points, cells)
            if points is SAMPLE_COUNTS:
                panel.set_xscale("log")
            else:
                panel.set_xticks(points)
        panels[0].set_ylabel("precision error")
        panels[0].set_ylim(bottom=0)
        handles, titles = panels[0].get_legend_handles_labels()
        panels[0].figure.legend(
            handles, titles, loc="outside lower center", ncols=len(titles) or 1
        )

    paths = [store.directory / f"{name}.{form}" for form in FORMATS]
    return draw_panels(paths, len(datasets), 2.6 * len(datasets) + 0.6, drawn)


def _curve(panel: Axes, method: Method, points: Sequence[int], cells: Sequence[Cell]) -> None:
    known = [
        (x, c.error, c.deviation)
        for x, c in zip(points, cells, strict=True)
        if c.error is not None and c.deviation is not None
    ]
    colour, marker = _STYLES[method.name]
    xs, errors = [x for x, _, _ in known], [error for _, error, _ in known]
    panel.plot(xs, errors, color=colour, marker=marker, markersize=3.5, label=method.title)
    low = [max(0.0, error - deviation) for _, error, deviation in known]
    high = [min(1.0, error + deviation) for _, error, deviation in known]
    panel.fill_between(xs, low, high, color=colour, alpha=0.1, linewidth=0)
