"""Draws the picture of each page in ``docs/problems``, from an instance that is solved for it.

    python docs/problem_pictures.py [NAME ...]

writes ``docs/_static/problems/NAME.svg``, NAME being that of the page. Colours and texts are of a
middle tone on no ground, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import cpx
from cpx.compare.plots import written

FOLDER = Path(__file__).parent / "_static" / "problems"
INK, FAINT = "#7d8590", "#7d859055"
BLUE, ORANGE, GREEN = "#2f8fd8", "#d9822b", "#23a67a"


def k_monomial() -> Figure:
    """The five samples, and what the rule of each feature covers and loses."""
    rows = np.array([[1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0]])
    same = np.array([1, 0, 0, 0, 1])
    samples = cpx.Samples(rows, same, features=("a", "b", "c", "d"))
    figure = Figure(figsize=(7.4, 3.3))
    ax = figure.subplots()
    rules: list[list[int]] = [[], [0], [1], [2], [3], [0, 3], [0, 1]]
    for row in range(5):
        for j in range(4):
            _cell(ax, j, row, BLUE if rows[row, j] else None)
        ax.text(4.3, row + 0.5, "same" if same[row] else "other", va="center", color=INK)
    for at, rule in enumerate(rules):
        k = max(len(rule), 1)
        evaluation = cpx.KMonomial(samples, k=k).evaluate(
            cpx.KMonomial(samples, k=k).explanation(rule)
        )
        for row in range(5):
            covered = bool(rows[row, rule].all())
            right = covered == bool(same[row])
            _cell(ax, 6 + at, row, (GREEN if right else ORANGE) if covered else None)
            if not right:
                ink = "white" if covered else INK
                ax.text(6.5 + at, row + 0.5, "x", ha="center", va="center", color=ink)
        ax.text(6.5 + at, 5.45, evaluation.objective, ha="center", va="center", color=INK)
        name = "".join("abcd"[j] for j in rule) or "none"
        ax.text(6.5 + at, -0.35, name, ha="center", va="center", color=INK)
    for j, name in enumerate("abcd"):
        ax.text(j + 0.5, -0.35, name, ha="center", va="center", color=INK)
    ax.text(5.9, 5.45, "loss", ha="right", va="center", color=INK)
    ax.text(2, -1.05, "agrees with x on", ha="center", va="center", color=INK)
    ax.text(9.5, -1.05, "the rule covers (x: lost)", ha="center", va="center", color=INK)
    ax.set(xlim=(-0.1, 13.2), ylim=(5.9, -1.4))
    ax.set_axis_off()
    return figure


def _cell(ax: Any, x: float, y: float, colour: str | None) -> None:
    face = colour or "none"
    ax.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, facecolor=face, edgecolor=FAINT))


def precision() -> Figure:
    """All rules of at most two conditions of one tumour, and the answers of three problems."""
    from sklearn.datasets import load_breast_cancer

    from cpx.models.monomial.explainers.rule import RuleExplainer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    explainer = RuleExplainer.train("forest", X, y, class_names=["malignant", "benign"])
    samples = explainer.samples(X.iloc[19])
    table, weights = samples.agreement, samples.weights
    points = {}
    for size in (0, 1, 2):
        for rule in combinations(range(samples.d), size):
            covered = table[:, rule].all(axis=1)
            all_of_it = int(weights[covered].sum())
            if all_of_it:
                agreeing = int(weights[covered & samples.same].sum())
                points[rule] = all_of_it / samples.total, agreeing / all_of_it
    figure = Figure(figsize=(7.4, 3.9))
    ax = figure.subplots()
    ax.scatter(
        *zip(*points.values(), strict=True),
        s=6,
        color=FAINT,
        linewidths=0,
        label="a rule",
        rasterized=True,
    )
    asked = (
        (
            "most precise, coverage at least 1/5",
            cpx.MaxPrecision,
            {"min_coverage": "1/5"},
            BLUE,
            "o",
        ),
        (
            "widest, precision at least 9/10",
            cpx.MaxCoverage,
            {"min_precision": "9/10"},
            GREEN,
            "s",
        ),
        ("least loss", cpx.KMonomial, {}, ORANGE, "D"),
    )
    for label, kind, limits, colour, marker in asked:
        result = cpx.solve(kind(samples, k=2, **limits), "search")
        assert result.proved
        at = points[tuple(result.explanation.features)]
        ax.scatter(*at, s=70, color=colour, marker=marker, label=label, zorder=3)
    ax.axvline(0.2, color=BLUE, lw=1, ls=":")
    ax.axhline(0.9, color=GREEN, lw=1, ls=":")
    ax.set(xlabel="coverage", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.02))
    ax.legend(loc="lower right", frameon=False, labelcolor=INK)
    return figure


def sufficient_reason() -> Figure:
    """The columns of a minimum reason of a tree in their intervals, and some that are free."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = cpx.read_model(DecisionTreeClassifier(random_state=0).fit(X, y))
    x = X.iloc[0]
    result = cpx.solve(cpx.SufficientReason(model, x, context={"class": "malignant"}))
    assert result.proved
    limits = {}
    for part in str(result.explanation.guarantee).split(" force ")[0].split(" and "):
        found = re.fullmatch(r"(.+?) (<=|>) ([\d.]+)", part)
        assert found is not None
        limits[found[1]] = (found[2], float(found[3]))
    free = [name for name in X.columns[list(model.used)] if name not in limits][:4]
    names = [*limits, *free]
    figure = Figure(figsize=(7.4, 3.0))
    ax = figure.subplots()
    for at, name in enumerate(names):
        low, high = float(X[name].min()), float(X[name].max())
        left, right = 0.0, 1.0
        if name in limits:
            sign, limit = limits[name]
            place = (limit - low) / (high - low)
            left, right = (place, 1.0) if sign == ">" else (0.0, place)
        ax.barh(at, 1, height=0.5, color="none", edgecolor=FAINT)
        ax.barh(at, right - left, left=left, height=0.5, color=BLUE if name in limits else FAINT)
        ax.plot((float(x[name]) - low) / (high - low), at, "o", color=ORANGE, ms=6)
    ax.set(
        yticks=range(len(names)), yticklabels=names, xticks=[0, 1], ylim=(len(names) - 0.4, -0.6)
    )
    ax.set_xticklabels(["least in the table", "greatest"])
    title = "blue: kept in the interval of x (dot), which forces malignant; grey: any value"
    ax.set_title(title, color=INK, fontsize=10)
    for side in ax.spines.values():
        side.set_visible(False)
    return figure


def certificate() -> Figure:
    """Scores of the twelve bits of a parity of two, and what each adds to the precision."""
    from cpx.models.certificate.methods import certificate as find
    from cpx.models.certificate.methods import stabilising_scores

    x = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1])

    def parity(z: Any) -> Any:
        return z[:, 3] ^ z[:, 8]

    found = find(parity, x, depth=5)
    assert found is not None
    scores = stabilising_scores(parity, 12, 0.4, 50_000, np.random.default_rng(0))
    cube = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    right = parity(cube) == parity(x[None])
    gains = [right[cube[:, j] == x[j]].mean() - right.mean() for j in range(12)]
    figure = Figure(figsize=(7.4, 2.7))
    ax = figure.subplots()
    bits = np.arange(12)
    assert sorted(found.features) == [3, 8]
    ax.bar(bits - 0.2, np.maximum(scores, 0), 0.4, color=BLUE, label="stabilising score")
    ax.bar(bits + 0.2, gains, 0.4, color=ORANGE, label="gain of precision by this bit alone")
    ax.plot(bits + 0.2, gains, "_", color=ORANGE, ms=9, mew=2)
    ax.set(xticks=bits, xlabel="bit", ylim=(0, 0.17))
    ax.legend(frameon=False, labelcolor=INK, loc="upper center")
    return figure


def expected_prediction() -> Figure:
    """The greatest expected score and the likelihood, by the number of values known."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    from cpx.data.coding import Coding
    from cpx.data.fitted.mixture_fit import fit_mixture

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GradientBoostingClassifier(n_estimators=30, max_depth=2, random_state=0).fit(X, y)
    trees = cpx.read_model(model)
    coding = Coding.fit(X, cuts=trees.thresholds, cast=trees.cast)
    D = fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    expected, likely, bounds = [], [], []
    sizes = range(9)
    for k in sizes:
        result = cpx.solve(cpx.MLSE(trees, X.iloc[0], coding, D, k=k), "search")
        assert result.proved
        expected.append(result.explanation.expected)
        likely.append(float(np.exp(result.explanation.log_likelihood)))
        bounds.append(result.explanation.bound)
    figure = Figure(figsize=(7.4, 3.0))
    left, middle, right = figure.subplots(1, 3)
    left.plot(sizes, expected, "o-", color=BLUE)
    left.axhline(0, color=INK, lw=1, ls=":")
    middle.plot(sizes, bounds, "o-", color=GREEN)
    right.semilogy(sizes, likely, "o-", color=ORANGE)
    titles = (
        "greatest expected score",
        "at least so many get the class",
        "likelihood of the values",
    )
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.set_title(title, color=INK, fontsize=9.5)
        ax.set(xlabel="values known, at most", xticks=range(0, 9, 2))
    figure.tight_layout()
    return figure


def rule_set() -> Figure:
    """Errors and price by the greatest number of rules, and what the best rules cover."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    from cpx.models.rule_set.methods.candidates import Literals, forest_paths

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    box = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    literals = Literals.of_table(X, n_bins=6)
    malignant = box.predict(X) == 0
    rules = forest_paths(literals, malignant, k=2, trees=20)
    errors = []
    for n in range(6):
        problem = literals.problem(rules, malignant, max_rules=n)
        result = cpx.solve(problem, "search")
        assert result.proved
        errors.append(float(result.objective) / problem.scale)
    price = 0.01 * len(X)
    best = cpx.solve(literals.problem(rules, malignant, penalty="0.01"), "search")
    figure = Figure(figsize=(7.4, 3.0))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
    n = np.arange(6)
    left.bar(n, errors, color=ORANGE, label="errors")
    left.bar(n, price * n, bottom=errors, color=BLUE, label="price of the rules")
    left.set(xlabel="rules, at most", xticks=n)
    left.legend(frameon=False, labelcolor=INK)
    order = np.argsort(~malignant, kind="stable")
    for at, rule in enumerate(best.explanation.features):
        covered = literals.matrix[:, list(rules[rule])].all(axis=1)[order]
        places = np.flatnonzero(covered)
        inside = places < malignant.sum()
        right.vlines(places[inside], at - 0.35, at + 0.35, color=GREEN, lw=0.6)
        right.vlines(places[~inside], at - 0.35, at + 0.35, color=ORANGE, lw=0.9)
    right.axvline(malignant.sum() - 0.5, color=INK, lw=1, ls=":")
    shown = len(best.explanation.features)
    right.set(yticks=range(shown), yticklabels=[f"rule {r + 1}" for r in range(shown)])
    right.set(ylim=(shown - 0.4, -0.6), xlabel="malignant | other rows", xticks=[])
    right.set_title("rows that the best two rules cover", color=INK, fontsize=9.5)
    figure.tight_layout()
    return figure


def boolean_kernels() -> Figure:
    """The clauses of the rule of greatest weight of tic-tac-toe, as boards."""
    from sklearn.svm import SVC

    from cpx.models.kernel_rule.boolean_kernels import BoundedDNFKernel, best_rule, tic_tac_toe

    game = tic_tac_toe()
    kernel = BoundedDNFKernel(max_clauses=10, max_literals=5)
    found = best_rule(
        SVC(kernel=kernel, C=1e6).fit(game.X, game.y), game.X, features=game.features
    )
    assert found.proved
    places = [f"{a}-{b}" for a in ("top", "middle", "bottom") for b in ("left", "middle", "right")]
    figure = Figure(figsize=(7.4, 1.2))
    for ax, clause in zip(figure.subplots(1, len(found.rule)), found.rule, strict=True):
        chosen = {game.features[j].split(" = ")[0] for j in clause}
        for at, place in enumerate(places):
            column, row = at % 3, at // 3
            _cell(ax, column, row, BLUE if place in chosen else None)
            if place in chosen:
                ax.text(column + 0.5, row + 0.5, "x", ha="center", va="center", color="white")
        ax.set(xlim=(0, 3), ylim=(3, 0), aspect="equal")
        ax.set_axis_off()
    return figure


DRAWN: dict[str, Callable[[], Figure]] = {
    "k-monomial": k_monomial,
    "precision": precision,
    "sufficient-reason": sufficient_reason,
    "certificate": certificate,
    "expected-prediction": expected_prediction,
    "rule-set": rule_set,
    "boolean-kernels": boolean_kernels,
}
STYLE = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.transparent": True,
    "savefig.bbox": "tight",
}


def main(names: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or DRAWN:
        with rc_context(STYLE):
            svg = written(DRAWN[name](), "svg", svg_fonttype="none").decode()
        (FOLDER / f"{name}.svg").write_text(re.sub(r"[ \t]+\n", "\n", svg), encoding="utf-8")
        print(f"wrote {FOLDER / name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
