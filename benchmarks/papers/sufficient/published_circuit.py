"""The command ``python -m benchmarks published-circuit``: Wang et al. from their own files."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import typer

from benchmarks.papers.store import Store, key_of
from cpx.cli import options as opt
from cpx.errors import InvalidInstance

__all__ = ["published_circuit"]

SIZES = (10, 20, 30)
_PROVED = (
    *("at most", "proved", "beam misses", "expected log-odds", "no set has more than"),
    *("CPU s, mean", "most"),
)
_RIGHT, _WRONG = 3, 2
"""Images that Figure 5 has: of those explained, and of those that the forest errs on."""
_FILES = "mnist35.psdd.gz", "xgboost.json.gz", "test.csv.gz"


def published_circuit(
    data: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Directory with the circuit, the forest and the images."),
    ] = Path("../shared/papers/wang"),
    images: Annotated[
        int | None,
        typer.Option("--images", "-n", metavar="N", help="Images drawn.  [default: all]"),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(metavar="N", help="Rows drawn for each probability of the decision, or 0."),
    ] = 0,
    width: Annotated[int, typer.Option(metavar="N", help="Of the beam.")] = 5,
    exchanges: Annotated[
        bool, typer.Option("--exchanges", help="Also exchange pixels of what the beam finds.")
    ] = False,
    prove: Annotated[
        int, typer.Option(metavar="N", help="Also prove sets of at most 1, ..., N pixels.")
    ] = 0,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Draw Figures 3, 4 and 5 there."),
    ] = None,
    seed: opt.Seed = 0,
    output: opt.Records = Path("published-circuit"),
) -> None:
    r"""Make Table 1 and Figures 3 to 5 of Wang et al. from the authors' circuit and forest.

    The circuit is a PSDD of Juice.jl, mnist35.psdd.gz, the forest a JSON dump of XGBoost,
    xgboost.json.gz; test.csv.gz has 1,902 images and their labels. Algorithm 1 explains each
    image by at most 10, 20 and 30 pixels. Each image that ends is one line of DIR/runs.jsonl;
    after Ctrl-C, repeat the command: it makes only what is missing.

    \b
    Examples:
      python -m benchmarks published-circuit --images 50
      python -m benchmarks published-circuit --images 20 --samples 10000 --exchanges
      python -m benchmarks published-circuit --images 50 --figures docs/_static
      python -m benchmarks published-circuit --images 4 --prove 3

    \b
    Exit codes: 0 all made; 2 wrong input.
    """
    from benchmarks.tables import show

    experiment, store = Experiment.read(data), Store(output, Image.from_line)
    order = np.random.default_rng(seed).permutation(len(experiment.rows))[:images]
    made = []
    for number in order.tolist():
        image = Image(number, width, samples, exchanges, prove, seed)
        if image.key not in store.records:
            store.add(experiment.measured(image))
        made.append(store.records[image.key])
    if not made:
        raise typer.Exit(2)
    found = [image.found for image in made]
    show(
        f"Table 1 of Wang et al., {len(found)} images, beam {width}",
        ["method", "expected log-odds", "paper", "log Pr", "paper", "same decision", "CPU s"],
        [line for size in SIZES for line in _lines(found, size)],
    )
    if prove:
        show(
            f"Sets of few pixels, proved, {len(made)} images",
            _PROVED,
            [_proved([image.proved[k - 1] for image in made]) for k in range(1, prove + 1)],
        )
    if figures is not None:
        from benchmarks.papers.sufficient.figures import draw_published
        from benchmarks.papers.sufficient.pixels import draw_pixels
        from cpx.support.files import ensure_directory

        wrong = [Image(n, width, 0, False, 0, seed) for n in experiment.wrong[:_WRONG]]
        told = [*made[:_RIGHT], *map(experiment.measured, wrong)]
        ensure_directory(figures)
        for path in (*draw_published(made, figures), draw_pixels(experiment, told, figures)):
            print(f"figure: {path}")
    likely = experiment.circuit.log_likelihood(experiment.rows[order])
    print(f"\naccuracy {experiment.accuracy:.4f}; log-likelihood of an image {likely.mean():.1f}")
    if exchanges:
        print(f"exchanged: {_gain(found)}")


def _lines(found: Sequence[Sequence[Measured]], size: int) -> list[list[object]]:
    from benchmarks.papers.sufficient.tables import PUBLISHED_MNIST

    paper, lines = PUBLISHED_MNIST[f"MLSE_{size}"], list[list[object]]()
    for exchanged in (False, True):
        own = [m for row in found for m in row if (m.size, m.exchanged) == (size, exchanged)]
        if own:
            shares = [m.same for m in own if m.same is not None]
            lines.append(
                [
                    f"MLSE_{size}" + ", exchanged" * exchanged,
                    _spread([m.expected for m in own]),
                    paper[0],
                    _spread([m.log_probability for m in own]),
                    paper[2],
                    _spread(shares) if shares else "-",
                    f"{np.mean([m.seconds for m in own]):.3f}",
                ]
            )
    return lines


def _proved(proofs: Sequence[Proved]) -> list[object]:
    seconds = [one.seconds for one in proofs]
    return [
        proofs[0].size,
        f"{sum(one.proved for one in proofs)} of {len(proofs)}",
        sum(one.expected - one.beam > 1e-9 for one in proofs),
        _spread([one.expected for one in proofs]),
        _spread([one.bound for one in proofs]),
        f"{np.mean(seconds):.1f}",
        f"{max(seconds):.1f}",
    ]


def _gain(found: Sequence[Sequence[Measured]]) -> str:
    gains = []
    for size in SIZES:
        pairs = [[m for m in row if m.size == size] for row in found]
        gains += [max(m.expected for m in pair) - pair[0].expected for pair in pairs]
    better = sum(gain > 1e-9 for gain in gains)
    return f"{np.mean(gains):.4f} more, {better} of {len(gains)} sets better"


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


@dataclass(frozen=True)
class Measured:
    """A set of at most so many pixels, its figures, and processor seconds to find it.

    pixels: Which they are, where the paper shows sets of this size.
    """

    size: int
    exchanged: bool
    expected: float
    log_probability: float
    same: float | None
    seconds: float
    pixels: tuple[int, ...] = ()


@dataclass(frozen=True)
class Proved:
    """What at most so many pixels make of the log-odds: by the beam, the best known, a bound.

    seconds: Of the processor, for the answer with its check.
    """

    size: int
    beam: float
    expected: float
    bound: float
    proved: bool
    seconds: float


@dataclass(frozen=True)
class Image:
    """An image, how it is explained, and its explanations; a line of JSON.

    prove: Up to this size sets are proved.
    positive: Whether the forest takes it for a five, the label 0 of the files.
    """

    image: int
    width: int
    samples: int
    exchanges: bool
    prove: int
    seed: int
    positive: bool = False
    found: tuple[Measured, ...] = ()
    proved: tuple[Proved, ...] = ()

    @property
    def levels(self) -> list[Measured]:
        """The sets of the beam, of at most 1, 2, ... pixels."""
        return [m for m in self.found if not m.exchanged]

    @property
    def key(self) -> str:
        """Hash of all that decides the explanations."""
        return key_of({**asdict(self), "positive": None, "found": None, "proved": None})

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line of a store."""
        try:
            read = json.loads(line)
            found = tuple(Measured(**one) for one in read["found"])
            proved = tuple(Proved(**one) for one in read["proved"])
            return cls(**{**read, "found": found, "proved": proved})
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInstance(f"no record of an image: {error}") from error


@dataclass(frozen=True, eq=False)
class Experiment:
    """The authors' circuit and forest, and the images."""

    circuit: Any
    model: Any
    coding: Any
    rows: Any
    labels: Any

    @property
    def accuracy(self) -> float:
        """Of the forest on the images."""
        return float((self.model.predict(self.rows) == self.labels).mean())

    @property
    def wrong(self) -> list[int]:
        """The images that the forest takes for the other digit."""
        return [int(i) for i in np.flatnonzero(self.model.predict(self.rows) != self.labels)]

    @classmethod
    def read(cls, data: Path) -> Experiment:
        """Read the files of a directory."""
        from cpx.data.coding import Coding
        from cpx.data.fitted.distribution import read_distribution
        from cpx.errors import DataError
        from cpx.trees import read_model

        for name in _FILES:
            if not (data / name).exists():
                raise DataError(f"{data / name}: there is no such file")
        circuit = read_distribution(data / _FILES[0])
        table = np.loadtxt(data / _FILES[2], delimiter=",", dtype=np.int64)
        rows, labels = table[:, :-1], table[:, -1]
        model = read_model(data / _FILES[1], classes=[0, 1], attributes=rows.shape[1])
        cuts = [own if len(own) else [0.5] for own in model.thresholds]
        columns = [(c,) for c in range(rows.shape[1])]
        names = [a.name for a in model.attributes]
        coding = Coding(names, columns, cuts, [[[0], [1]]] * len(columns), model.cast)  # type: ignore[arg-type]
        return cls(circuit, model, coding, rows, labels)

    def measured(self, image: Image) -> Image:
        """Explain an image by each number of pixels."""
        from cpx.models.expected_prediction.same_decision import SameDecision
        from cpx.models.expected_prediction.search.known_attributes.beam import beam_levels
        from cpx.models.expected_prediction.search.known_attributes.swaps import exchanged

        start = time.process_time()
        problem = self.problem(image, max(SIZES))
        evaluator, best, found = problem.scores.evaluator, None, list[Measured]()
        asked = SameDecision(problem) if image.samples else None

        def add(
            size: int, features: Any, mean: float, log: float, also: bool, taken: float
        ) -> None:
            same = None
            if asked and size in SIZES:
                same = asked.sampled(features, image.samples, image.seed).value
            pixels = tuple(features) if size in SIZES else ()
            found.append(Measured(size, also, mean, log, same, taken, pixels))

        spent = 0.0
        for size, level in enumerate(beam_levels(evaluator, max(SIZES), image.width)):
            if best is None or level[0].expected > best.expected:
                best = level[0]
            if not size:
                continue
            stopped = time.process_time()
            add(size, *best, False, stopped - start - spent)
            if image.exchanges and size in SIZES:
                again = time.process_time()
                features, mean = exchanged(evaluator, best.features)
                seen = np.zeros((1, problem.n_features), dtype=np.bool_)
                seen[0, list(features)] = True
                log = float(evaluator.evaluate(seen)[1][0])
                add(size, features, mean, log, True, time.process_time() - again)
            spent += time.process_time() - stopped
        beam = [m.expected for m in found if not m.exchanged]
        proved = tuple(self.proved(image, k, beam[k - 1]) for k in range(1, image.prove + 1))
        positive = problem.label_index == 0
        return replace(image, positive=positive, found=tuple(found), proved=proved)

    def problem(self, image: Image, k: int) -> Any:
        """State which at most k pixels explain an image."""
        from cpx.models.expected_prediction.problem import MLSE

        x = tuple(map(float, self.rows[image.image]))
        return MLSE(self.model, x, self.coding, self.circuit, min(k, len(x)))

    def proved(self, image: Image, k: int, beam: float) -> Proved:
        """Find the best set of at most k pixels, with a proof."""
        from cpx import solve

        start, problem = time.process_time(), self.problem(image, k)
        result: Any = solve(problem, time_limit=None, seed=image.seed)
        bound, spent = float(result.bound * problem.unit), time.process_time() - start
        return Proved(k, beam, result.explanation.expected, bound, result.proved, spent)
