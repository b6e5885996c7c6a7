"""Shrinking: a smaller instance and simpler options that still fail."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from benchmarks.fuzz.asking import Ask

__all__ = ["shrunk"]

Instance = dict[str, Any]


def shrunk(
    instance: Instance,
    how: Ask,
    wrong: Callable[[Instance, Ask], bool],
    seconds: float = 5.0,
) -> tuple[Instance, Ask]:
    """Return what is left when nothing more can be taken away, or the time is over.

    Parameters
    ----------
    instance : dict
    how : Ask
    wrong : callable
        Says whether an instance, solved in some way, shows the fault; it may raise for what is no
        instance, which then counts as no.
    seconds : float
    """
    end = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for smaller, simpler in _smaller(instance, how):
            if time.monotonic() > end:
                return instance, how
            try:
                kept = wrong(smaller, simpler)
            except Exception:  # no instance any more
                kept = False
            if kept:
                instance, how, progress = smaller, simpler, True
                break
    return instance, how


def _smaller(instance: Instance, how: Ask) -> Iterator[tuple[Instance, Ask]]:
    usual = Ask(how.engine)
    for key in ("how", "time_limit", "gap", "threads", "seed", "encoding", "hint"):
        if getattr(how, key) != getattr(usual, key):
            yield instance, replace(how, **{key: getattr(usual, key)})
    if how.hint is not None:
        for j in how.hint:
            yield instance, replace(how, hint=[h for h in how.hint if h != j])
    for smaller in (*_fewer_parameters(instance), *_fewer_rows(instance), *_lighter(instance)):
        yield smaller, how


def _fewer_parameters(instance: Instance) -> Iterator[Instance]:
    for i in range(len(instance.get("where", ()))):
        new = copy.deepcopy(instance)
        del new["where"][i]
        yield new if new["where"] else {k: v for k, v in new.items() if k != "where"}
    needed = ("k", "epsilon", "penalty", "level", "definition", "unit", "rules")
    for key, value in instance["parameters"].items():
        if key in ("max_clauses", "max_literals") and instance["problem"] != "rule-set":
            if value > 1:
                yield _changed(instance, key, value - 1)
        elif key not in needed:
            new = copy.deepcopy(instance)
            del new["parameters"][key]
            yield new
            if isinstance(value, list) and len(value) > 1 and key in ("required", "forbidden"):
                for j in value:
                    yield _changed(instance, key, [v for v in value if v != j])


def _changed(instance: Instance, key: str, value: Any) -> Instance:
    new = copy.deepcopy(instance)
    new["parameters"][key] = value
    return new


def _fewer_rows(instance: Instance) -> Iterator[Instance]:
    for i in range(len(instance.get("samples", ()))):
        new = copy.deepcopy(instance)
        for key in ("samples", "weights"):
            if key in new:
                del new[key][i]
        if "labels" in new:
            new["labels"] = new["labels"][:i] + new["labels"][i + 1 :]
        yield new
    trees = instance.get("model", {}).get("trees", ())
    for t in range(len(trees) if len(trees) > 1 else 0):
        new = copy.deepcopy(instance)
        del new["model"]["trees"][t]
        yield new


def _lighter(instance: Instance) -> Iterator[Instance]:
    if "weights" in instance and all(w > 0 for w in instance["weights"]):
        yield {key: value for key, value in instance.items() if key != "weights"}
    for i, weight in enumerate(instance.get("weights", ())):
        for less in dict.fromkeys((1 if weight > 0 else -1, int(weight / 1000), int(weight / 2))):
            if less and abs(less) < abs(weight):
                new = copy.deepcopy(instance)
                new["weights"][i] = less
                yield new
