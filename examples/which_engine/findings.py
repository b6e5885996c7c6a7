"""Tables and figures of the page "Which engine for which question", from the results.

    python findings.py results/ encodings/ figures/

prints tables in Markdown and writes, of the first results, figures and tables of the report, and a
figure for each family: how the times grow. The second ones are those of each encoding.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd

from cpx.compare import Comparison, Run
from cpx.compare.growth import sizes_in
from cpx.compare.plots import figures, written
from cpx.compare.report_tables import as_markdown, grids
from cpx.library import FAMILIES, out_of_sample
from cpx.library.known import known_of

ORDER = ["search", "cpsat", "maxsat:rc2", "maxsat:stratified", "maxsat:lsu", "milp:highs"]
ORDER += ["milp:cbc"]
FIGURES = ("cactus", "profile", "anytime", "scatter")
TABLES = ("scores", "pairs", "intervals", "explanations")


def rows(comparison: Comparison) -> pd.DataFrame:
    """Return what counts of each run."""
    frame = comparison.cases().frame
    runs = comparison.cases().runs
    return pd.DataFrame(
        {
            "instance": [run.instance for run in runs],
            "family": [sizes_in(run.instance)[0] for run in runs],
            "engine": [run.engine for run in runs],
            "encoding": [run.result.encoding for run in runs],
            "proved": frame["proved"].to_numpy(),
            "par2": frame["par2"].to_numpy(),
            "best": (frame["solved"] & (frame["place"] == 0)).to_numpy(),
            "gap": frame["gap"].to_numpy(),
        }
    )


def unnamed(run: Run) -> Run:
    """Return a run under the name of its engine alone."""
    options = {**run.result.options, "warm_start": True}
    return replace(run, result=replace(run.result, options=options))


def table(head: list[str], lines: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print("\n| " + " | ".join(head) + " |")
    print("|---|" + "--:|" * (len(head) - 1))
    for line in lines:
        print("| " + " | ".join(line) + " |")


def by_encoding(found: pd.DataFrame, engines: list[str], names: tuple[str, ...]) -> None:
    """Print what the engines prove in each of the encodings."""
    lines = []
    for engine in engines:
        cells = []
        for name in names:
            own = found[(found["engine"] == engine) & (found["encoding"] == name)]
            cells.append(f"{int(own['proved'].sum())} of {len(own)}, {own['par2'].mean():.2f}")
        lines.append([engine, *cells])
    table(["engine", *names], lines)


def main(results: str, encodings: str, place: str) -> None:
    """Print the tables and write the figures."""
    whole = Comparison.load(results)
    default = replace(whole, runs=tuple(map(unnamed, whole.runs)))
    found = rows(default)
    for what, words in (("proved", "Proved"), ("par2", "Mean PAR-2, s"), ("best", "Best value")):
        lines = []
        for family in (*FAMILIES, "all"):
            own = found if family == "all" else found[found["family"] == family]
            groups = own.groupby("engine")[what]
            cells = []
            for engine in ORDER:
                if engine not in groups.groups:
                    cells.append("")
                elif what == "par2":
                    cells.append(f"{groups.get_group(engine).mean():.2f}")
                else:
                    of = groups.get_group(engine)
                    cells.append(f"{int(of.sum())} of {len(of)}")
            lines.append([family, *cells])
        print(f"\n{words}")
        table(["family", *ORDER], lines)
    every = rows(Comparison.load(encodings))
    print("\nEncodings: proved, and mean PAR-2")
    for names in (("clausal", "pairs", "channelling"), ("signature", "channelling"),
                  ("order", "direct")):  # fmt: skip
        mine = every[every["family"].isin(every.loc[every["encoding"] == names[0], "family"])]
        by_encoding(mine, ORDER[1:], names)
    # On the instances of which it says more, so that it is not the default of the others.
    taken = found[found["encoding"] == "triples"]
    both = pd.concat([every[every["encoding"] == "clausal"], taken])
    engines = [engine for engine in ORDER if engine in set(taken["engine"])]
    by_encoding(both[both["instance"].isin(taken["instance"])], engines, ("clausal", "triples"))
    print("\nRules of search, mean precision and coverage: samples, and fresh ones")
    own = [run for run in whole.runs if run.engine == "search"]
    frame = out_of_sample(replace(whole, runs=tuple(own)))
    frame = frame[frame["fresh_coverage"].notna()]
    frame["family"] = [sizes_in(name)[0] for name in frame["instance"]]
    frame["agree"] = frame["precision"].astype(float)
    lines = []
    for family, part in frame.groupby("family", sort=False):
        means = part[["agree", "fresh_precision", "coverage", "fresh_coverage"]].astype(float)
        lines.append([str(family), *(f"{mean:.3f}" for mean in means.mean())])
    table(["family", "precision", "fresh", "coverage", "fresh"], lines)
    folder = Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    order = [f"{name}" for name in default.scores().index]
    for name, figure in figures(default.cases(), order):
        if name.startswith("growth-") or name in FIGURES:
            svg = written(figure, "svg", svg_fonttype="none").decode()
            (folder / f"{name}.svg").write_text("\n".join(map(str.rstrip, svg.splitlines())))
    tables = grids(default.cases(), default.scores())
    for name in TABLES:
        (folder / f"{name}.md").write_text(as_markdown(tables[name]))
    better = []
    for run in whole.runs:
        known, value = known_of(run.fingerprint), run.result.objective
        sign = 1 if run.sense == "min" else -1
        news = value is not None and (known is None or sign * value < sign * known.value)
        if run.result.verified and news:
            better.append((run.instance, known, value))
    print(f"\nbetter than what is known: {better or 'nothing'}")
    for name, sentences in whole.contradictions.items():
        print(f"refuted: {name}: {sentences}")


if __name__ == "__main__":
    main(*sys.argv[1:])
