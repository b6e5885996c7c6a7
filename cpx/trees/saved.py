"""The saved form of tree models, version 1: JSON with exact numbers, written and read.

Thresholds, leaves and base are hexadecimal floats (``"0x1.8p+1"`` is 3). A tree is its nodes in
preorder: ``attribute`` has -1 for a leaf, ``split`` and ``missing`` have only the nodes with a
test, ``values`` only the leaves. ``missing`` is a string of ``l`` (left), ``r`` (right) and
``-`` (refused). ``sets`` is there when trees have set tests: for each attribute a list of sets,
each the list of the cells that go left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import ModelError, nearest, shortened, shown
from cpx.trees.attribute import Attribute
from cpx.trees.tree import LEFT, REFUSED, RIGHT, Tree

FORMAT, _VERSION = "cpx-tree-model", 1

_PLAIN = ("rule", "decision", "cast", "sums", "strict", "source")
_OPTIONAL = ("source", "named", "sets")
_KEYS = (
    *("format", "version", *_PLAIN, "named"),
    *("classes", "base", "attributes", "thresholds", "sets", "trees"),
)
_TREE = ("outputs", "attribute", "split", "missing", "values")
_LETTERS = {LEFT: "l", RIGHT: "r", REFUSED: "-"}
_CODES = {letter: code for code, letter in _LETTERS.items()}


def written(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a tree model as JSON values."""
    return {
        "format": FORMAT,
        "version": _VERSION,
        **{key: fields[key] for key in _PLAIN},
        **({} if fields["named"] is None else {"named": fields["named"]}),
        "classes": list(fields["classes"]),
        "base": [_hex(v) for v in fields["base"]],
        "attributes": [a.to_dict() for a in fields["attributes"]],
        "thresholds": [[_hex(v) for v in t.tolist()] for t in fields["thresholds"]],
        **({"sets": _cells(fields["sets"])} if fields["sets"] else {}),
        "trees": [_tree(tree) for tree in fields["trees"]],
    }


def read(data: object) -> dict[str, Any]:
    """Return the arguments of the model that :func:`written` wrote.

    Raises ModelError: Naming an unknown or missing key, or a value of a wrong type.
    """
    holder = _object("a tree model", data, _KEYS, _OPTIONAL)
    if holder["format"] != FORMAT:
        raise ModelError(f"format must be {shown(FORMAT)}, got {shown(holder['format'])}")
    if isinstance(holder["version"], bool) or holder["version"] != _VERSION:
        raise ModelError(f"version {shown(holder['version'])} is not known; known: {_VERSION}")
    for key in ("classes", "base", "attributes", "thresholds", "trees"):
        _list(key, holder[key])
    thresholds = [
        _floats(f"thresholds[{a}]", values) for a, values in enumerate(holder["thresholds"])
    ]
    sets = _list("sets", holder.get("sets", []))
    if sets and len(sets) != len(thresholds):
        raise ModelError(
            f"there are thresholds of {len(thresholds)} attributes, sets of {len(sets)}"
        )
    return {
        **{key: holder[key] for key in (*_PLAIN, "named") if key in holder},
        "classes": holder["classes"],
        "base": _floats("base", holder["base"]),
        "attributes": [Attribute.from_dict(a) for a in holder["attributes"]],
        "thresholds": thresholds,
        "sets": [
            _read_sets(f"sets[{a}]", own, len(thresholds[a]) + 1) for a, own in enumerate(sets)
        ],
        "trees": [_read_tree(f"tree {i}", tree) for i, tree in enumerate(holder["trees"])],
    }


def _cells(sets: Sequence[NDArray[np.bool_]]) -> list[list[list[int]]]:
    return [[np.flatnonzero(row).tolist() for row in own] for own in sets]


def _read_sets(what: str, data: object, cells: int) -> NDArray[np.bool_]:
    rows = _list(what, data)
    found = np.zeros((len(rows), cells), dtype=np.bool_)
    for k, row in enumerate(rows):
        numbers = _integers(f"{what}[{k}]", row)
        if ((numbers < 0) | (numbers >= cells)).any():
            raise ModelError(f"{what}[{k}] must have cells from 0 to {cells - 1}")
        found[k, numbers] = True
    return found


def _tree(tree: Tree) -> dict[str, Any]:
    inner = tree.attribute >= 0
    # Many leaves have the same value: one text for all of them.
    distinct, which = np.unique(tree.values, return_inverse=True)
    texts = np.array([_hex(v) for v in distinct.tolist()], dtype=object)
    return {
        "outputs": list(tree.outputs),
        "attribute": tree.attribute.tolist(),
        "split": tree.split[inner].tolist(),
        "missing": "".join(_LETTERS[code] for code in tree.missing[inner].tolist()),
        "values": texts[which.ravel()].tolist(),
    }


def _read_tree(what: str, data: object) -> Tree:
    holder = _object(what, data, _TREE)
    attribute = _integers(f"{what}: attribute", holder["attribute"])
    outputs = tuple(_integers(f"{what}: outputs", holder["outputs"]).tolist())
    letters = holder["missing"]
    if not isinstance(letters, str) or set(letters) - set(_CODES):
        raise ModelError(f"{what}: missing must be a string of l, r and -")
    values = np.array(_floats(f"{what}: values", holder["values"]))
    inner = attribute >= 0
    arrays = {
        "split": _integers(f"{what}: split", holder["split"]),
        "missing": np.array([_CODES[letter] for letter in letters], dtype=np.int32),
    }
    spread = {}
    for key, array in arrays.items():
        if len(array) != inner.sum():
            raise ModelError(
                f"{what}: {key} must have {int(inner.sum())} entries, one per node with a test, "
                f"got {len(array)}"
            )
        spread[key] = np.zeros(len(attribute), dtype=np.int32)
        spread[key][inner] = array
    if len(values) != (~inner).sum() * len(outputs):
        raise ModelError(f"{what}: values must have a number per leaf and output")
    try:
        return Tree(
            attribute,
            spread["split"],
            spread["missing"],
            values.reshape(-1, len(outputs) or 1),
            outputs,
        )
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from error


def _hex(value: float) -> str:
    """Return a float as hexadecimal text without the zeros at its end."""
    mantissa, exponent = value.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


def _object(
    what: str, data: object, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ModelError(f"{what} must be an object, got {type(data).__name__}")
    for key in data:
        if key not in keys:
            raise ModelError(f"{what}: unknown key {shown(key)}{nearest(str(key), keys)}")
    for key in keys:
        if key not in data and key not in optional:
            raise ModelError(f"{what}: the key {shown(key)} is missing")
    return data


def _list(what: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{what} must be a list, got {type(value).__name__}")
    return value


def _floats(what: str, value: object) -> list[float]:
    try:
        return [float.fromhex(text) for text in _list(what, value)]
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what}: no hexadecimal float: {shortened(error)}") from error


def _integers(what: str, value: object) -> NDArray[np.int32]:
    numbers = _list(what, value)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or abs(number) >= 2**31:
            raise ModelError(f"{what} must be a list of integers, got {shown(number)}")
    return np.array(numbers, dtype=np.int32)
