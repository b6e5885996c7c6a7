"""Networks of scikit-learn, which are no trees: how they are known, and how they are refused."""

from __future__ import annotations

from typing import Any

from cpx.errors import UnsupportedModel
from cpx.trees.wrapped import behind

__all__ = ["NetworkModel", "is_network"]


class NetworkModel(UnsupportedModel):
    """A network where a tree model is read: ``model`` is what was to be read."""

    def __init__(self, told: str, model: Any = None) -> None:
        super().__init__(told)
        self.model = model

    @classmethod
    def of(cls, model: Any) -> NetworkModel:
        """Return the error of a model."""
        name = type(behind(model)[1]).__name__
        return cls(
            f"{name} is a network, which is not read as trees: kind='reason' and kind='contrast' "
            "explain small ones, kind='rule' explains any classifier by its predict alone",
            model,
        )


def is_network(model: Any) -> bool:
    """Whether a model, or what stands at the end of its pipeline, is a network of classes."""
    mro = type(behind(model)[1]).__mro__
    return any(c.__name__ == "MLPClassifier" and c.__module__.startswith("sklearn.") for c in mro)
