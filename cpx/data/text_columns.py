"""Columns of texts, read as numbers, truth values or categories by rules that are told."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from cpx.errors import shown

if TYPE_CHECKING:
    import pandas as pd

_LIKE_MISSING = {
    "?",
    "-",
    "--",
    ".",
    "#n/a",
    "#na",
    "(null)",
    "<na>",
    "<null>",
    "n/a",
    "n.a.",
    "na",
}
_LIKE_MISSING |= {"nan", "nil", "none", "not available", "null", "undefined", "unknown", "missing"}

_INTEGER = re.compile(r"[+-]?[0-9]+")
_CODE = re.compile(r"[+-]?0[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([T ][0-9:.]+.*)?"
    r"|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
    r"|[0-9]{1,3}:[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?[AaPp][Mm])?"
)
# A number with a currency before it, a unit behind it, or in the brackets of accounts.
_AFFIXED = re.compile(r"\(?(?:[A-Z]{3} ?)?([+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?)\)?( ?[^\W\d]{1,5})?")
_POINT_OF_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})?")
_TRUTH = {"true": True, "false": False}
_SIGNS = "%$€£¥ "
_LONGEST = 400  # digits; no float is as large


class _Style(NamedTuple):
    """Another way to write numbers: a text in it, one without its marks, and the usual text."""

    name: str
    marked: re.Pattern[str]
    bare: re.Pattern[str]
    usual: Callable[[str], str]


_STYLES = (
    _Style(
        "decimal commas",
        re.compile(r"[+-]?[0-9]+,[0-9]+"),
        _INTEGER,
        lambda t: t.replace(",", "."),
    ),
    _Style(
        "commas between thousands",
        re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?"),
        re.compile(r"[+-]?[0-9]+(\.[0-9]*)?"),
        lambda t: t.replace(",", ""),
    ),
    _Style(
        "points between thousands",
        re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]*)?"),
        re.compile(r"[+-]?[0-9]+(,[0-9]*)?"),
        lambda t: t.replace(".", "").replace(",", "."),
    ),
    _Style(
        "gaps between thousands",
        re.compile(r"[+-]?[1-9][0-9]{0,2}([ '’\u00a0\u2009\u202f][0-9]{3})+([.,][0-9]*)?"),
        re.compile(r"[+-]?[0-9]+([.,][0-9]*)?"),
        lambda t: re.sub(r"[ '’\u00a0\u2009\u202f]", "", t).replace(",", "."),
    ),
)

_TOLD = {
    "blank": "cells of blanks alone are taken as missing: {}",
    "trimmed": "blanks around texts are left out: {}",
    "mixed": "columns with numbers are taken as texts: {}. {how}",
    "words": "cells that look missing are taken as they are: {}. {how}",
    "style": "numbers are written in another way, and read so: {}",
    "ambiguous": "columns are taken as texts, since a comma may stand for a point or between "
    "thousands: {}; write the numbers with points alone",
    "codes": "columns are taken as texts, since some numbers begin with a zero: {}",
    "signs": "columns are taken as texts, since their numbers have signs or units: {}",
    "dates": "dates and times are taken as texts: {}; numbers, such as days or hours, can be "
    "compared",
    "points": "points are taken as decimal points, though other numbers have decimal commas: {}; "
    "where they stand between thousands, leave them out",
    "rounded": "different numbers are the same once rounded to floats: {}",
}
_HOW = "missing={words!r} (in the shell, {shell}) makes these words missing"
_MOST_LISTED = 6


class TextColumns:
    """Reads columns one by one, and keeps what should be known of how they were read.

    Parameters
    ----------
    missing : collection of str
        Cells that are missing, besides the empty one; blanks around cells do not count. A
        number stands for itself however it is written.

    Examples
    --------
    >>> columns = TextColumns(["?"])
    >>> columns.read("size", ["1", "?", "2.5"]).tolist()
    [1.0, nan, 2.5]
    >>> columns.read("code", ["007", "12", "none"]).tolist()
    ['007', '12', 'none']
    >>> for note in columns.notes():
    ...     print(note)
    columns with numbers are taken as texts: 'code' (2 of its 3 cells are numbers, the others are \
'none'). missing=['none'] (in the shell, --missing none) makes these words missing
    """

    def __init__(self, missing: Collection[str]) -> None:
        self.missing = {"", *(word.strip() for word in missing)}
        self._numbers = {float(word) for word in self.missing if is_number(word)}
        self._pointed: dict[str, str] = {}
        self._told: dict[str, list[str]] = defaultdict(list)
        self._words: dict[str, dict[str, None]] = defaultdict(dict)

    def read(self, name: str, cells: Iterable[str]) -> pd.Series[Any]:
        """Return a column of numbers, truth values or texts; NaN where it is missing."""
        import pandas as pd

        entries = list(cells)
        counts = Counter(entries)
        there = {cell: cell.strip() for cell in counts}
        there = {cell: text for cell, text in there.items() if not self._lacks(text)}
        blank = sum(n for cell, n in counts.items() if cell and not cell.strip())
        self._tell("blank", name, f"{blank} in" if blank else "")
        texts: Counter[str] = Counter()
        for cell, text in there.items():
            texts[text] += counts[cell]
        value = self._values(name, texts)
        found: dict[str, Any] = {cell: value[text] for cell, text in there.items()}
        whole = len(there) == len(counts)
        kinds = set(map(type, found.values()))
        values = [found.get(cell, float("nan")) for cell in entries]
        if kinds == {int}:
            return _integers(values, name, whole)
        if kinds <= {int, float}:
            if any(isinstance(v, int) and not _has_float(v) for v in found.values()):
                return pd.Series(values, name=name, dtype=object)
            return pd.Series(values, name=name, dtype="float64")
        if kinds == {bool}:
            return pd.Series(values, name=name, dtype="bool" if whole else object)
        if any(cell != text for cell, text in there.items()):
            self._tell("trimmed", name, "in")
        return pd.Series(values, name=name)

    def notes(self) -> list[str]:
        """Return what should be known of the columns that were read, a sentence for each kind."""
        found = []
        commas = any("commas between" not in piece for piece in self._told.get("style", ()))
        points = [f"{shown(name)} ({shown(text)})" for name, text in self._pointed.items()]
        told = {**self._told, "points": points if commas else []}
        for kind, sentence in _TOLD.items():
            if pieces := told.get(kind):
                more = len(pieces) - _MOST_LISTED
                listed = ", ".join(pieces[:_MOST_LISTED]) + (
                    f" and {more} more" if more > 0 else ""
                )
                words = list(self._words[kind])[:_MOST_LISTED]
                shell = " ".join(f"--missing {_quoted(word)}" for word in words)
                found.append(sentence.format(listed, how=_HOW.format(words=words, shell=shell)))
        return found

    def _lacks(self, text: str) -> bool:
        if text in self.missing or not self._numbers:
            return text in self.missing
        return is_number(text) and float(text) in self._numbers

    def _tell(self, kind: str, name: str, before: str = "", after: str = "") -> None:
        if before or after:
            self._told[kind].append(f"{before} {shown(name)} {after}".strip())

    def _values(self, name: str, texts: Counter[str]) -> dict[str, Any]:
        """Return what each text of a column stands for."""
        if texts and all(text.lower() in _TRUTH for text in texts):
            return {text: _TRUTH[text.lower()] for text in texts}
        numbers = {text for text in texts if is_number(text)}
        if len(numbers) == len(texts):
            codes = [text for text in texts if _CODE.fullmatch(text)]
            if not codes:
                return self._read_numbers(name, {text: text for text in texts})
            self._tell("codes", name, after=f"({shown(codes[0])})")
            return {text: text for text in texts}
        styles = [style for style in _STYLES if _fits(style, texts)]
        if len(styles) == 1:
            style = styles[0]
            self._tell("style", name, f"{style.name} in")
            return self._read_numbers(name, {text: style.usual(text) for text in texts})
        numbers |= {text for text in texts if any(s.marked.fullmatch(text) for s in _STYLES)}
        self._tell_of_texts(name, texts, numbers, bool(styles))
        return {text: text for text in texts}

    def _read_numbers(self, name: str, usual: dict[str, str]) -> dict[str, int | float]:
        """Return the numbers of texts, and tell where some are lost in rounding."""
        found = {text: _number(number) for text, number in usual.items()}
        pointed = next((text for text in usual if "." in text), "")
        if pointed and all(map(_POINT_OF_THOUSANDS.fullmatch, usual)):
            self._pointed[name] = pointed
        first: dict[int | float, str] = {}
        for text, number in found.items():
            other = first.setdefault(number, text if number else "0")
            if other != text and Decimal(usual.get(other, other)) != Decimal(usual[text]):
                self._tell("rounded", name, after=f"({shown(other)} and {shown(text)})")
                break
        return found

    def _tell_of_texts(
        self, name: str, texts: Counter[str], numbers: Collection[str], ambiguous: bool
    ) -> None:
        if ambiguous:
            example = next(text for text in texts if "," in text)
            self._tell("ambiguous", name, after=f"({shown(example)})")
            return
        total, known = texts.total(), sum(texts[text] for text in numbers)
        if sum(n for text, n in texts.items() if _DATE.fullmatch(text)) > total / 2:
            self._tell("dates", name, "in")
            return
        bare = {text: _bare(text) for text in texts}
        signed = [t for t in texts if t not in numbers and _NUMBER.fullmatch(bare[t][0])]
        units = {bare[text][1] for text in signed}
        if len(units) == 1 and sum(texts[text] for text in signed) > total / 2:
            self._tell("signs", name, after=f"({shown(signed[0])})")
            return
        words = [text for text in texts if text.lower() in _LIKE_MISSING]
        if "-" in words and "+" in texts:
            words.remove("-")  # a sign
        if known >= total / 2:
            others = [text for text in texts if text not in numbers]
            listed = ", ".join(map(shown, others[:_MOST_LISTED]))
            more = f" and {len(others) - _MOST_LISTED} more" if len(others) > _MOST_LISTED else ""
            self._tell(
                "mixed",
                name,
                after=f"({known} of its {total} cells are numbers, the others are {listed}{more})",
            )
            self._words["mixed"] |= dict.fromkeys(words or others[:_MOST_LISTED])
            return
        for word in words:
            self._tell("words", name, f"{texts[word]} {shown(word)} in")
        self._words["words"] |= dict.fromkeys(words)


def is_number(text: str) -> bool:
    """Whether a text is a number as it is usually written, which may be infinite."""
    return bool(_NUMBER.fullmatch(text) or _INFINITE.fullmatch(text))


def _bare(text: str) -> tuple[str, str]:
    """Return the number in a text as it is usually written, and the unit behind it."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip(_SIGNS)
    found = _AFFIXED.fullmatch(plain.replace("_", ""))
    return (found[1].replace(",", ""), (found[2] or "").strip()) if found else (plain, "")


def _fits(style: _Style, texts: Iterable[str]) -> bool:
    """Whether all texts are numbers in a style, and one has its marks."""
    marked = False
    for text in texts:
        if style.marked.fullmatch(text):
            marked = True
        elif not style.bare.fullmatch(text):
            return False
    return marked


def _number(text: str) -> int | float:
    """Return an integer as it is, and any other number as the nearest float."""
    if len(text) > _LONGEST:
        return float(text)
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text)
    # "9007199254740993.0" is an integer that no float holds.
    if 2.0**53 <= abs(number) < float("inf") and "e" not in text.lower():
        exact = Decimal(text)
        if exact == exact.to_integral_value():
            return int(exact)
    return number


def _has_float(number: int) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False


def _integers(values: list[Any], name: str, whole: bool) -> pd.Series[Any]:
    """Return integers in the smallest type that holds them all, and what is missing."""
    import pandas as pd

    if not whole:
        exact = all(v != v or _has_float(v) for v in values)
        return pd.Series(values, name=name, dtype="float64" if exact else object)
    low, high = min(values), max(values)
    if low >= -(2**63) and high < 2**63:
        return pd.Series(values, name=name, dtype="int64")
    small = low >= 0 and high < 2**64
    return pd.Series(values, name=name, dtype="uint64" if small else object)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
