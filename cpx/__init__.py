"""cpx: explanation problems of machine learning as constraint models.

One statement, any engine, an answer you can trust::

    import cpx
    explanation = cpx.explain(classifier, background, x, k=5)

The names are imported when they are first used, so ``import cpx`` is fast. Families of problems
register theirs; what else there is, its room has: ``cpx.models.NegativeOnly``.

Where things are. A person looks for three things: what is asked, who answers, and how to get an
answer. Rooms stand in layers, and import only from lines above their own:

- ``support``: families, files, lazy imports, argument validation; ``errors``, ``options``;
- ``processes``: all other programs that are started, and what Ctrl-C does; ``compiled``: kernels;
- ``data``: tables as literals, distributions, samples; ``trees``: tree models in one exact form;
- ``answers``: results, explanations, rules, and how they read;
- ``modelling``: the language: problems, statements, encodings, side constraints, saved files;
- ``check``: the frame of the independent checker;
- ``backends``: who answers: CP-SAT, MaxSAT, MILP, and an exact search of our own;
- ``solving``: the one way from a problem and the name of an engine to a checked result;
- ``methods``: sequences of engine calls for all problems;
- ``explainers``: the doors, one call or one estimator;
- ``compare``: experiments; ``export``: problems in the formats of solvers;
- ``testing``: for those who write an engine; ``library``: instances; ``cli``: the command;
- ``models``: what is asked, a folder per family of problems, with all that belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpx.support.families import public_names
from cpx.support.lazy_imports import lazily
from cpx.support.versions import __version__ as __version__

if TYPE_CHECKING:
    from cpx import answers as answers
    from cpx import backends as backends
    from cpx import check as check
    from cpx import data as data
    from cpx import explainers as explainers
    from cpx import export as export
    from cpx import library as library
    from cpx import models as models
    from cpx import trees as trees
    from cpx.answers.explanation import Explanation as Explanation
    from cpx.answers.result import Result as Result
    from cpx.compare import compare as compare
    from cpx.data import Samples as Samples
    from cpx.errors import CpxError as CpxError
    from cpx.explainers import Explainer as Explainer
    from cpx.explainers import explain as explain
    from cpx.explainers.solutions import solutions as solutions
    from cpx.modelling.instances import load as load
    from cpx.modelling.instances import save as save
    from cpx.models.public import *  # noqa: F403
    from cpx.solving import solve as solve
    from cpx.testing.exercise import grade as grade
    from cpx.trees import read_model as read_model

_HOMES = {
    "CpxError": "cpx.errors",
    "Explainer": "cpx.explainers",
    "Explanation": "cpx.answers",
    "Result": "cpx.answers",
    "Samples": "cpx.data",
    "compare": "cpx.compare",
    "explain": "cpx.explainers",
    "grade": "cpx.testing.exercise",
    "load": "cpx.modelling.instances",
    "read_model": "cpx.trees",
    "save": "cpx.modelling.instances",
    "solutions": "cpx.explainers.solutions",
    "solve": "cpx.solving",
}

_ROOMS = (
    "answers",
    "backends",
    "check",
    "data",
    "explainers",
    "export",
    "library",
    "models",
    "trees",
)
"""Where more names are, and which are attributes of cpx without an import of their own."""

_get, __dir__ = lazily(
    __name__, {**_HOMES, **{room: f"cpx.{room}" for room in _ROOMS}}, public_names
)


if not TYPE_CHECKING:  # which finds no names that are not there

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return sorted({*_HOMES, *dict(public_names())})
        try:
            return _get(name)
        except AttributeError as error:
            if not name.startswith("_"):
                for room in _ROOMS:
                    if name in dir(_get(room)):
                        raise AttributeError(f"{error}; cpx.{room} has it") from None
            raise
