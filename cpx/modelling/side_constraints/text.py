"""The text of constraints: Python's grammar for expressions, of which little is accepted."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping, Sequence

from cpx.errors import InvalidInstance, nearest, shortened, shown
from cpx.modelling.side_constraints.form import SideConstraint
from cpx.modelling.side_constraints.formula import (
    And,
    Formula,
    Lin,
    Or,
    Sum,
    Term,
    add,
    at_least,
    compared,
    linear_constraints,
    literal,
    negated,
    scaled,
)
from cpx.modelling.side_constraints.vocabulary import Condition, Vocabulary, value_of
from cpx.support.validation import integer

_LONGEST = 10_000
_MOST_DIGITS = 10

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}

_RULES = ("rule", "candidate")
_NUMBERED = ("feature", "condition", "attribute", *_RULES)


def parsed(text: object, vocabulary: Vocabulary) -> SideConstraint:
    """Return a constraint by its text.

    Nothing is evaluated: the text is parsed, and only what the page on side constraints lists is
    accepted.

    Raises InvalidInstance: Naming the text and what is wrong with it.

    >>> names = Vocabulary([("age > 60", [0]), ("sex = male", [1]), ("sex != other", [2])])
    >>> parsed("not (age > 60 and sex == male)", names).means
    (LinearConstraint(terms=((-1, (0,)), (-1, (1,))), at_least=-1),)
    >>> parsed("implies(sex, age > 60)", names).means
    (LinearConstraint(terms=((1, (0,)), (-1, (1,))), at_least=0),
     LinearConstraint(terms=((1, (0,)), (-1, (2,))), at_least=0))
    """
    if not isinstance(text, str):
        raise InvalidInstance(f"where: a constraint must be a text, got {shown(text)}")
    if len(text) > _LONGEST:
        raise InvalidInstance(f"where: a constraint has at most {_LONGEST} characters")
    reader = _Reader(vocabulary)
    try:
        formula = reader.formula(_tree(text))
        means = linear_constraints(formula)
    except InvalidInstance as error:
        raise InvalidInstance(f"where {shown(text)}: {error}") from None
    except (RecursionError, MemoryError):
        raise InvalidInstance(f"where {shown(text)}: it is nested too deeply") from None
    return SideConstraint(text, means, tuple(sorted(reader.untrue)))


def budget_text(costs: Mapping[str, int], budget: int) -> str:
    """Return the constraint that the costs of an answer do not exceed a budget.

    Raises InvalidInstance: For costs, or a budget, that are negative or no integers.

    >>> budget_text({"age > 60": 3, "sex": 1}, 3)
    '3 * "age > 60" + 1 * "sex" <= 3'
    """
    if not isinstance(costs, Mapping) or not costs:
        raise InvalidInstance(f"costs must be a cost for each of some names, got {shown(costs)}")
    for name, cost in [*costs.items(), ("budget", budget)]:
        _not_negative(name if name == "budget" else f"the cost of {shown(name)}", cost)
    total = " + ".join(
        f"{cost} * {json.dumps(str(name), ensure_ascii=False)}" for name, cost in costs.items()
    )
    return f"{total} <= {budget}"


def _not_negative(what: str, value: object) -> int:
    number = integer(value)
    if number is None:
        raise InvalidInstance(f"{what} must be an integer, got {shown(value)}")
    if number < 0:
        raise InvalidInstance(f"{what} must not be negative, got {shown(number)}")
    return number


def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        # A single "=" is how conditions are printed.
        hint = "; equality is written ==" if "=" in text else ""
        raise InvalidInstance(
            f"it cannot be read ({error.msg}){hint}; names that are no plain words stand in "
            'quotes: "petal width (cm)" <= 1.75'
        ) from None
    except ValueError as error:
        raise InvalidInstance(f"it cannot be read ({error})") from None


def _source(node: ast.AST) -> str:
    return shortened(ast.unparse(node))


class _Reader:
    """Reads the nodes of a text by what names stand for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.untrue: set[str] = set()
        self.calls: dict[str, Callable[[ast.Call], Formula]] = {
            "implies": self._implies,
            "excludes": self._excludes,
            "at_most": lambda call: self._counted(call, None, 0),
            "at_least": lambda call: self._counted(call, 0, None),
            "exactly": lambda call: self._counted(call, 0, 0),
        }

    # ------------------------------------------------------------- formulas

    def formula(self, node: ast.expr) -> Formula:
        """Return what a node says."""
        if isinstance(node, ast.BoolOp):
            parts = tuple(map(self.formula, node.values))
            return And(parts) if isinstance(node.op, ast.And) else Or(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negated(self.formula(node.operand))
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in self.calls:
                return self.calls[name](node)
            if name == "cost":
                raise InvalidInstance(f"{_source(node)} is a number: compare it with a budget")
            known = [*self.calls, "cost"]
            raise InvalidInstance(
                f"unknown function {shown(_source(node.func))}{nearest(name, known)}; known: "
                + ", ".join(sorted(known))
            )
        if isinstance(node, ast.BinOp):
            raise InvalidInstance(f"{_source(node)} is a number: compare it with another one")
        return literal(self._atom(node))

    def _compared(self, node: ast.Compare) -> Formula:
        condition = self._condition(node)
        if condition is not None:
            return condition
        sides = [self._sum(side) for side in (node.left, *node.comparators)]
        pairs = zip(sides, node.ops, sides[1:])
        return And(tuple(compared(left, _SIGNS[type(op)], right) for left, op, right in pairs))

    def _implies(self, call: ast.Call) -> Formula:
        given, then = self._arguments(call, 2)
        return Or((negated(self.formula(given)), self.formula(then)))

    def _excludes(self, call: ast.Call) -> Formula:
        if len(call.args) < 2:
            raise InvalidInstance(f"{_source(call)}: excludes takes two names or more")
        return at_least(self._count(self._arguments(call)), -1, -1)

    def _counted(self, call: ast.Call, low: int | None, high: int | None) -> Formula:
        arguments = self._arguments(call)
        name = _source(call.func)
        if len(arguments) < 2:
            raise InvalidInstance(f"{_source(call)}: {name} takes a number and names")
        number = _integer(arguments[0])
        if number is None or number < 0:
            raise InvalidInstance(
                f"{_source(call)}: {name} takes a number of at least 0 first, got "
                + shown(_source(arguments[0]))
            )
        total = self._count(arguments[1:])
        parts = []
        if low is not None:
            parts.append(at_least(total, 1, number))
        if high is not None or name == "at_most":
            parts.append(at_least(total, -1, -number))
        return And(tuple(parts))

    def _arguments(self, call: ast.Call, number: int | None = None) -> list[ast.expr]:
        if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
            raise InvalidInstance(f"{_source(call)}: arguments are given one by one, by place")
        if number is not None and len(call.args) != number:
            raise InvalidInstance(
                f"{_source(call)} needs {number} arguments, got {len(call.args)}"
            )
        return call.args

    def _count(self, nodes: Sequence[ast.expr]) -> Sum:
        """Return how many of some literals hold."""
        total: Sum = {}
        for node in nodes:
            negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
            inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
            term = self._literal_term(inner)
            add(total, {term: -1, None: 1} if negative else {term: 1})
        return total

    def _literal_term(self, node: ast.expr) -> Term:
        """Return the term of a name or of a condition."""
        if isinstance(node, ast.Compare):
            found = self._condition(node)
            if isinstance(found, Lin) and found.at_least == 1:
                return next(iter(found.factors), ())
        elif not isinstance(node, (ast.BoolOp, ast.Call, ast.BinOp, ast.UnaryOp)):
            return tuple(sorted(self._atom(node)))
        raise InvalidInstance(f"{_source(node)} cannot be counted: only names and conditions can")

    # ------------------------------------------------------------ conditions

    def _condition(self, node: ast.Compare) -> Formula | None:
        """Return what a comparison says as a condition on a column; None where it is a sum's."""
        values = [_plain(side) for side in (node.left, *node.comparators)]
        signs = [_SIGNS.get(type(op)) for op in node.ops]
        if any(sign is None for sign in signs):
            raise InvalidInstance(f"{_source(node)}: compare with <, <=, >, >=, == or !=")
        if any(value is None for value in values):
            return None
        text = _source(node)
        if len(values) == 2:
            (left, right), sign = values, str(signs[0])
            assert left is not None
            assert right is not None
            if self._is_column(left):
                return self._tested(Condition(left[0], (sign, value_of(right[0]))), text)
            if self._is_column(right) and not left[1]:
                return self._tested(Condition(right[0], (_FLIPPED[sign], value_of(left[0]))), text)
            if left[1] and right[1] and not self._known(left[0]):
                # "sex == male" where sex is no column.
                self.vocabulary.name_of(Condition(left[0], (sign, value_of(right[0]))), text)
            return None
        if len(values) == 3 and values[1] is not None and self._is_column(values[1]):
            low, column, high = (str(value[0]) for value in values if value is not None)
            above, below = _FLIPPED[str(signs[0])], str(signs[1])
            first = Condition(column, (above, value_of(low)))
            second = Condition(column, (below, value_of(high)))
            both = Condition(column, (*first.test, *second.test))
            if self.vocabulary.has(both) or not (
                self.vocabulary.has(first) and self.vocabulary.has(second)
            ):
                return self._tested(both, text)
            # An answer has the two sides of an interval as two conditions.
            return And((self._tested(first, text), self._tested(second, text)))
        return None

    def _is_column(self, side: tuple[str, bool]) -> bool:
        return side[1] and side[0] in self.vocabulary.columns

    def _known(self, name: str) -> bool:
        return name in self.vocabulary.names or name in self.vocabulary.columns

    def _tested(self, condition: Condition, text: str) -> Lin:
        name = self.vocabulary.name_of(condition, text)
        return literal(self._noted(name, self.vocabulary.tested[condition]))

    def _noted(self, name: str, found: set[int]) -> set[int]:
        """Return what a name stands for; where that is nothing, remember the name."""
        if not found:
            self.untrue.add(name)
        return found

    def _atom(self, node: ast.expr) -> set[int]:
        """Return what a name stands for; ``feature[3]`` is the one that is printed by number 3."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            number = _integer(node.slice)
            if node.value.id in _NUMBERED and number is not None:
                if self.vocabulary.what == "literal" and node.value.id in _RULES:
                    raise InvalidInstance(
                        f"{_source(node)}: there are too many rules to be numbered; "
                        f"feature[{number}] is a literal of any rule"
                    )
                return self.vocabulary.number(number)
        plain = _plain(node)
        if plain is None or not plain[1]:
            raise InvalidInstance(
                f"{_source(node)} is no name, condition, sum or function of constraints"
            )
        return self._noted(*self.vocabulary.resolved(plain[0]))

    # ------------------------------------------------------------------ sums

    def _sum(self, node: ast.expr) -> Sum:
        """Return a linear sum of names."""
        number = _integer(node)
        if number is not None:
            return {None: number}
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            raise InvalidInstance(f"coefficients are integers, got {_source(node)}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return scaled(self._sum(node.operand), -1 if isinstance(node.op, ast.USub) else 1)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._cost(node)
        return {tuple(sorted(self._atom(node))): 1}

    def _operation(self, node: ast.BinOp) -> Sum:
        left, right = self._sum(node.left), self._sum(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            total = dict(left)
            add(total, scaled(right, 1 if isinstance(node.op, ast.Add) else -1))
            return total
        if isinstance(node.op, ast.Mult):
            for factor, other in ((left, right), (right, left)):
                if set(factor) <= {None}:
                    return scaled(other, factor.get(None, 0))
        raise InvalidInstance(
            f"{_source(node)} is not linear: sums have +, - and products with an integer"
        )

    def _cost(self, node: ast.Call) -> Sum:
        """Return ``cost(name=3, other=1)``: costs are not negative."""
        if not isinstance(node.func, ast.Name) or node.func.id != "cost":
            raise InvalidInstance(f"{_source(node)} is no number: only cost(...) is")
        if node.args or not node.keywords or any(k.arg is None for k in node.keywords):
            raise InvalidInstance(f"{_source(node)}: costs are given as cost(name=3, other=1)")
        total: Sum = {}
        for keyword in node.keywords:
            what = f"the cost of {shown(keyword.arg)}"
            value = _integer(keyword.value)
            if value is None:
                raise InvalidInstance(f"{what} must be an integer, got {_source(keyword.value)}")
            named = self._atom(ast.Name(str(keyword.arg)))
            add(total, {tuple(sorted(named)): _not_negative(what, value)})
        return total


def _plain(node: ast.expr) -> tuple[str, bool] | None:
    """Return the text of a name or number and whether it is a name; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id, True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _plain(node.operand)
        return None if inner is None or inner[1] else (f"-{inner[0]}", False)
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return node.value, True
        if isinstance(node.value, bool):
            return str(node.value), True
        if isinstance(node.value, (int, float)) and math.isfinite(_as_float(node.value)):
            return str(node.value), False
    return None


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _integer(node: ast.expr) -> int | None:
    """Return an integer of few digits; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        if node.value >= 10**_MOST_DIGITS:
            raise InvalidInstance(f"numbers have at most {_MOST_DIGITS} digits")
        return node.value
    return None
