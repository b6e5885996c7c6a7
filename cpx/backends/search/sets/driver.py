"""The search around the kernels: parts, threads, and the bound of the whole search."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.sets.bitsets import WORK, BitsetSearch
from cpx.backends.search.sets.multipliers import Relaxation
from cpx.backends.search.sets.parts import Part, restrict

if TYPE_CHECKING:
    from cpx.backends.search.sets.rows import Paid
    from cpx.backends.search.sets.incumbent import Incumbent
    from cpx.models.rulesets.form import RuleSelection

__all__ = ["Explorer"]

_POLL_SECONDS = 0.01
HEAT = 0.03


class Explorer:
    """Parts of the search that are open, the one with the lowest bound first."""

    def __init__(
        self,
        form: RuleSelection,
        rules: NDArray[np.int64],
        known: Incumbent,
        stop: Callable[[], bool],
    ) -> None:
        self.form, self.known, self.stop = form, known, stop
        self.nodes = self.parts = 0
        self._serial = 0
        self._open: list[tuple[int, int, Part]] = []
        self._running: dict[int, int] = {}
        self._changed = threading.Condition()
        self._push(Part(tuple(form.required), rules, form.offset))

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets."""
        with self._changed:
            bounds = [*self._running.values(), *(bound for bound, _, _ in self._open[:1])]
        return min([self.known.cost, *bounds])

    def _push(self, part: Part) -> None:
        if self.known.beaten(part.bound, len(part.required)):
            return
        with self._changed:
            heapq.heappush(self._open, (part.bound, self._serial, part))
            self._serial += 1
            self._changed.notify()

    def work(self, number: int) -> None:
        """Take parts until none is open and none is being searched, or the search is stopped."""
        while True:
            with self._changed:
                while not self._open and self._running and not self.stop():
                    self._changed.wait(_POLL_SECONDS)
                if not self._open or self.stop():
                    return
                bound, _, part = heapq.heappop(self._open)
                self._running[number] = bound
            for child in self._explore(part, number):
                self._push(child)
            if self.stop():
                # leave the bound of this part where it is
                return
            with self._changed:
                del self._running[number]
                self._changed.notify_all()

    def _explore(self, part: Part, number: int) -> list[Part]:
        """Search a part; return parts of it that are left to search."""
        self.parts += 1
        if self.known.beaten(part.bound, len(part.required)):
            return []
        left = restrict(self.form, part, self.known)
        if left is None:
            return []
        first = part.given is None
        if first and self._search(left, None, WORK):
            return []
        relaxation = Relaxation(self.form, left.required, left.rules, left.given)
        for x in range(4 if first else 1):
            for step in range(30 if first else 20):
                if self.stop():
                    return []
                relaxation.climb(HEAT, max(0.1, 0.4 * 0.986**relaxation.step))
            bound, within, without = relaxation.certify()
            self._running[number] = max(self._running[number], bound)
            size = len(left.required)
            if self.known.beaten(bound, size):
                return []
            out = np.array([self.known.beaten(b, size + 1) for b in within.tolist()])
            need = np.array([self.known.beaten(b, size) for b in without.tolist()])
            left = replace(left, bound=max(left.bound, bound), given=relaxation.multipliers())
            if out.any() or need.any():
                chosen = left.rules[need].tolist()
                narrowed = replace(
                    left, required=(*left.required, *chosen), rules=left.rules[~need & ~out]
                )
                left = restrict(self.form, narrowed, self.known)
                if left is None:
                    return []
                relaxation = Relaxation(self.form, left.required, left.rules, left.given)
                bound, within, without = relaxation.certify()
            if self._search(left, relaxation.paid(), WORK if first else 2 * WORK):
                return []
        gain = np.minimum(within - bound, 10**6) * 1.0 * np.minimum(without - bound, 10**6)
        at = int(gain.argmax())
        rule, rest = int(left.rules[at]), np.delete(left.rules, at)
        given = relaxation.multipliers()
        return [
            Part((*left.required, rule), rest, max(bound, int(within[at])), given),
            Part(left.required, rest, max(bound, int(without[at])), given),
        ]

    def _search(self, part: Part, paid: Paid | None, work: int) -> bool:
        search = BitsetSearch(self.form, part.required, part.rules, paid, self.known.key[:2])
        done = search.run(work, self.stop, self.known.offer)
        self.nodes += search.nodes
        return done

    def run(self, threads: int, watch: Callable[[], None]) -> None:
        """Work until done or stopped; ``watch`` is called now and then."""
        failures: list[BaseException] = []

        def target(number: int) -> None:
            try:
                self.work(number)
            except BaseException as error:
                failures.append(error)

        workers = [threading.Thread(target=target, args=(n,), daemon=True) for n in range(threads)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            workers[0].join(_POLL_SECONDS)
            watch()
        if failures:
            raise failures[0]
