"""The picture of rules against samples: what is drawn where."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from cpx import RuleSetClassifier, RuleSetSelection
from cpx.answers import RuleSet, plot_rules, plot_selection
from cpx.answers.axes import require_matplotlib
from cpx.answers.plots import _RIGHT, _WRONG, _edges, _runs, arranged
from cpx.answers.rule import Rule
from cpx.errors import EngineMissing, InvalidInstance

RNG = np.random.default_rng(0)


def _problem(rules: int, m: int) -> RuleSetSelection:
    covers = RNG.random((rules, m)) < 0.3
    texts = [f"long name of column {r} > 1 and other column <= {r}" for r in range(rules)]
    return RuleSetSelection.of_coverage(covers, RNG.random(m) < 0.3, texts=texts)


def test_samples_are_sorted_by_class_then_by_the_rules_that_cover_them() -> None:
    covers, same = RNG.random((3, 200)) < 0.5, RNG.random(200) < 0.4
    order = arranged(covers, same)
    keys = [(not same[i], *(~covers[:, i])) for i in order]
    assert sorted(order.tolist()) == list(range(200))
    assert keys == sorted(keys)


def test_widths_are_those_of_the_weights_in_each_group() -> None:
    same, weights = np.array([True, True, False, False]), np.array([1.0, 3.0, 50.0, 50.0])
    edges = _edges(same, weights)
    widths = edges[:, 1] - edges[:, 0]
    assert widths[1] == pytest.approx(3 * widths[0])
    assert widths[2] == pytest.approx(widths[3])
    # A small class has room all the same, and both groups fill the picture but for a gap.
    assert widths[:2].sum() == pytest.approx(0.4 * 0.98)
    assert (edges[0, 0], edges[3, 1]) == (0, pytest.approx(1))
    assert edges[2, 0] - edges[1, 1] == pytest.approx(0.02)
    assert _edges(np.array([True]), np.array([7.0])).tolist() == [[0, 1]]


def test_runs_are_cut_between_the_groups() -> None:
    same = np.array([True, True, False, False])
    edges = np.array([[0.0, 0.2], [0.2, 0.4], [0.6, 0.8], [0.8, 1.0]])
    runs = _runs(np.array([False, True, True, True]), same, edges)
    np.testing.assert_allclose(runs, [(0.2, 0.2), (0.6, 0.4)])


def test_the_drawn_areas_are_the_figures() -> None:
    problem = _problem(3, 300)
    explanation = problem.explanation(range(3))
    rules, same = explanation.rule, problem.samples.same
    ax = plot_selection(problem, explanation, ax=Figure().subplots())
    edges = _edges(np.sort(same)[::-1], np.ones(300))
    own, other = edges[0, 1] - edges[0, 0], edges[-1, 1] - edges[-1, 0]
    order = sorted(range(3), key=lambda r: -rules.figures[r].marginal)
    right, wrong = _areas(ax, _RIGHT), _areas(ax, _WRONG)
    for row, r in enumerate(order):
        figures = rules.figures[r]
        assert right[row] / own == pytest.approx(figures.agreeing)
        assert wrong[row] / other == pytest.approx(figures.covered - figures.agreeing)
    covered = problem.covers.any(axis=0)
    assert right[3] / own == pytest.approx((covered & same).sum())
    assert wrong[3] / other == pytest.approx((covered & ~same).sum())


def _areas(ax, colour: str) -> list[float]:
    """Return the width drawn in a colour, row by row."""
    from matplotlib.colors import to_rgba

    widths = []
    for collection in ax.collections:
        if np.allclose(collection.get_facecolor()[:1], to_rgba(colour)):
            boxes = [path.get_extents() for path in collection.get_paths()]
            widths.append(sum(box.width for box in boxes))
    return widths


@pytest.mark.parametrize(
    ("rules", "m"), [(0, 100), (1, 100), (12, 100), pytest.param(30, 300, marks=pytest.mark.slow)]
)
def test_texts_do_not_run_into_one_another(rules: int, m: int) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    if rules:
        problem = _problem(rules, m)
        ax = plot_selection(problem, problem.explanation(range(rules)))
    else:
        ax = plot_rules(RuleSet(()), np.zeros((0, m), dtype=bool), np.arange(m) < 30)
    figure = ax.figure
    figure.canvas.draw()
    for texts in (ax.get_yticklabels(), [*ax.texts], *[c.get_yticklabels() for c in _right(ax)]):
        boxes = [text.get_window_extent() for text in texts]
        assert all(figure.bbox.fully_containsx(x) for box in boxes for x in (box.x0, box.x1))
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    plt.close(figure)


def _right(ax) -> list:
    return [child for child in ax.child_axes if child.get_yticklabels()]


def test_the_classifier_draws_its_rules() -> None:
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 4) & (X[:, 0] <= 9)
    model = RuleSetClassifier(penalty=0.01, k=2, n_bins=20, time_limit=None).fit(X, y)
    ax = model.plot(ax=Figure().subplots())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["4.5 < x0 <= 9.5", "all rules"]
    assert [t.get_text() for t in ax.texts] == ["True: 5 samples", "not True: 15 samples"]
    (right,) = _right(ax)
    assert right.get_yticklabels()[1].get_text().split() == ["0.250", "1.000", "+4.8"]
    other = model.plot(X[:10], y[:10], ax=Figure().subplots())
    assert [t.get_text() for t in other.texts] == ["True: 5 samples", "not True: 5 samples"]
    assert _right(other)[0].get_yticklabels()[1].get_text().split()[0] == "0.500"


def test_refuses_what_does_not_fit() -> None:
    problem = _problem(2, 10)
    explanation = problem.explanation([0, 1])
    rules, covers, same = explanation.rule, problem.covers, problem.samples.same
    for wrong, message in (
        ((Rule(()), covers, same), "rules must be a RuleSet, got Rule"),
        ((rules, covers[:1], same), r"covers must be bool of shape \(2, 10\)"),
        ((rules, covers.astype(int), same), "covers must be bool"),
        ((rules, covers, same.astype(int)), "same must be a vector of bool"),
    ):
        with pytest.raises(InvalidInstance, match=message):
            plot_rules(*wrong)
    for weights in ([1.0], [0.0] * 10, [np.nan] * 10):
        with pytest.raises(InvalidInstance, match="weights must be 10 numbers > 0"):
            plot_rules(rules, covers, same, weights=weights)


def test_without_matplotlib_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineMissing, match="pip install matplotlib"):
        require_matplotlib()
