"""Parameters are declared once; checks, files, schema and words follow from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from cpx import MaxCoverage, MaxPrecision, Samples, SufficientReason
from cpx.errors import InvalidInstance
from cpx.modelling import instances
from cpx.modelling.parameters import (
    NAME,
    Choice,
    Flag,
    Indices,
    Integer,
    ShareOf,
    Weights,
    parameter,
    parameters_of,
)
from cpx.modelling.saved import SAMPLES, arguments_of, schema_of
from cpx.models import PROBLEMS, Problem
from cpx.models.monomial.weighted import KMonomial
from cpx.testing.cases import cases
from cpx.trees import Attribute, Tree, TreeModel

SAVED = cases()


@dataclass(frozen=True, eq=False)
class Toy(Problem):
    samples: Samples = field(metadata=SAMPLES)
    size: int = field(metadata=parameter(Integer(1, "n_features"), "most features", place=1))
    floor: Any = field(default="1/3", metadata=parameter(ShareOf(), "least share"))
    mode: str = field(default="fast", metadata=parameter(Choice(("fast", "slow"), "fast"), "how"))
    kept: tuple[int, ...] = field(default=(), metadata=parameter(Indices(), "must be chosen"))
    weights: Any = field(default=None, metadata=parameter(Weights(), "one per feature"))
    strict: bool = field(default=False, metadata=parameter(Flag(), "whether ties lose"))
    name: str = field(default="", metadata=NAME)

    kind: ClassVar[str] = "toy"
    encodings: ClassVar = ()

    @property
    def n_features(self) -> int:
        return self.samples.d

    def _validate(self) -> None:
        if self.strict and self.mode == "slow":
            raise InvalidInstance("strict is for the mode fast")

    model = decode = explanation = evaluate = None


DATA = Samples([[1, 0], [0, 1]], [1, 0], features=("a", "b"))


def test_a_problem_is_saved_and_read_by_its_declaration() -> None:
    toy = Toy(DATA, 2, 0.25, "slow", [1], [3, 1], name="n")
    saved = toy.to_dict()
    assert list(saved) == [
        *("format", "version", "problem", "name", "parameters", "samples", "labels", "features")
    ]
    # What has a higher place comes last, others in the order of the fields.
    assert list(saved["parameters"].items()) == [
        *(("floor", "1/4"), ("mode", "slow"), ("kept", [1]), ("weights", [3, 1]), ("size", 2))
    ]
    again = Toy(**arguments_of(Toy, json.loads(json.dumps(saved))))
    assert again.to_dict() == saved
    assert again.floor == Fraction(1, 4)
    assert again.weights == (3, 1)
    assert Toy(DATA, 1).to_dict()["parameters"] == {"floor": "1/3", "size": 1}


def test_facts_and_title_follow() -> None:
    toy = Toy(DATA, 2, "1/4", kept=[0, 1], strict=True)
    assert toy._facts() == {"size": "2", "floor": "25 %", "kept": "{0, 1}", "strict": "True"}
    assert toy._brief() == ["size 2", "floor 25 %", "kept {0, 1}", "strict True"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "size must be between 1 and the number of features 2, got 0"),
        ({"size": 3}, "size must be between 1 and the number of features 2, got 3"),
        ({"floor": 2}, "floor must be a share from 0 to 1"),
        ({"floor": None}, "floor must be a share from 0 to 1"),
        ({"mode": "slwo"}, "mode must be one of fast, slow, got 'slwo'"),
        ({"kept": [2]}, "kept has the feature 2"),
        ({"weights": [1]}, "weights must have 2 positive integers, got 1"),
        ({"strict": 1}, "strict must be true or false, got 1"),
        ({"strict": True, "mode": "slow"}, "strict is for the mode fast"),
        ({"name": 1}, "name must be a string, got 1"),
        ({"samples": [[1]]}, "samples must be Samples, got list"),
    ],
)
def test_wrong_values_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInstance, match=message):
        Toy(**{"samples": DATA, "size": 1, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": 1}, r"unknown parameter 'sizes' \(did you mean 'size'\?\); known: floor"),
        ({"size": None}, "size must be an integer, got None"),
        ({"floor": None}, "floor must be a share from 0 to 1"),
    ],
)
def test_wrong_files_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    data = Toy(DATA, 1).to_dict()
    with pytest.raises(InvalidInstance, match=message):
        Toy(**arguments_of(Toy, {**data, "parameters": {**data["parameters"], **change}}))


def test_a_field_that_is_not_declared_is_refused() -> None:
    @dataclass(frozen=True, eq=False)
    class Lossy(KMonomial):
        extra: int = 0

    with pytest.raises(TypeError, match=r"Lossy\.extra is not declared"):
        Lossy(DATA, 1)


def test_another_default_needs_no_other_declaration() -> None:
    assert parameters_of(MaxCoverage)["min_precision"].default == Fraction(19, 20)
    assert parameters_of(MaxPrecision)["min_precision"].default is None
    assert MaxCoverage(DATA, 1, min_precision=None).min_precision == Fraction(19, 20)


def test_schemas_that_differ_in_kind_only_are_one() -> None:
    (shared,) = schema_of([MaxCoverage, KMonomial])
    assert shared["properties"]["problem"] == {"enum": ["k-monomial", "max-coverage"]}
    assert len(schema_of([KMonomial, Toy])) == 2


@pytest.mark.parametrize("kind", PROBLEMS)
def test_every_parameter_has_a_meaning_and_a_range(kind: str) -> None:
    declared = parameters_of(PROBLEMS[kind])
    assert list(declared) == [f.name for f in fields(PROBLEMS[kind])]
    for name, p in declared.items():
        assert p.meaning, name
        assert p.key is not None or p.kind.range, name


def test_what_is_saved_fits_the_schema() -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator(instances.schema())
    for case in SAVED:
        validator.validate(json.loads(instances.dumps(case.problem)))


def test_every_case_reads_back_the_same() -> None:
    for case in SAVED:
        text = instances.dumps(case.problem)
        assert instances.dumps(instances.loads(text)) == text, case.name


def test_a_class_that_is_false_is_saved() -> None:
    stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    attributes = [Attribute("a")]
    model = TreeModel(attributes, [False, True], [stump], [[2.5]], "sum", "positive", [0])
    saved = SufficientReason(model, (1.0,)).to_dict()
    assert saved["class"] is False
    assert instances.from_dict(saved).label is False
