"""Words that several problems share: names of classes, percents, numbers of things."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["class_words", "listed", "percent", "plural"]


def class_words(name: str) -> str:
    """Return the name of a class; "=> 1" reads like a value, "=> class 1" does not.

    Examples
    --------
    >>> class_words("1"), class_words("benign")
    ('class 1', 'benign')
    """
    return f"class {name}" if name.lstrip("-").replace(".", "", 1).isdigit() else name


def percent(share: Fraction) -> str:
    """Return a share in percent, or as a fraction where percents would be rounded.

    Examples
    --------
    >>> percent(Fraction(1, 20)), percent(Fraction(1, 3))
    ('5 %', '1/3')
    """
    text = f"{float(100 * share):g}"
    return f"{text} %" if Fraction(text) == 100 * share else str(share)


def plural(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> plural(1, "rule"), plural(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def listed(names: list[str], most: int = 5) -> str:
    """Return names with commas, the first ones of many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
