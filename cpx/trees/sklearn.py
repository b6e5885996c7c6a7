"""Reader of scikit-learn models: decision trees, forests, gradient boosting, of either kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target, refuse_target, require_target
from cpx.errors import InvalidOption, ModelError, UnsupportedModel, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list, highest_upto
from cpx.trees.categories import Categories, Ranges, outside
from cpx.trees.checks import class_labels, label_list, refuse_one_class
from cpx.trees.form import Rule, TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.outputs import OneOutput, chosen_output
from cpx.trees.regressors import LiveNumbers, fields_of_numbers
from cpx.trees.tree import LEFT, REFUSED, RIGHT

FORESTS = (
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "RandomForestClassifier",
    "ExtraTreesClassifier",
)
_BOOSTED = ("GradientBoostingClassifier", "HistGradientBoostingClassifier")
_KINDS = tuple(
    name.replace("Classifier", kind)
    for kind in ("Classifier", "Regressor")
    for name in (*FORESTS, *_BOOSTED)
)
_SINGLE = ("DecisionTree", "ExtraTree")
"""What the kinds of a single tree are called, before Classifier or Regressor."""


def read_sklearn(
    model: Any,
    *,
    rule: Rule | None = None,
    classes: Sequence[Any] | None = None,
    output: int | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    target: Target | None = None,
) -> TreeModel:
    """Read a fitted classifier or regressor of scikit-learn.

    Parameters
    ----------
    model : classifier or regressor
        DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier,
        ExtraTreesClassifier, GradientBoostingClassifier or HistGradientBoostingClassifier, or the
        regressors of these names.
    rule : {"average", "vote", "sum"}, optional
        For trees and forests, ``"average"`` of the probabilities, which is what scikit-learn
        predicts and the default, or ``"vote"``: each tree votes for its most probable class,
        the first of equal ones, and the class with the most votes wins, the first of equal
        ones. That is another model: it can answer otherwise than ``model.predict``. Gradient
        boosting has the rule ``"sum"`` only.
    classes : sequence of labels, optional
        By default those of the classifier.
    output : int, optional
        Of a tree or forest that predicts several columns: which of them is read, from 0.
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default the names seen in
        fit, or ``x0, x1, ...``.
    target : Target, optional
        Of a regressor: what is asked of its numbers; see :func:`read_model`.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnsupportedModel
        For anything else than these models, several outputs of which none is chosen, an initial
        estimator that is no constant, a regressor without a target or whose loss has a logarithm.
    ModelError
        When the model is not fitted, or the attributes do not fit.
    InvalidOption
        When the rule is none of this model.

    Notes
    -----
    Forests and GradientBoostingClassifier compare in float32, HistGradientBoostingClassifier
    in float64; all add in float64. Where two classes have the same exact score the first wins,
    but in GradientBoostingClassifier with two classes the second does. The order in which a
    forest with ``n_jobs`` adds its trees is not fixed, so on such ties it may differ from itself.

    scikit-learn does not record where values were missing in training, but the directions that
    its trees give them show it, mostly: a direction that is not to the child with more samples
    was learned. Such an attribute may be missing.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    >>> model = read_sklearn(tree)
    >>> model.predict([[2.0], [2.1]]).tolist(), str(model.condition(0, 0))
    (['a', 'b'], 'x0 <= 2')
    """
    kind = _kind(model)
    if kind.endswith("Regressor"):
        return _read_regressor(model, kind, rule, classes, output, attributes, target)
    refuse_target(target, kind)
    rules = ("sum",) if kind in _BOOSTED else ("average", "vote")
    if rule is not None and rule not in rules:
        raise InvalidOption(
            f"rule must be one of {', '.join(rules)} for {kind}, got {shown(rule)}"
        )
    _refuse_unfitted(model, kind)
    if kind in _BOOSTED:
        refuse_one_class(kind, model.classes_)
    at = chosen_output(getattr(model, "n_outputs_", 1), output, kind)
    if kind == "HistGradientBoostingClassifier":
        fields = _histogram(model)
    elif kind in _BOOSTED:
        fields = _boosted(model)
    else:
        fields = _forest(model, _estimators(model, kind), rule, at or 0)
    own = label_list(model.classes_ if at is None else model.classes_[at])
    source, live = f"sklearn {kind}", None
    if rule == "vote":
        source += " by votes"  # another model than its predict, which was asked for
    else:
        asked = model if at is None else OneOutput(model, at)
        live = LiveModel(asked, own, *_link(model, fields), type(model).__name__)
        live = replace(live, columns=fields.get("columns", {}))
    fields["classes"] = own if classes is None else class_labels(classes, len(own))
    return _assembled(model, attributes, source=source, live=live, **fields)


def _read_regressor(
    model: Any,
    kind: str,
    rule: Rule | None,
    classes: Sequence[Any] | None,
    output: int | None,
    attributes: Sequence[str | Attribute] | None,
    target: Target | None,
) -> TreeModel:
    """Read a model that predicts numbers as one that says on which side of limits they are."""
    for option, given in (("rule", rule), ("classes", classes)):
        if given is not None:
            raise InvalidOption(f"{option} is for classifiers, not for {kind}")
    asked = require_target(target, kind)
    _refuse_unfitted(model, kind)
    at = chosen_output(getattr(model, "n_outputs_", 1), output, kind)
    averaged = not kind.startswith(("Gradient", "Hist"))
    if kind.startswith("Hist"):
        if type(model._loss.link).__name__ != "IdentityLink":
            raise UnsupportedModel(
                f"the {kind} of the loss {shown(model.loss)} predicts the exponential of a sum; "
                "cpx reads those that predict the sum"
            )
        fields = _histogram(model)
    elif averaged:
        trees = [
            _nodes(e.tree_, e.tree_.value[:, at or 0], (0,), _takes_missing(e))
            for e in _estimators(model, kind)
        ]
        fields = {"trees": trees, "cast": "float32"}
    else:
        fields = _boosted(model)
    fields |= fields_of_numbers(asked, fields["trees"], fields.get("base", ()), averaged)
    live = LiveNumbers(
        model if at is None else OneOutput(model, at),
        asked.classes,
        "average",
        title=type(model).__name__,
        target=asked,
        columns=fields.get("columns", {}),
    )
    return _assembled(model, attributes, source=f"sklearn {kind}", live=live, **fields)


def _assembled(
    model: Any,
    attributes: Sequence[str | Attribute] | None,
    columns: Mapping[int, Categories] | None = None,
    **fields: Any,
) -> TreeModel:
    names = getattr(model, "feature_names_in_", None)
    default = [f"x{i}" for i in range(model.n_features_in_)] if names is None else names
    return assemble(
        attributes=attribute_list(
            attributes, [str(name) for name in default], fields["trees"], columns
        ),
        named=names is not None or attributes is not None,
        **fields,
    )


def _estimators(model: Any, kind: str) -> Sequence[Any]:
    single = kind.removesuffix("Classifier").removesuffix("Regressor") in _SINGLE
    return [model] if single else model.estimators_


def _takes_missing(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.allow_nan)


def _link(
    model: Any, fields: dict[str, Any]
) -> tuple[Literal["average", "sigmoid", "softmax"], float]:
    """Return how predict_proba follows from the scores."""
    if fields["rule"] == "average":
        return "average", 1.0
    if len(fields["base"]) > 1:
        return "softmax", 1.0
    return "sigmoid", 2.0 if getattr(model, "loss", "") == "exponential" else 1.0


def _kind(model: Any) -> str:
    """Return the name of the class of scikit-learn that the model is of."""
    for cls in type(model).__mro__:
        if cls.__name__ in _KINDS and cls.__module__.startswith("sklearn."):
            return cls.__name__
    raise UnsupportedModel(
        f"{type(model).__name__} is no tree model of scikit-learn that cpx reads; it reads "
        + ", ".join((*FORESTS, *_BOOSTED))
        + ", and the regressors of these names"
        + (
            ", and by read_model linear models, naive Bayes, pipelines, and votes of trees. "
            "kind='rule' explains any classifier by its predict alone" * hasattr(model, "classes_")
        )
    )


def _refuse_unfitted(model: Any, kind: str) -> None:
    unfitted = not kind.endswith("Regressor") and not hasattr(model, "classes_")
    if unfitted or not hasattr(model, "n_features_in_"):
        raise ModelError(f"the {kind} is not fitted")


def _forest(
    model: Any, estimators: Sequence[Any], rule: Rule | None, output: int
) -> dict[str, Any]:
    classes = int(np.ravel(model.n_classes_)[output])
    trees = []
    for estimator in estimators:
        values = estimator.tree_.value[:, output, :classes]
        if rule == "vote":
            values = np.eye(classes)[values.argmax(axis=1)]
        outputs = tuple(range(classes))
        trees.append(_nodes(estimator.tree_, values, outputs, _takes_missing(estimator)))
    return {
        "trees": trees,
        "rule": rule or "average",
        "decision": "first",
        "base": (0.0,) * classes,
        "cast": "float32",
    }


def _boosted(model: Any) -> dict[str, Any]:
    start = model.init_
    constant = ("DummyClassifier", "DummyRegressor")
    if not isinstance(start, str) and type(start).__name__ not in constant:
        raise UnsupportedModel(
            f"init={type(start).__name__} gives each row a start of its own; cpx reads a "
            f"{type(model).__name__} whose init is None or 'zero'"
        )
    # The start of every row, as the library computes it.
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    trees = []
    for stage in model.estimators_:
        for k, estimator in enumerate(stage):
            values = model.learning_rate * estimator.tree_.value[:, 0, :]
            trees.append(_nodes(estimator.tree_, values, (k,), False))
    return {
        "trees": trees,
        "rule": "sum",
        "decision": "nonnegative" if len(base) == 1 else "first",
        "base": base.tolist(),
        "cast": "float32",
    }


def _nodes(tree: Any, values: Any, outputs: tuple[int, ...], takes_missing: bool) -> Nodes:
    left, right, to_left = tree.children_left, tree.children_right, tree.missing_go_to_left != 0
    missing = np.where(to_left, LEFT, RIGHT) if takes_missing else REFUSED
    learned = _learned(to_left, tree.threshold, tree.n_node_samples, left, right)
    return Nodes(
        attribute=np.where(left < 0, -1, tree.feature),
        threshold=highest_upto(tree.threshold, "float32"),
        left=left,
        right=right,
        missing=np.broadcast_to(missing, tree.feature.shape),
        values=values,
        outputs=outputs,
        saw_missing=takes_missing & learned,
    )


def _learned(to_left: Any, threshold: Any, samples: Any, left: Any, right: Any) -> Any:
    """Say of each test whether its direction for missing values was learned from some.

    Where there are none, scikit-learn sends them to the child with more samples, the right one of
    equal ones; and then no test parts all values from the missing ones. A learned direction can
    be the same by chance.
    """
    return (to_left != (samples[left] > samples[right])) | np.isinf(threshold)


def _histogram(model: Any) -> dict[str, Any]:
    columns, order = _categories(model)
    base = model._baseline_prediction.ravel()
    trees = []
    for stage in model._predictors:
        for k, predictor in enumerate(stage):
            nodes = predictor.nodes
            left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
            to_left, threshold = nodes["missing_go_to_left"] != 0, nodes["num_threshold"]
            sets = {
                i: _ranges(
                    columns[order[nodes["feature_idx"][i]]],
                    _codes(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][i]]),
                    bool(to_left[i]),
                )
                for i in np.flatnonzero(nodes["is_categorical"] != 0).tolist()
            }
            trees.append(
                Nodes(
                    attribute=np.where(nodes["is_leaf"], -1, order[nodes["feature_idx"]]),
                    threshold=threshold.astype(np.float64),
                    left=left,
                    right=right,
                    missing=np.where(to_left, LEFT, RIGHT),
                    values=nodes["value"].astype(np.float64)[:, np.newaxis],
                    outputs=(k,),
                    saw_missing=_learned(to_left, threshold, nodes["count"], left, right),
                    sets=sets,
                )
            )
    return {
        "trees": trees,
        "rule": "sum",
        "decision": "positive" if len(base) == 1 else "first",
        "base": base.tolist(),
        "columns": columns,
    }


def _categories(model: Any) -> tuple[dict[int, Categories], NDArray[np.int64]]:
    """Return the columns of categories, and the columns in the order in which trees have them."""
    own = getattr(model, "is_categorical_", None)
    if own is None:
        return {}, np.arange(model.n_features_in_)
    first = np.flatnonzero(own)
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(own))])
    encoder = model._preprocessor.named_transformers_["encoder"]
    columns = {
        int(c): Categories.of(objects, str(names[c]))
        for c, objects in zip(first, encoder.categories_, strict=True)
    }
    return columns, np.concatenate([first, np.flatnonzero(~own)])


def _ranges(own: Categories, lefts: list[int], to_left: bool) -> Ranges:
    """Return the values that go left: what is no category goes where missing values go."""
    if not to_left:
        return own.ranges(lefts)
    return outside(own.ranges({*range(len(own.objects))} - {*lefts}))


def _codes(bits: NDArray[np.uint32]) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [*np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))]
