"""What ``cpx learn`` learns from: rows, labels as texts, and a classifier to imitate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.errors import DataError, InvalidOption, UnknownName, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Task", "read", "trained"]


@dataclass(frozen=True)
class Task:
    """Rows to learn from, their labels as texts, those kept aside, and the class."""

    X: pd.DataFrame
    y: Any
    fresh: tuple[pd.DataFrame, Any] | None
    label: str


def read(
    table: Path,
    target: str,
    label: str | None,
    categorical: list[str] | None,
    test: float | None,
    seed: int,
) -> Task:
    """Read the table; labels become texts, and two of them."""
    import numpy as np

    from cpx.data import read_table

    X, y = read_table(table, target, categorical)
    texts = y.astype(str).to_numpy(dtype=object)
    # In the order of the values, so that 10 comes after 9.
    known = [str(v) for v in sorted(y.unique().tolist(), key=lambda v: (str(type(v)), v))]
    if label is None and len(known) > 2:
        raise InvalidOption(
            f"--label is missing: the target {shown(target)} has {len(known)} classes, "
            f"{', '.join(known[:5])}{' ...' * (len(known) > 5)}"
        )
    if label is not None and label not in known:
        raise UnknownName("class", label, known)
    wanted = label or known[-1]
    if len(known) > 2:
        texts = np.where(texts == wanted, wanted, f"not {wanted}")
    if test is None:
        return Task(X, texts, None, wanted)
    from sklearn.model_selection import train_test_split

    try:
        rows, fresh, own, aside = train_test_split(
            X, texts, test_size=test, random_state=seed, stratify=texts
        )
    except ValueError as error:
        raise DataError(f"{table}: rows cannot be kept aside: {error}") from error
    return Task(rows, own, (fresh, aside), wanted)


def trained(name: str, task: Task, seed: int) -> Any:
    from cpx.data import named_classifier

    if len(set(task.y)) < 2:
        raise DataError(f"the target has one class only, {shown(task.y[0])}")
    return named_classifier(name, seed).fit(task.X, task.y)
