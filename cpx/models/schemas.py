"""The JSON Schema of saved instances, version 1, by kind of problem."""

from __future__ import annotations

from typing import Any

__all__ = ["instance_schemas"]

_INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True}
_SHARE = {
    "type": ["string", "number"],
    "pattern": "^([0-9]+/[0-9]*[1-9][0-9]*|[0-9]+(\\.[0-9]*)?|\\.[0-9]+)$",
    "minimum": 0,
    "maximum": 1,
}
_BITS = {"type": "string", "pattern": "^[01]+$"}
_WEIGHTS = {"type": "array", "items": {"type": "integer", "minimum": 1}}
_HEX = {"type": "string", "description": "a hexadecimal float, exact"}
_HEX_LIST = {"type": "array", "items": _HEX}
_INTEGERS = {"type": "array", "items": {"type": "integer"}}

_CHOICE = {
    "required": {**_INDICES, "description": "features that must be chosen"},
    "forbidden": {**_INDICES, "description": "features that must not be chosen"},
}
_MONOMIAL = {
    "k": {"type": "integer", "minimum": 0, "description": "greatest number of features"},
    **_CHOICE,
    "one_per_group": {
        "type": "boolean",
        "description": "choose at most one feature of each group",
    },
    "min_coverage": {**_SHARE, "description": "least share of all weight covered, exact: '1/20'"},
    "max_coverage": {**_SHARE, "description": "greatest share of all weight covered"},
    "min_precision": {**_SHARE, "description": "least precision of the rule"},
}
_SMALLEST = {**_CHOICE, "weights": {**_WEIGHTS, "description": "one per feature; absent: all 1"}}
_CERTIFICATE = {
    "epsilon": {**_SHARE, "description": "tolerated share of disagreeing weight, exact"},
    **_SMALLEST,
}
_REASON = {
    "level": {"enum": ["attributes", "conditions"], "description": "what features are"},
    "definition": {"enum": ["sufficient", "majoritary", "tree-specific"]},
    "unit": {
        "type": "string",
        "pattern": "^[0-9]+(/[0-9]+)?$",
        "description": "what losses of leaves are rounded up to multiples of; 0 is exact",
    },
    **_SMALLEST,
}
_COUNT = {"type": "integer", "minimum": 0}
_RULES = {
    "penalty": {**_SHARE, "description": "price of a rule as a share of all weight, exact"},
    "loss": {"enum": ["zero-one", "hamming"], "description": "absent: zero-one"},
    "class_weights": {
        "type": "array",
        "items": _COUNT,
        "minItems": 2,
        "maxItems": 2,
        "description": "weight of an error on another class, and on the class; absent: 1, 1",
    },
}
_RULE_SET_LEARNING = {
    "max_literals": {"type": "integer", "minimum": 1, "description": "most literals of a rule"},
    **_RULES,
}
_RULE_SET = {
    **_RULES,
    "rules": {
        "type": "array",
        "minItems": 1,
        "items": _INDICES,
        "description": "the candidates, each by its features, which are the literals",
    },
    "max_rules": {**_COUNT, "description": "greatest number of rules"},
    "max_literals": {**_COUNT, "description": "greatest number of literals of all rules"},
    "max_overlap": {**_COUNT, "description": "greatest weight covered by two rules or more"},
    "required": {**_INDICES, "description": "rules that must be selected"},
    "forbidden": {**_INDICES, "description": "rules that must not be selected"},
    "lengths": {
        "type": "array",
        "items": _COUNT,
        "description": "literals each rule counts as; absent: as many as it has",
    },
}
_SAMPLES = {
    "samples": {
        "type": "array",
        "minItems": 1,
        "items": _BITS,
        "description": "one string per sample; character j is a_ij = [z_ij = x_j]",
    },
    "labels": {**_BITS, "description": "character i is s_i = [f(z_i) = f(x)]"},
    "weights": {**_WEIGHTS, "description": "one per sample; absent: all 1"},
    "features": {
        "type": "array",
        "items": {"type": "string"},
        "description": "one literal per feature, true of x",
    },
    "groups": {**_INTEGERS, "description": "attribute each feature comes from"},
}
_KERNEL_RULE = {
    "max_clauses": {"type": "integer", "minimum": 1, "description": "most clauses of the rule"},
    "max_literals": {"type": "integer", "minimum": 1, "description": "most features of a clause"},
    "unit": {
        "type": "string",
        "pattern": "^[0-9]+(/[0-9]+)?$",
        "description": "what a weight of 1 stands for",
    },
}
_SUPPORT_VECTORS = {
    "samples": {
        "type": "array",
        "minItems": 1,
        "items": _BITS,
        "description": "one string per support vector",
    },
    "weights": {**_INTEGERS, "description": "y_i alpha_i of each, in units"},
    "features": {"type": "array", "items": {"type": "string"}},
}
_ATTRIBUTE = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["real", "integer", "boolean", "categorical"]},
        "lower": _HEX,
        "upper": _HEX,
        "values": _HEX_LIST,
        "missing": {"type": "boolean"},
    },
}
_TREE = {
    "type": "object",
    "required": ["outputs", "attribute", "split", "missing", "values"],
    "additionalProperties": False,
    "properties": {
        "outputs": {**_INTEGERS, "description": "scores that the leaves add to"},
        "attribute": {**_INTEGERS, "description": "per node in preorder; -1 is a leaf"},
        "split": {**_INTEGERS, "description": "per test: the cell that is the last to go left"},
        "missing": {"type": "string", "pattern": "^[lr-]*$", "description": "per test"},
        "values": {**_HEX_LIST, "description": "per leaf and output"},
    },
}
_LABEL = {"type": ["string", "number", "boolean"]}
_MODEL = {
    "type": "object",
    "required": [
        *("format", "version", "rule", "decision", "cast", "sums", "strict", "classes", "base"),
        *("attributes", "thresholds", "trees"),
    ],
    "additionalProperties": False,
    "properties": {
        "format": {"const": "cpx-tree-model"},
        "version": {"const": 1},
        "rule": {"enum": ["vote", "average", "sum"]},
        "decision": {"enum": ["first", "positive", "nonnegative"]},
        "cast": {"enum": ["float32", "float64"]},
        "sums": {"enum": ["float32", "float64"]},
        "strict": {"type": "boolean"},
        "source": {"type": "string"},
        "classes": {"type": "array", "minItems": 1, "items": _LABEL},
        "base": _HEX_LIST,
        "attributes": {"type": "array", "items": _ATTRIBUTE},
        "thresholds": {"type": "array", "items": _HEX_LIST},
        "trees": {"type": "array", "minItems": 1, "items": _TREE},
    },
}
_ROW = {
    "x": {
        "type": "array",
        "items": {"type": ["number", "null"]},
        "description": "the row, null for a missing value",
    },
    "class": {**_LABEL, "description": "the class of the row"},
    "model": _MODEL,
}


def instance_schemas(version: int) -> list[dict[str, Any]]:
    """Return a schema for each form of instance."""
    rules = ["k-monomial", "max-coverage", "max-precision", "negative-only"]
    on_samples = ["samples", "labels"]
    return [
        _instance(version, rules, _MONOMIAL, ["k"], _SAMPLES, on_samples),
        _instance(version, ["min-certificate"], _CERTIFICATE, ["epsilon"], _SAMPLES, on_samples),
        _instance(
            version,
            ["sufficient-reason"],
            _REASON,
            ["level", "definition", "unit"],
            _ROW,
            ["x", "class", "model"],
        ),
        _instance(version, ["rule-set"], _RULE_SET, ["rules"], _SAMPLES, on_samples),
        _instance(
            version,
            ["rule-set-learning"],
            _RULE_SET_LEARNING,
            ["max_literals", "penalty"],
            _SAMPLES,
            on_samples,
        ),
        _instance(
            version,
            ["kernel-rule"],
            _KERNEL_RULE,
            ["max_clauses", "max_literals"],
            _SUPPORT_VECTORS,
            ["samples", "weights"],
        ),
    ]


def _instance(
    version: int,
    kinds: list[str],
    parameters: dict[str, Any],
    needed: list[str],
    data: dict[str, Any],
    present: list[str],
) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["format", "version", "problem", "parameters", *present],
        "additionalProperties": False,
        "properties": {
            "format": {"const": "cpx-instance"},
            "version": {"const": version},
            "problem": {"enum": kinds},
            "name": {"type": "string"},
            "parameters": {
                "type": "object",
                "required": needed,
                "additionalProperties": False,
                "properties": parameters,
            },
            **data,
            "context": {"type": "object", "description": "where the instance comes from; free"},
        },
    }
