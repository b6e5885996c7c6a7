from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cpx.cli import demo
from cpx.modelling.instances import load

from .conftest import Run


def test_explain_prints_a_rule_with_its_interval(run: Run, table: Path) -> None:
    done = run(
        "explain", table, "--target", "y", "--row", 0, "-k", 2, "-m", 200, "--model", "tree",
        "--no-isolate", "-o", "result.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "95% interval, 1000 fresh samples" in done.stdout
    assert "table.csv row 0, class" in done.stdout.splitlines()[0]
    fresh = json.loads(Path("result.json").read_text())["explanation"]["fresh"]
    assert fresh["drawn"] == 1000


def test_explain_json_is_one_object(run: Run, table: Path) -> None:
    done = run(
        "explain", table, "--target", "y", "--row", 1, "--model", "tree", "-m", 100, "-k", 1,
        "--fresh", 50, "--no-isolate", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["explanation"]["fresh"]["drawn"] == 50


@pytest.mark.parametrize(
    "distribution",
    ["uniform", "product", "empirical", "perturbed", "mixture{components=2}", "chow-liu"],
)
def test_make_saves_the_statement_of_the_question(
    run: Run, table: Path, distribution: str
) -> None:
    done = run(
        "make", "rule", table, "--target", "y", "--row", 3, "-k", 2, "-m", 100,
        "--model", "logistic", "--distribution", distribution, "--n-bins", 2, "-o", "made.json.gz",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("wrote made.json.gz: class ")
    problem = load("made.json.gz")
    assert problem.name == "table-3-k2"
    assert (problem.k, problem.samples.total, problem.kind) == (2, 100, "max-precision")
    context = problem.samples.context["distribution"]
    assert context["name"] == distribution.partition("{")[0]
    assert distribution != "mixture{components=2}" or context["components"] == 2


def test_make_without_output_prints_the_instance(run: Run, table: Path) -> None:
    done = run(
        "make", "rule", table, "--target", "y", "--row", 3, "-m", 50, "-k", 1, "--model", "tree",
        "--objective", "negative-only",
    )  # fmt: skip
    assert json.loads(done.stdout)["problem"] == "negative-only"


def test_make_is_reproducible(run: Run, table: Path) -> None:
    for name in ("a.json", "b.json"):
        args = ("--target", "y", "--row", 3, "-k", 1, "-m", 60, "--model", "mlp", "--seed", 7)
        assert run("make", "rule", table, *args, "-o", name).exit_code == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


ASK = ("--target", "y", "--row", 3, "-k", 2, "--model", "tree", "--no-isolate")


def explained(run: Run, table: Path, *options: object) -> dict[str, Any]:
    done = run("explain", table, *ASK, *options, "--json")
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("objective", "kind", "limits"),
    [
        ("precision", "max-precision", (Fraction(1, 5), None, None)),
        ("coverage", "max-coverage", (Fraction(1, 5), None, Fraction(19, 20))),
        ("loss", "k-monomial", (Fraction(1, 5), None, None)),
        ("negative-only", "negative-only", (Fraction(1, 5), None, None)),
    ],
)
def test_make_asks_for_an_objective_and_limits(
    run: Run, table: Path, objective: str, kind: str, limits: tuple[object, ...]
) -> None:
    done = run(
        "make",
        "rule",
        table,
        *ASK[:-1],
        "--objective",
        objective,
        "--min-coverage",
        "1/5",
        "-o",
        "a.json",
    )
    assert done.exit_code == 0, done.output
    assert f"{kind}, coverage >= 20 %" in done.stdout
    made: Any = load("a.json")
    assert made.kind == kind
    assert (made.min_coverage, made.max_coverage, made.min_precision) == limits


def test_make_gives_conditions_by_name_or_number(run: Run, table: Path) -> None:
    options = ("--required", "size <= 9", "--forbidden", 7, "--forbidden", "0", "--one-per-group")
    done = run("make", "rule", table, *ASK[:-1], *options[2:], "-o", "a.json")
    assert done.exit_code == 0, done.output
    made: Any = load("a.json")
    assert (made.forbidden, made.one_per_group) == ((0, 7), True)
    name = made.samples.features[4]
    assert run("make", "rule", table, *ASK[:-1], "--required", name, "-o", "a.json").exit_code == 0
    made = load("a.json")
    assert [made.samples.features[j] for j in made.required] == [name]


def test_explain_by_loss_says_that_always_predicting_is_best(run: Run, table: Path) -> None:
    done = run("explain", table, *ASK, "--objective", "loss", "-k", 0)
    assert done.exit_code == 0, done.output
    assert "note       no condition lowers the loss: by loss, always predicting" in done.stdout


def test_explain_with_a_guarantee(run: Run, table: Path) -> None:
    from cpx.data import sample_size

    asked = ("--objective", "loss", "--distribution", "product", "--epsilon", 0.3, "--delta", 0.2)
    done = run("explain", table, *ASK, *asked)
    assert f"{sample_size(2, 8, 0.3, 0.2)} samples" in done.stdout
    assert "guarantee  with probability at least 0.8 over the samples drawn" in done.stdout
    beyond = explained(run, table, *asked)["explanation"]["claim"]["beyond"]
    assert f"is at most {beyond['loss_above']:g} above that of every rule" in done.stdout


def test_explain_proves_that_no_rule_keeps_the_limits(run: Run, table: Path) -> None:
    done = run("explain", table, *ASK, "--min-coverage", 1, "--min-precision", 1)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("Nothing satisfies the constraints; this is proved.") == 1


def test_score_compares_with_the_best_rule(run: Run, table: Path) -> None:
    best = explained(run, table)["explanation"]
    rule = best["text"].partition(" => ")[0]
    done = run("score", table, *ASK, "--rule", rule, "--json")
    assert done.exit_code == 0, done.output
    scored = json.loads(done.stdout)
    assert [scored[key] for key in ("features", "precision", "coverage", "fresh")] == [
        best[key] for key in ("features", "precision", "coverage", "fresh")
    ]
    assert (scored["claim"]["optimal"], scored["claim"]["over"]["k"]) == (True, 2)
    done = run("score", table, *ASK, "--rule", "0", "--objective", "loss")
    assert done.exit_code == 0, done.output
    assert "of all 80 rows" in done.stdout
    assert "; the best one found is " in done.stdout
    done = run("score", table, *ASK, "--rule", "0", "--objective", "loss", "-m", 200)
    assert "95% interval, 1000 fresh samples" in done.stdout
    done = run("score", table, *ASK[:-3], "--no-isolate", "--rule", "0", "--no-compare")
    assert "proved" not in done.stdout


def test_a_worker_loads_the_engine_while_the_model_is_trained(run: Run, table: Path) -> None:
    done = run("explain", table, *ASK[:-1], "-m", 100, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["memory"] > 0


def test_demo_leaves_out_engines_that_do_not_take_rules(demo_question: Any) -> None:
    from cpx.compare.plan import Design, plan

    _, problem, _ = demo_question
    engines = [task.engine for task in plan(Design([problem], "all")).tasks]
    assert "search" in engines
    assert "hitting-sets" not in engines
    skipped = plan(Design([problem], "all,hitting-sets")).skipped
    assert "hitting-sets" in [one.configuration for one in skipped]


def test_demo_explains_a_real_prediction(
    run: Run, demo_question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_question", lambda: demo_question)
    done = run("demo", "--backends", "cpsat,search", "--time-limit", 30)
    assert done.exit_code == 0, done.output
    assert "says that tumour 19 is benign" in done.stdout
    assert "worst concave points <= 0.14235 => benign" in done.stdout
    assert "95% interval, 1000 fresh samples" in done.stdout
    assert "precision 547/548 (0.998) is optimal" in done.stdout
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines]
    asked = {row[0]: row[1:4] for row in rows if row and row[0] in ("cpsat", "search")}
    assert asked == {name: ["proved", "0.9982", "0.9982"] for name in ("cpsat", "search")}
    # The rule comes before the engines, and each of them when it has ended.
    assert done.stdout.index("=> benign") < done.stdout.index("cpsat ")


def test_demo_marks_the_proved_value_and_tells_of_contradictions(demo_question: Any) -> None:
    from dataclasses import replace

    from cpx import solve
    from cpx.compare import Comparison

    _, problem, _ = demo_question
    answer = solve(problem, "search")
    (right,) = Comparison.from_results([(problem, answer)]).runs
    worse = replace(right, result=replace(answer, objective=answer.objective / 2))
    rows = demo._Rows(6, answer)
    assert rows.row(right).endswith("*")
    assert not rows.row(worse).endswith("*")


def test_explain_draws_samples_in_rounds(run: Run, table: Path) -> None:
    asked = ("--distribution", "product", "--epsilon", 0.2, "--delta", 0.2, "--fresh", 50)
    done = run("explain", table, *ASK, *asked)
    assert done.exit_code == 0, done.output
    assert "of the samples of every round is more than" in done.stdout
    assert "95% interval, 50 fresh samples" in done.stdout
    few = explained(run, table, *asked, "--epsilon", 0.01, "--max-queries", 150)["explanation"]
    assert "max_queries = 150 was reached" in few["remarks"][-1]
    # A table of 80 rows is cheaper to use as a whole.
    done = run("explain", table, *ASK, "--epsilon", 0.2, "--delta", 0.2)
    assert "exact: all 80 rows" in done.stdout
    done = run("explain", table, *ASK, "--max-queries", 150)
    assert done.exit_code == 2
    assert "max_queries is for epsilon and delta" in done.stderr


@pytest.mark.parametrize("form", ["json", "toml"])
def test_words_of_a_file(run: Run, tmp_path: Path, form: str) -> None:
    rows = "".join(f"{i % 7},{i % 4},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(60))
    (tmp_path / "table.csv").write_text("size,other,y\n" + rows)
    words = {"size": {"label": "length", "unit": "cm", "cuts": [1.5, 3]}}
    toml = '[size]\nlabel = "length"\nunit = "cm"\ncuts = [1.5, 3]'
    path = tmp_path / f"words.{form}"
    path.write_text(json.dumps(words) if form == "json" else toml)
    asked = "explain", "table.csv", "--target", "y", "--row", 5, "--model", "tree", "--words", path
    for kind, told in (("rule", "length > 3 cm => yes"), ("reason", "length > 3.5 cm force")):
        done = run(*asked, "--kind", kind, "--no-isolate")
        assert done.exit_code == 0, done.output
        assert told in done.stdout
    path.write_text("[")
    wrong = run(*asked)
    assert wrong.exit_code == 2
    assert f"words.{form}: " in wrong.output


def test_all_kinds_are_a_page_a_figure_or_json(run: Run, table: Path) -> None:
    asked = ("explain", table, "--target", "y", "--row", 3, "--model", "tree", "--kind", "all")
    done = run(*asked, "-k", 2, "-o", "page.html", "--proofs", "--json")
    assert done.exit_code == 0, done.output
    assert "5 problems and results, 4 proofs" in done.stderr
    kinds = json.loads(done.stdout)["kinds"]
    assert [*kinds] == ["rule", "certificate", "expectation", "reason", "contrast"]
    assert {one["status"] for one in kinds.values()} == {"OPTIMAL"}
    page = Path("page.html").read_text(encoding="utf-8")
    assert "5 of 5 kinds answered, 5 proved" in run(*asked, "-o", "figure.svg").stdout
    assert "table.csv row 3 by tree" in page
    for kind in kinds:
        (command,) = re.findall(rf"cpx (check page-proofs/{kind}\.json\.gz [^<]*)", page)
        checked = run(*command.split())
        assert (checked.exit_code, checked.stdout.count("OK")) == (0, 1 + (kind != "contrast"))
    assert Path("figure.svg").stat().st_size > 5000
    for wrong, told in {
        ("-o", "page.txt"): "must end with one of .html, .svg",
        ("--objective", "loss"): "--objective is not for --kind all",
        ("--proofs", "-o", "figure.svg"): "--proofs is for a page: -o page.html",
        ("-k", 0): "k must be an integer of at least 1",
    }.items():
        refused = run(*asked, *wrong)
        assert refused.exit_code == 2
        assert told in refused.stderr
