"""What the methods that ask the oracle of sufficient reasons have in common."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from cpx.backends.base import Backend

__all__ = ["AskingOracle"]


class AskingOracle(Backend):
    """A method that asks :class:`~cpx.trees.sufficiency.oracle.SufficiencyOracle`."""

    requires: ClassVar[dict[str, str]] = {"numba": "numba>=0.61,<0.70"}
    encodes: ClassVar[bool] = False

    @classmethod
    def preload(cls) -> None:
        """Import the packages, and load the compiled kernels, or compile them."""
        super().preload()
        _load_kernels()


@cache
def _load_kernels() -> None:
    from cpx.methods.reasons import SufficiencyOracle
    from cpx.methods.reasons.deletion_kernels import Dropping
    from cpx.models.minimum_subset.form import LossForm
    from cpx.trees import Attribute, Tree, TreeModel

    tested, zeros = np.array([0, -1, -1], dtype=np.int32), np.zeros(3, dtype=np.int32)
    stump = Tree(tested, zeros, zeros, np.array([[-1.0], [1.0]]), (0,))
    # Two trees: of one alone all changes are known, and nothing is searched.
    model = TreeModel(
        (Attribute("a"),), (0, 1), (stump, stump), (np.array([0.5]),), "sum", "positive", (0.0,)
    )
    oracle = SufficiencyOracle(model, model.cells([1.0]))
    # The second question is looked up among the answers, by a kernel of its own.
    for _ in range(2):
        oracle.change(1)
    one = np.ones(1, dtype=np.int64)
    dropping = Dropping(LossForm.of(one.reshape(1, 1) > 0, one, [one], [1], one))
    dropping.drop([0])
