"""Figure 2 of Polato and Aiolli: their genetic algorithm with the machine's weights, and without.

Without a machine all training rows have the same weight, so that a rule's fitness is its accuracy
on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.grids import Grid
from benchmarks.papers.kernels.records import Protocol
from benchmarks.papers.panels import draw_panels
from cpx.models.kernel_rule.boolean_kernels.datasets import dataset
from cpx.models.kernel_rule.boolean_kernels.kernels import BoundedDNFKernel
from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine, read_svc
from cpx.models.kernel_rule.form import true_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Bred", "breed", "draw", "grid"]

GUIDES = ("SVM", "labels")


@dataclass(frozen=True)
class Bred:
    """A rule of the genetic algorithm: what guided it, and what came out.

    Attributes
    ----------
    name : str
        The data set.
    guide : str
        ``SVM`` or ``labels``.
    test : float
        Accuracy on the test rows.
    generations : int
        Until the rule was found.
    """

    name: str
    guide: str
    test: float
    generations: int


def without(machine: KernelMachine, rows: np.ndarray, labels: np.ndarray) -> KernelMachine:
    """Return a machine in which all rows weigh the same, by their labels."""
    share = Fraction(1, len(rows))
    weights = tuple(share if positive else -share for positive in labels)
    return replace(machine, rows=rows, weights=weights)


def breed(name: str, number: int, protocol: Protocol) -> list[Bred]:
    """Run the genetic algorithm on a split of a data set, with each guide."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    from cpx.models.kernel_rule.boolean_kernels.extraction import extract

    seed = int(np.random.SeedSequence([protocol.seed, number]).generate_state(1)[0] >> 1)
    data = dataset(name, seed)
    seen, kept = train_test_split(
        np.arange(len(data.y)), test_size=protocol.test_share, random_state=seed
    )
    kernel = BoundedDNFKernel(protocol.max_clauses, protocol.max_literals)
    svc = SVC(kernel=kernel, C=protocol.hardness).fit(data.X[seen], data.y[seen])
    machine = read_svc(svc, data.X[seen])
    machines = {
        "SVM": machine,
        "labels": without(machine, data.X[seen], data.y[seen] == machine.positive),
    }
    bred = []
    for guide, one in machines.items():
        found = extract(one, backend="genetic", time_limit=protocol.time_limit, seed=seed)
        if found is None:
            continue
        said = true_of(found.rule, data.X[kept])
        right = float((said == (data.y[kept] == machine.positive)).mean())
        generations = int(found.result.sizes.get("generations") or 0)
        bred.append(Bred(name, guide, right, generations))
    return bred


def means(bred: Sequence[Bred], name: str, guide: str) -> tuple[float, float]:
    """Return mean accuracy and generations."""
    own = [one for one in bred if (one.name, one.guide) == (name, guide)]
    return fmean(one.test for one in own), fmean(one.generations for one in own)


def grid(bred: Sequence[Bred]) -> Grid:
    """Return the figure as a table."""
    rows = []
    for name in dict.fromkeys(one.name for one in bred):
        found = [means(bred, name, guide) for guide in GUIDES]
        cells = [f"{100 * test:.2f}" for test, _ in found] + [f"{g:.0f}" for _, g in found]
        rows.append((name, *cells))
    heads = [f"{what}, {guide}" for what in ("test accuracy", "generations") for guide in GUIDES]
    title = "Genetic algorithm guided by the machine, and by the labels alone"
    return Grid(title, ("data set", *heads), tuple(rows))


def draw(bred: Sequence[Bred], path: Path) -> list[Path]:
    """Draw accuracies and generations with both guides, side by side."""
    names = list(dict.fromkeys(one.name for one in bred))

    def bars(panels: Sequence[Axes]) -> None:
        for panel, which in zip(panels, (0, 1), strict=True):
            for shift, guide, colour in ((-0.2, "SVM", "#0072B2"), (0.2, "labels", "#E69F00")):
                values = [means(bred, name, guide)[which] for name in names]
                values = [100 * v for v in values] if which == 0 else values
                where = np.arange(len(names)) + shift
                panel.barh(where, values, 0.38, color=colour, label=f"guided by {guide}")
            panel.set_xlabel(("test accuracy, %", "generations until the rule")[which])
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_xlim(50, 101)
        if not panels[0].yaxis_inverted():
            panels[0].invert_yaxis()
        panels[1].legend(fontsize=7)

    return draw_panels([path], 2, 7.0, bars)
