"""What an answer says in words, compared with what the instance gives.

The sentences are written here a second time, from what they mean. One that is left out says
nothing wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from cpx.check.proof import compare

__all__ = [
    "class_name",
    "having",
    "names_of",
    "of_least_weight",
    "percent",
    "plural",
    "wrong_rule",
    "wrong_sentences",
]


def wrong_rule(
    found: Mapping[str, Any],
    names: Mapping[int, str],
    conclusion: str,
    conditions: Sequence[str] | None = (),
    several: Sequence[str] | None = None,
) -> list[str]:
    """Return complaints about the rule of an explanation and its text.

    Parameters
    ----------
    found : dict
        The explanation.
    names : dict of int to str
        What each of its features is.
    conclusion : str
    conditions : sequence of str, optional
        The words of the rule where they are not those of its features; None for any.
    several : sequence of str, optional
        Of a set of rules, each one as it is printed.
    """
    rule, out = found["rule"], list[str]()
    compare(out, "rule", rule["literals"], [[j, names[j]] for j in sorted(names)])
    said = rule.get("conditions")
    if said and conditions is not None:
        compare(out, "conditions", said, [*conditions])
    if "conclusion" in rule:
        compare(out, "conclusion", rule["conclusion"], conclusion)
    if several is None:
        if "figures" in rule:
            out.append("figures: only a set of rules has them")
        text = " and ".join(said or (names[j] for j in sorted(names))) or "(always)"
    else:
        text = " or ".join(several) or "(never)"
    if "text" in found:
        compare(out, "text", found["text"], f"{text} => {conclusion}")
    return out


def wrong_sentences(
    found: Mapping[str, Any],
    proved: Sequence[str],
    notes: Sequence[str] | None = (),
    guarantee: str | None = "",
) -> list[str]:
    """Return complaints about the sentences of an explanation.

    Parameters
    ----------
    found : dict
        The explanation.
    proved : sequence of str
        Sentences of which any is right.
    notes, guarantee : sequence of str, and str; optional
        None for any.
    """
    out: list[str] = []
    if found.get("proved") and found["proved"] not in proved:
        compare(out, "proved", found["proved"], proved[0])
    if found.get("notes") and notes is not None:
        compare(out, "notes", found["notes"], [*notes])
    if found.get("guarantee") and guarantee is not None:
        compare(out, "guarantee", found["guarantee"], guarantee)
    return out


def names_of(instance: Mapping[str, Any]) -> list[str]:
    """Return the names of the features of samples."""
    return list(instance.get("features") or map("x{}".format, range(len(instance["samples"][0]))))


def class_name(instance: Mapping[str, Any], unnamed: object) -> str:
    """Return what the class is called; one that is a number is called a class."""
    name = str(instance.get("context", {}).get("class", unnamed))
    digits = name.lstrip("-").replace(".", "", 1)
    return f"class {name}" if digits.isdigit() else name


def percent(share: Fraction) -> str:
    """Return a share in percent where few digits are enough, else as a fraction."""
    text = f"{float(100 * share):g}"
    return f"{text} %" if Fraction(text) == 100 * share else str(share)


def plural(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def having(what: str, parts: Sequence[str]) -> str:
    """Return what has all of these properties."""
    return f"{what} that {' and '.join(parts)}" if parts else what


def of_least_weight(
    instance: Mapping[str, Any], result: Mapping[str, Any], what: str, unit: str
) -> str:
    """Return what was proved of a smallest set: what it is called, and what its features are."""
    parameters, size = instance["parameters"], len(result["explanation"]["features"])
    parts = ["has what is required"] * bool(parameters.get("required"))
    parts += ["has nothing forbidden"] * bool(parameters.get("forbidden"))
    rival, weighted = having(what, parts), bool(parameters.get("weights"))
    told = plural(size, unit) + f" of weight {result['objective']}" * weighted
    if result["status"] == "OPTIMAL":
        return f"{told}, minimum: no {rival} is {'lighter' if weighted else 'smaller'}"
    if result["bound"] is None:
        return f"{told}, without a bound"
    measure = "weight" if weighted else "size"
    least = f"every {rival} has at least {measure} {result['bound']}"
    return f"{told}, not proved minimum: {least}"
