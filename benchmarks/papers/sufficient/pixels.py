"""Figure 5 of Wang et al.: images with the pixels of their explanations, also where it errs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cpx.answers.axes import require_matplotlib
from cpx.models.expected_prediction.pictures import plot_pixels
from cpx.support.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.papers.sufficient.published_circuit import Experiment, Image

__all__ = ["draw_pixels"]

_DIGITS = ("5", "3")
"""By their labels in the files: 892 images are fives, 1,010 threes."""


def draw_pixels(experiment: Experiment, images: Sequence[Image], directory: Path) -> Path:
    """Draw each image in a row: whole, then the pixels known of each size, others grey.

    images: That are explained.
    Returns ``published-pixels.png``.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    sizes = [m.size for m in images[0].levels if m.pixels]
    figure = Figure(figsize=(1.35 * (1 + len(sizes)), 1.45 * len(images)), layout="constrained")
    names = [f"f{pixel}" for pixel in range(experiment.rows.shape[1])]
    axes = figure.subplots(len(images), 1 + len(sizes), squeeze=False)
    for line, image in zip(axes, images, strict=True):
        row = experiment.rows[image.image]
        digit, said = _DIGITS[experiment.labels[image.image]], _DIGITS[not image.positive]
        whole = (f"a {digit}, taken for a {said}", None)
        sets: list[tuple[str, tuple[int, ...] | None]] = [whole]
        sets += [(f"{m.size}: {m.expected:.2f}", m.pixels) for m in image.levels if m.pixels]
        for ax, (title, pixels) in zip(line, sets, strict=True):
            plot_pixels(row, names, pixels, limits=(0.0, 1.0), title=title, ax=ax)
            ax.title.set_fontsize(7)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=80)
    path = directory / "published-pixels.png"
    write_atomic(path, out.getvalue())
    return path
