"""What was measured of each method, kept line by line: the experiment goes on after Ctrl-C."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from benchmarks.papers.ads.faithfulness import Faithfulness
from benchmarks.papers.store import Store, key_of
from cpx.errors import InvalidInstance

if TYPE_CHECKING:
    from benchmarks.papers.ads.experiment import Settings

__all__ = ["Measured", "Row", "keeping"]

Measured = Callable[[str, Callable[[], Faithfulness]], Faithfulness]
"""Returns the figures of a name: those that are kept, or what is called for them."""

_OF_THE_TABLE = ("runs", "seed", "exact", "others")
"""Settings that say which rows there are, and nothing of one row."""


@dataclass(frozen=True)
class Row:
    """The figures of one method on one split.

    Attributes
    ----------
    key : str
        Hash of settings, split and method.
    found : Faithfulness
    """

    key: str
    found: Faithfulness

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line of a store.

        Raises
        ------
        InvalidInstance
            When the line is no row.
        """
        try:
            data = json.loads(line)
            return cls(str(data["key"]), Faithfulness(**data["found"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInstance(f"cannot be read: {type(error).__name__}: {error}") from error


def keeping(store: Store[Row], settings: Settings, split: int) -> Measured:
    """Return what measures the methods of a split that are not in a store, and keeps them.

    Parameters
    ----------
    store : Store
    settings : Settings
    split : int
        Its seed.
    """
    shared = {name: v for name, v in asdict(settings).items() if name not in _OF_THE_TABLE}

    def measured(title: str, make: Callable[[], Faithfulness]) -> Faithfulness:
        key = key_of({"settings": shared, "split": split, "method": title})
        if key not in store.records:
            store.add(Row(key, make()))
        return store.records[key].found

    return measured
