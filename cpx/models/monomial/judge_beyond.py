"""The check of what is claimed of the rows that samples were drawn from.

Each limit is decided from the counts of the samples and the number of rules that compete. That no
other rule can be more precise is decided of the rules at hand; beyond them it is the word of the
engine, as is that the samples were drawn independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cpx.check.binomial import is_above, is_below, lower_limit

_OF_KIND = {
    "k-monomial": ("loss_above",),
    "negative-only": ("loss_above",),
    "max-precision": ("precision", "coverage", "most_precision", "more_precise"),
    "max-coverage": ("precision", "coverage", "most_coverage"),
}
_NEED_BOUND = ("loss_above", "most_precision", "more_precise", "most_coverage")
_ROUNDING = 1e-6


class Counts(NamedTuple):
    """What limits follow from.

    total: Weight of all samples.
    rules: How many rules compete.
    own: Weight of what the rule covers, and of what of it agrees.
    rival: The same of another rule that competes.
    """

    total: int
    rules: int
    own: tuple[int, int]
    rival: tuple[int, int] | None


def wrong_beyond(
    kind: str, instance: Mapping[str, Any], result: Mapping[str, Any], counts: Counts
) -> list[str]:
    """Return violations about what holds beyond the samples."""
    beyond = (result["explanation"].get("claim") or {}).get("beyond")
    if not beyond:
        return []
    context = instance.get("context") or {}
    return [f"claim: beyond: {told}" for told in _wrong(kind, context, result, counts, beyond)]


def _wrong(
    kind: str,
    context: Mapping[str, Any],
    result: Mapping[str, Any],
    counts: Counts,
    beyond: Mapping[str, Any],
) -> Iterator[str]:
    total, drawn = counts.total, (context.get("distribution") or {}).get("name")
    if beyond.get("rows") != drawn or beyond.get("samples") != total:
        yield f"the samples are {total} rows of {drawn!r}"
    figures = {name: v for name, v in beyond.items() if name not in ("rows", "samples", "rounds")}
    if "delta" not in beyond:
        if figures or not context.get("population"):
            yield "the samples are not all rows"
        return
    for name, value in figures.items():
        if name not in ("delta", *_OF_KIND[kind]):
            yield f"{name} is not known of this kind"
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            yield f"{name} must be a share"
        elif name in _NEED_BOUND and result["bound"] is None and "rounds" not in beyond:
            yield f"{name} needs a bound"
        else:
            continue
        return
    if not 0 < beyond["delta"] < 1:
        yield "delta must be above 0 and below 1"
    elif beyond.get("rounds") is None:
        yield from _wrong_limits(result, counts, beyond)
    elif beyond["rounds"] is not True:
        yield "rounds must be true"


def _wrong_limits(
    result: Mapping[str, Any], counts: Counts, beyond: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the limits that the counts do not give. All of them hold at once, of all rules."""
    (covered, right), total = counts.own, counts.total
    limits = 2 if "loss_above" in beyond else 3
    log_tail = math.log(beyond["delta"]) - math.log(limits * counts.rules)
    known = {"precision": (right, covered), "coverage": (covered, total)}
    for name, (hits, trials) in known.items():
        if name in beyond and not is_below(beyond[name], hits, trials, log_tail):
            yield f"{name} is not known to be {beyond[name]}"
    most = beyond.get("most_coverage")
    if most is not None and not is_above(most, result["bound"], total, log_tail):
        yield f"a rule may cover more than {most}"
    if (gap := beyond.get("loss_above")) is not None:
        least = lower_limit(result["bound"], total, log_tail)
        if not is_above(least + gap + _ROUNDING, result["objective"], total, log_tail):
            yield f"another rule may be better by more than {gap}"
    high = beyond.get("most_precision")
    if "more_precise" in beyond:
        high = beyond.get("precision", 0) + beyond["more_precise"]
    if high is not None:
        for weight, agreeing in (counts.own, *([counts.rival] if counts.rival else [])):
            if not is_above(high + _ROUNDING, agreeing, weight, log_tail):
                yield f"a rule may have a precision above {high:g}"
                return


def count_rules(
    d: int, k: int, required: set[int], forbidden: set[int], groups: list[int] | None
) -> int:
    """Return how many rules of at most k of d conditions compete, whatever they cover.

    ``groups`` are the attributes of which a rule has at most one condition each.
    """
    free = [j for j in range(d) if j not in required and j not in forbidden]
    left, sizes = k - len(required), [1] * len(free)
    if groups is not None:
        used = {groups[j] for j in required}
        ours = [groups[j] for j in free if groups[j] not in used]
        sizes = [ours.count(group) for group in {*ours}]
    # How many choices there are of so many features, at most one of each group.
    ways = [1] + [0] * max(0, left)
    for size in sizes:
        for i in range(len(ways) - 1, 0, -1):
            ways[i] += size * ways[i - 1]
    return max(1, sum(ways) if left >= 0 else 1)
