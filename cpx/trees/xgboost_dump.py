"""Reader of XGBoost dumps, as text or JSON: ``Booster.dump_model`` and ``Booster.get_dump``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from cpx.errors import ModelError, UnsupportedModel, shown
from cpx.support.files import parse_json, read_text
from cpx.support.validation import positive_integer
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list, highest_below, reading
from cpx.trees.categories import Ranges
from cpx.trees.checks import class_labels
from cpx.trees.form import TreeModel
from cpx.trees.tree import LEFT, RIGHT
from cpx.trees.xgboost import codes_of_numbers
from cpx.trees.xgboost_objectives import decided_by

_HEAD = re.compile(r"booster\[(\d+)\]:?")
_LEAF = re.compile(r"(\d+):leaf=([^,\s]+)(,\S*)?")
_TEST = re.compile(r"(\d+):\[(.+)<([^<\]]+)\] yes=(\d+),no=(\d+)(?:,missing=(\d+))?(,\S*)?")
_SET = re.compile(r"(\d+):\[(.+):\{([\d,]*)\}\] yes=(\d+),no=(\d+)(?:,missing=(\d+))?(,\S*)?")
_NUMBERED = re.compile(r"f(\d+)")

_Line = tuple[str, float | list[int], int, int, int] | float
"""A node: name, threshold or categories, and ids of the children (yes, no, missing); or a leaf."""


def is_dump(text: str) -> bool:
    r"""Say whether text looks like a dump.

    >>> is_dump("booster[0]:\n0:leaf=0.5\n"), is_dump("tree\nversion=v4\n")
    (True, False)
    """
    start = text.lstrip()[:200]
    if re.match(r'\[\s*\{\s*"nodeid"', start):
        return True
    first = start.split("\n", 1)[0].strip()
    return bool(_HEAD.fullmatch(first) or _LEAF.fullmatch(first) or _TEST.fullmatch(first))


def read_xgboost_dump(
    source: str | PathLike[str] | Sequence[str],
    *,
    classes: int | Sequence[Any],
    attributes: int | Sequence[str | Attribute] | None = None,
    rows: Any = None,
    objective: str | None = None,
    base: Sequence[float] | None = None,
    num_parallel_tree: int = 1,
) -> TreeModel:
    r"""Read a dump of an XGBoost classifier, text or JSON.

    A dump has the trees and nothing else, so the caller has to say the rest. Of categories it has
    their numbers.

    Parameters
    ----------
    source : path, or list of str
        A file of ``Booster.dump_model``, plain or gzipped; or what ``Booster.get_dump``
        returns, one string per tree.
    classes : int or sequence of labels
        Their number c, or the labels themselves.
    attributes : int or sequence of str or Attribute, optional
        The number of columns, their names, or all there is to say of them. With a number, or
        when not given, the dump must use XGBoost's own names: ``fN`` is column N from 0; then
        there are as many columns as the largest N says.
    rows : DataFrame, optional
        A table whose columns are meant where the dump has other names and none are given.
    objective : str, optional
        ``"binary:logistic"``, the default for two classes: one score, positive for the second
        class. Or ``"multi:softprob"`` (or ``"multi:softmax"``), the default for more: tree i
        adds to the score of class i mod c, and the highest score wins, the first of equal
        ones.
    base : sequence of float, optional
        What each score starts from: one number for two classes (the log odds of
        ``base_score``), otherwise one per class. By default 0.
    num_parallel_tree : int
        How many trees of a class follow each other in a round: with p of them, tree i is of
        class i // p mod c.

    Returns
    -------
    TreeModel

    Raises
    ------
    ModelError
        When the file cannot be read or is no dump, naming the line; or arguments do not fit.
    UnsupportedModel
        For indicator features and other objectives.

    Examples
    --------
    >>> dump = "0:[f1<2.5] yes=1,no=2,missing=1\n\t1:leaf=-0.5\n\t2:leaf=0.25\n"
    >>> model = read_xgboost_dump([dump], classes=["no", "yes"], attributes=2)
    >>> model.predict([[0, 2.4], [0, 2.5], [0, np.nan]]).tolist(), str(model.condition(1, 0))
    (['no', 'yes', 'no'], 'f1 < 2.5')
    """
    if isinstance(source, str | PathLike):
        trees = _of_file(read_text(source, ModelError))
    else:
        trees = [
            _json_tree(parse_json(text, ModelError), f"tree {i}")
            if text.lstrip().startswith("{")
            else _tree(text.splitlines(), f"tree {i}")
            for i, text in enumerate(source)
        ]
    count = classes if isinstance(classes, int) else len(classes)
    labels = class_labels(classes, count)
    if objective is None:
        objective = "binary:logistic" if count == 2 else "multi:softprob"
    fields = decided_by(objective, count)
    scores = 1 if fields["decision"] == "positive" else count
    parallel = positive_integer("num_parallel_tree", num_parallel_tree)
    if not trees or len(trees) % (scores * parallel):
        raise ModelError(
            f"the dump has {len(trees)} trees, not a multiple of {scores * parallel}, the trees "
            f"of a round with {count} classes"
        )
    columns, named = _columns(trees, attributes, [*map(str, getattr(rows, "columns", ()))])
    positions = {a.name: i for i, a in enumerate(columns)}
    if len(positions) < len(columns):
        raise ModelError("two attributes have the same name, so that tests are ambiguous")
    return assemble(
        [_nodes(tree, positions, (i // parallel % scores,), i) for i, tree in enumerate(trees)],
        columns,
        classes=labels,
        base=(0.0,) * scores if base is None else base,
        source="xgboost dump" + (", with scores that start from 0" if base is None else ""),
        named=named,
        **fields,
    )


def _of_file(text: str) -> list[dict[int, _Line]]:
    if not text.lstrip().startswith("["):
        return _blocks(text)
    trees = parse_json(text, ModelError)
    return [_json_tree(tree, f"tree {i}") for i, tree in enumerate(trees)]


def _json_tree(root: Any, where: str) -> dict[int, _Line]:
    """Return the nodes of a tree of a JSON dump."""
    nodes: dict[int, _Line] = {}
    waiting = [root]
    with reading(f"dump of XGBoost: {where}"):
        while waiting:
            node = waiting.pop()
            number = int(node["nodeid"])
            if "leaf" in node:
                _note(nodes, where, number, _number(node["leaf"]))
                continue
            if "split_condition" not in node:
                raise UnsupportedModel(f"{where}: {_INDICATORS}")
            at = node["split_condition"]
            condition = [*map(int, at)] if isinstance(at, list) else _number(at)
            yes, no, absent = (int(node[way]) for way in ("yes", "no", "missing"))
            _note(nodes, where, number, (str(node["split"]), condition, yes, no, absent))
            waiting += node["children"]
    return _whole(nodes, where)


def _note(nodes: dict[int, _Line], where: str, number: int, parsed: _Line) -> None:
    if number in nodes:
        raise ModelError(f"{where} has the node {number} twice")
    nodes[number] = parsed


def _whole(nodes: dict[int, _Line], where: str) -> dict[int, _Line]:
    if 0 not in nodes:
        raise ModelError(f"{where} has no node 0")
    return nodes


def _blocks(text: str) -> list[dict[int, _Line]]:
    """Return the trees of a file, each a block that starts with ``booster[i]:``."""
    blocks: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        head = _HEAD.fullmatch(line.strip())
        if head:
            if int(head[1]) != len(blocks):
                raise ModelError(
                    f"line {number}: booster[{len(blocks)}] expected, got {shown(line)}"
                )
            blocks.append([])
        elif line.strip():
            if not blocks:
                raise ModelError(
                    f"line {number}: no dump of XGBoost, it starts with {shown(line)}"
                )
            blocks[-1].append(line)
    return [_tree(lines, f"booster[{i}]") for i, lines in enumerate(blocks)]


def _tree(lines: Sequence[str], where: str) -> dict[int, _Line]:
    nodes: dict[int, _Line] = {}
    for line in lines:
        text = line.strip()
        try:
            if leaf := _LEAF.fullmatch(text):
                number, node = int(leaf[1]), _number(leaf[2])
                parsed: _Line = node
            elif test := _TEST.fullmatch(text):
                number, yes, no = int(test[1]), int(test[4]), int(test[5])
                missing = int(test[6]) if test[6] else yes
                if missing not in (yes, no):
                    raise ModelError("missing is neither yes nor no")
                parsed = (test[2], _number(test[3]), yes, no, missing)
            elif test := _SET.fullmatch(text):
                number, codes = int(test[1]), [int(code) for code in test[3].split(",") if code]
                yes, no = int(test[4]), int(test[5])
                parsed = (test[2], codes, yes, no, int(test[6] or yes))
            elif text:
                raise _unknown(text)
            else:
                continue
        except ModelError as error:
            raise type(error)(f"{where}: {shown(text)}: {error}") from error
        except ValueError as error:
            raise ModelError(f"{where}: {shown(text)}: {error}") from error
        _note(nodes, where, number, parsed)
    return _whole(nodes, where)


def _number(text: str | float) -> float:
    return float(np.float32(float(text)))


_INDICATORS = "indicator features are not supported; dump without a feature map"


def _unknown(text: str) -> ModelError:
    if re.match(r"\d+:\[[^<{]*\] yes=", text):
        return UnsupportedModel(_INDICATORS)
    return ModelError("no node of a dump")


def _columns(
    trees: Sequence[dict[int, _Line]],
    given: int | Sequence[str | Attribute] | None,
    table: Sequence[str],
) -> tuple[tuple[Attribute, ...], bool | None]:
    """Return the attributes: as given, by XGBoost's own names, or the columns of a table.

    With them whether these are names of columns; None as f0 may be a number or a name.
    """
    if given is not None and not isinstance(given, int):
        return attribute_list(given, [""] * len(given)), True
    names = {node[0] for tree in trees for node in tree.values() if isinstance(node, tuple)}
    numbers = [-1]
    if given is None and names <= {*table} and not all(map(_NUMBERED.fullmatch, names)):
        return attribute_list(table, [""] * len(table)), True
    for name in sorted(names):
        match = _NUMBERED.fullmatch(name)
        if not match:
            raise ModelError(
                f"the dump names the feature {shown(name)}: give the names of all columns "
                "as attributes, or X that has them"
            )
        numbers.append(int(match[1]))
    count = max(numbers) + 1 if given is None else given
    if max(numbers) >= count:
        raise ModelError(f"the dump tests f{max(numbers)}, {count} attributes are given")
    return tuple(Attribute(f"f{i}") for i in range(count)), None


def _nodes(
    tree: dict[int, _Line], positions: dict[str, int], outputs: tuple[int, ...], index: int
) -> Nodes:
    place = {number: i for i, number in enumerate(sorted(tree))}
    n = len(tree)
    attribute, left, right, missing = (np.full(n, -1) for _ in range(4))
    threshold, values = np.zeros(n), np.zeros((n, 1))
    sets: dict[int, Ranges] = {}
    for number, node in tree.items():
        i = place[number]
        if not isinstance(node, tuple):
            values[i, 0] = node
            continue
        name, condition, yes, no, absent = node
        if isinstance(condition, list):
            sets[i] = codes_of_numbers(condition)
        else:
            threshold[i] = condition
        position = positions.get(name)
        if position is None and (match := _NUMBERED.fullmatch(name)):
            # Attributes that are named by the caller; the dump has XGBoost's own names.
            position = int(match[1]) if int(match[1]) < len(positions) else None
        if position is None:
            raise ModelError(f"tree {index} tests {shown(name)}, which is no attribute")
        if yes not in place or no not in place:
            raise ModelError(f"tree {index}: a child of node {number} is not there")
        attribute[i], left[i], right[i] = position, place[yes], place[no]
        missing[i] = LEFT if absent == yes else RIGHT
    cuts = highest_below(threshold)
    return Nodes(attribute, cuts, left, right, missing, values, outputs, sets=sets)
