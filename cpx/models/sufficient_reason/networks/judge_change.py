"""The check of smallest changes of networks: the class of the changed row, and its weight."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cpx.models.sufficient_reason.judge_change import no_lighter
from cpx.models.sufficient_reason.networks.judge import NetworkReading


@dataclass(frozen=True)
class NetworkChange:
    """A change as it is judged.

    network: As it is saved; its columns say what inputs may be.
    x, row: What the row and the changed one give to the network.
    kept: Columns that may not change.
    weights: What the change of each column costs.
    """

    network: Mapping[str, Any]
    x: list[float]
    row: list[float]
    kept: Collection[int]
    weights: Sequence[int]

    @property
    def columns(self) -> list[int]:
        """The columns that differ."""
        return [
            a
            for a, column in enumerate(self.network["columns"])
            if any(self.x[i] != self.row[i] for i in column["inputs"])
        ]

    def violations(self, value: int | None) -> list[str]:
        """Say what is wrong with the change, whose weight is said to be this."""
        reading, changed = NetworkReading(self.network, self.x), self.columns
        out = [f"column {a} may not change" for a in changed if a in self.kept]
        weight = sum(self.weights[a] for a in changed)
        if weight != value:
            out.append(f"the change weighs {weight}, not {value}")
        for a in changed:
            own, may = reading.values(a, kept=False)
            inputs = [self.row[i] for i in own]
            fine = may[0] <= inputs[0] <= may[1] if isinstance(may, tuple) else inputs in may
            if not fine:
                out.append(f"column {a} cannot give {inputs}")
        if reading.class_of(self.row) == reading.label:
            out.append(f"the changed row gets {reading.predicted!r}")
        return out

    def showing(
        self, reasons: Sequence[Collection[int]], bound: int, seconds: float
    ) -> list[list[int]] | None:
        """Return sets of columns that show that no change weighs less than a bound.

        reasons: Sets that each change should meet.
        Returns: None where they do not show it, or not in so many seconds.
        """
        until = time.monotonic() + seconds
        reading = NetworkReading(self.network, self.x)
        every = frozenset(range(len(reading.columns))) - {*self.kept}
        sets = [every, *sorted({*map(frozenset, reasons)} - {every}, key=lambda s: (len(s), *s))]
        if not no_lighter(sets, self.weights, bound, until):
            return None
        for reason in sets[1:]:
            if reading.forced(reason | {*self.kept}, reading.rivals, until) is not True:
                return None
        return [sorted(one) for one in sets]
