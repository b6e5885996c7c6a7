"""What a class is called: names given by position or by label, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from cpx.errors import InvalidOption, nearest, shown
from cpx.support.validation import integer

ClassNames = Sequence[str] | Mapping[Any, str] | None


def classes_of(classifier: Any) -> list[Any] | None:
    """Return the classes of a classifier in its own order, None where it does not say them."""
    known = getattr(classifier, "classes_", None)
    if known is None or np.ndim(known) != 1:
        return None
    return list(np.asarray(known).tolist())


def class_name(label: Any, names: ClassNames, classes: Sequence[Any] | None) -> str:
    """Return what the class of a label is called; a blank name is quoted.

    names: By the position in ``classes``, or by label; a class that a mapping leaves out is called
        by its label.
    classes: All labels; where they are not known, labels 0, 1, ... or truth values have positions.
    Raises InvalidOption: When there are not as many names as classes, a name is for no class, or a
        label has no position.

    >>> class_name("y", ["no", "yes"], ["n", "y"]), class_name("y", {"n": "no"}, ["n", "y"])
    ('yes', 'y')
    """
    called = _called(label, names, classes)
    return called if called.strip() else shown(called)


def _called(label: Any, names: ClassNames, classes: Sequence[Any] | None) -> str:
    if names is None:
        return str(label)
    if isinstance(names, Mapping):
        return _by_label(label, names, classes)
    if isinstance(names, str | bytes | Set) or not isinstance(names, Iterable):
        raise InvalidOption(
            f"class_names must name the {'' if classes is None else f'{len(classes)} '}classes of "
            f"the model, in a list or by label, got {shown(names)}"
        )
    listed = list(names)
    if classes is None:
        place = int(label) if isinstance(label, bool | np.bool_) else integer(label)
        if place is None or not 0 <= place < len(listed):
            raise InvalidOption(
                f"class_names has {len(listed)} names by position, and the classifier, which does "
                f"not list its classes, says {shown(str(label))}: give a mapping from labels to "
                "names"
            )
        return str(listed[place])
    places = [i for i, known in enumerate(classes) if _same(known, label)]
    if len(listed) != len(classes) or not places:
        raise InvalidOption(
            f"class_names must name the {len(classes)} classes of the model "
            f"({_listed(classes)}), got {shown(listed)}"
            + ("" if places else f"; the model says {shown(label)}, which is none of them")
        )
    if len({*map(str, listed)}) < len(listed):
        raise InvalidOption(f"class_names must name each class otherwise, got {shown(listed)}")
    return str(listed[places[0]])


def _by_label(label: Any, names: Mapping[Any, str], classes: Sequence[Any] | None) -> str:
    for key in names if classes is not None else ():
        if not any(_same(key, known) for known in classes or ()):
            raise InvalidOption(
                f"class_names has a name for {shown(key)}, which is no class of the model"
                f"{nearest(str(key), map(str, classes or ()))}: they are {_listed(classes or ())}"
            )
    called = [_named(known, names) for known in classes or ()]
    if len({*called}) < len(called):
        raise InvalidOption(f"class_names must name each class otherwise, got {shown(called)}")
    return _named(label, names)


def _named(label: Any, names: Mapping[Any, str]) -> str:
    return next((str(name) for key, name in names.items() if _same(key, label)), str(label))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or str(one) == str(other)


def _listed(classes: Sequence[Any]) -> str:
    more = f" and {len(classes) - 5} more" if len(classes) > 5 else ""
    return ", ".join(shown(c) for c in classes[:5]) + more


def label_of(given: Any, names: ClassNames, classes: Sequence[Any]) -> int:
    """Return the index of the class that is meant, by its label or what it is called.

    Raises InvalidOption: When there is no such class.

    >>> label_of("yes", ["no", "yes"], [0, 1]), label_of(0, None, [0, 1])
    (1, 0)
    """
    for i, label in enumerate(classes):
        if _same(label, given) or class_name(label, names, classes) == str(given):
            return i
    called = [class_name(label, names, classes) for label in classes]
    near = nearest(str(given), called)
    raise InvalidOption(f"target: there is no class {shown(given)}{near}; {_listed(called)}")
