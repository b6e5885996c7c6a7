"""Problems that are nothing but a sum of tables, and their solutions by trying all sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.expected_prediction.encodings import products, tables
from cpx.models.expected_prediction.form import TableSumForm


class Tabled(Problem):
    """A sum of tables: the greatest value, or the fewest or likeliest features of a value."""

    kind: ClassVar[str] = "tabled"
    encodings: ClassVar[tuple[Encoding[Any], ...]] = (
        Encoding("products", products),
        Encoding("tables", tables),
    )

    def __init__(self, tables: TableSumForm) -> None:
        self.tables = tables

    @property
    def sense(self) -> Any:
        """Values are maximised; numbers and penalties are minimised."""
        return "max" if self.tables.target is None else "min"

    def form(self) -> TableSumForm:
        return self.tables

    def model(self, encoding: str | None = None) -> Statement:
        return stated_in(self, encoding).build(self.tables)

    def decode(self, values: Values) -> Explanation:
        return self.explanation(np.flatnonzero(values["X"][: self.tables.n_features]).tolist())

    def explanation(self, features: Iterable[int]) -> Explanation:
        return Explanation(
            Rule.of(features, [f"f{j}" for j in range(self.tables.n_features)], "yes")
        )

    def key(self, S: tuple[int, ...]) -> tuple[int, int]:
        """Return objective and tie."""
        form = self.tables
        if form.target is None:
            return form.value(S), form.penalty(S)
        return (form.penalty(S), 0) if form.likeliest else (len(S), form.penalty(S))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        S = explanation.features
        objective, tie = self.key(S)
        return Evaluation(objective, feasible=self.tables.allows(S), tie=tie)

    def allowed(self) -> Iterator[tuple[int, ...]]:
        """Yield all sets that may be chosen."""
        form = self.tables
        for size in range(form.k + 1):
            for S in combinations(range(form.n_features), size):
                if form.allows(S):
                    yield S

    def best(self) -> tuple[int, int] | None:
        """Return objective and tie of the best set, by trying all; None where there is none."""
        sign = 1 if self.sense == "min" else -1
        keys = [self.key(S) for S in self.allowed()]
        return min(keys, key=lambda key: (sign * key[0], key[1]), default=None)


def random_tables(rng: np.random.Generator, *, most: int = 10, **changes: Any) -> TableSumForm:
    """Return tables of one of many styles: ties, negative terms, large and tiny values."""
    n = int(rng.integers(1, most + 1))
    style = int(rng.integers(7))
    features, tables_ = [], []
    for _ in range(int(rng.integers(0, 7))):
        size = int(rng.integers(1, min(n, 5) + 1))
        entries = 2**size
        table = [
            lambda m: rng.integers(-3, 4, m),
            lambda m: rng.integers(-1, 2, m),
            lambda m: rng.integers(-(2**40), 2**40, m),
            lambda m: rng.integers(-(2**59), 2**59, m),
            lambda m: np.where(rng.random(m) < 0.2, rng.integers(0, 5, m), -rng.integers(0, 3, m)),
            lambda m: rng.integers(0, 2, m) << int(rng.integers(0, 30)),
            lambda m: -rng.integers(0, 4, m),
        ][style](entries)
        features.append(np.sort(rng.choice(n, size, replace=False)).astype(np.int32))
        tables_.append((table - table[0]).astype(np.int64))
    highest = int(rng.choice([2, 4, 2**20, 2**26]))
    required = tuple(j for j in range(n) if rng.random() < 0.1)
    free = [j for j in range(n) if j not in required]
    given: dict[str, Any] = {
        "constant": int(rng.integers(-5, 5)),
        "k": int(rng.integers(len(required), n + 1)),
        "penalties": rng.integers(1, highest, n),
        "required": required,
        "forbidden": tuple(j for j in free if rng.random() < 0.1),
        **changes,
    }
    return TableSumForm(n, tuple(features), tuple(tables_), **given)
