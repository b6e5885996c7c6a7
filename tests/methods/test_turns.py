"""Turns: the last of those that are silent waits, and nobody for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cpx.methods.time_slicing import Turn, deal

_TICK = 0.05
_LIMIT = 20.0

Speaks = Callable[[float], bool]


def _always(worked: float) -> bool:
    return True


def _never(worked: float) -> bool:
    return False


def _until(end: float) -> Speaks:
    return lambda worked: worked < end


def _worked(
    engines: Sequence[Speaks], cores: int, limit: float | None = _LIMIT
) -> tuple[list[float], list[list[bool]]]:
    """Return seconds of a core that each has had in the end, and who had to wait when.

    Cores are shared evenly by those that do not wait.
    """
    turns = [Turn() for _ in engines]
    had, waited = [0.0] * len(engines), []
    for tick in range(int((limit or _LIMIT) / _TICK)):
        at_work = [turn for turn in turns if not turn.waits.is_set()]
        for number, (turn, speaks) in enumerate(zip(turns, engines, strict=True)):
            turn.work(_TICK)
            if turn in at_work:
                had[number] += _TICK * min(1.0, cores / len(at_work))
                if speaks(had[number]):
                    turn.speak()
        deal(turns, cores, (tick + 1) * _TICK, limit)
        waited.append([turn.waits.is_set() for turn in turns])
    return had, waited


@pytest.mark.parametrize("silent", [0, 1, 2])
def test_who_speaks_has_a_core_and_who_is_silent_the_least_time(silent: int) -> None:
    engines = [_never if number == silent else _always for number in range(3)]
    had, waited = _worked(engines, 2)
    least = had.pop(silent)
    assert min(had) > 0.95 * _LIMIT
    assert 0.06 * _LIMIT < least < 0.1 * _LIMIT
    assert {row.index(True) for row in waited if any(row)} == {silent}
    assert all(sum(row) <= 1 for row in waited)


@pytest.mark.parametrize("cores", [3, 4])
def test_nobody_waits_where_there_are_cores_for_all(cores: int) -> None:
    had, waited = _worked([_never, _never, _always], cores)
    assert had == pytest.approx([_LIMIT] * 3)
    assert not any(map(any, waited))


def test_all_that_speak_share() -> None:
    had, waited = _worked([_always] * 3, 2)
    assert had == pytest.approx([_LIMIT * 2 / 3] * 3)
    assert not any(map(any, waited))


def test_of_those_that_are_silent_the_last_waits() -> None:
    had, waited = _worked([_until(1), _never, _until(2), _until(3)], 2)
    assert min(had[:2]) > 3 * max(had[2:])
    assert all(row[2:] == [True, True] for row in waited[300:310])


def test_a_late_riser_has_a_core_once_it_speaks() -> None:
    def wakes(worked: float) -> bool:
        return worked > 4

    _, waited = _worked([_until(3), _always, wakes], 2, limit=60.0)
    before, after = waited[150:400], waited[-300:]
    assert sum(row[2] for row in before) > 220
    assert not any(row[1] or row[2] for row in after)
    assert sum(row[0] for row in after) > 250


def test_without_a_limit_each_has_a_second_first() -> None:
    _, waited = _worked([_always, _never], 1, limit=None)
    began = [row[1] for row in waited].index(True) * _TICK
    assert 0.9 < began < 1.3
