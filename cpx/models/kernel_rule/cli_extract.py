"""The command ``cpx extract``: rules of a kernel machine that is trained on a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import grouped
from cpx.models.rule_set.cli_learn import Rows, Task, task_of
from cpx.options import TIME_LIMIT
from cpx.support.shares import share_text
from cpx.support.validation import open_unit

if TYPE_CHECKING:
    from cpx.models.kernel_rule.boolean_kernels import ClassRule, MachineRules


@dataclass(frozen=True)
class Machine:
    """The machine, and the rules that compete."""

    title: ClassVar[str] = "Machine and rules"

    label: opt.Label = None
    n_rules: Annotated[
        int,
        typer.Option(
            "-n",
            metavar="N",
            help="Rules: each weighs the most, for either class, on the support vectors of "
            "which none before it is true.",
        ),
    ] = 1
    max_clauses: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of clauses of a rule.")
    ] = 3
    max_literals: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of conditions of a clause.")
    ] = 3
    cost: Annotated[
        float,
        typer.Option(
            metavar="C", help="What an error costs the machine: C of scikit-learn's SVC."
        ),
    ] = 1.0
    n_bins: Annotated[int, typer.Option(metavar="N", help="Bins of a numeric column.")] = 3


@grouped
def extract(
    *,
    rows: Rows,
    machine: Machine,
    time_limit: Annotated[
        float, opt.seconds_option("For all rules together; 'none' for no limit.")
    ] = TIME_LIMIT,
    backend: opt.Backend = None,
    seed: opt.Seed = 0,
    as_json: opt.RulesAsJson = False,
) -> None:
    r"""Extract the rules of maximum weight of a kernel machine trained on a table.

    The kernel of the support vector machine has all rules of so many clauses and conditions, so
    that its vote is a sum of their weights. The columns become conditions: both sides of each
    threshold, and values. 'cpx make kernel-rule' saves such a problem instead.

    \b
    Examples:
      cpx extract table.csv --target y
      cpx extract table.csv --target y -n 4 --max-clauses 1 --test 0.3
      cpx extract table.csv --target y --cost 1e6 --max-clauses 10 --max-literals 5

    Exit codes: 0 no rule weighs more at its turn, proved; 3 rules without that proof; 4 none
    found within the limit; 2 wrong input; 1 anything else.
    """
    from cpx.cli.progress import phase
    from cpx.data import read_table
    from cpx.models.kernel_rule.boolean_kernels import extract_rules

    categorical = opt.split(rows.categorical)
    with phase(f"reading {rows.table}"):
        share = None if rows.test is None else open_unit("test", rows.test)
        missing = opt.words(rows.missing)
        read = read_table(rows.table, rows.target, categorical, missing=missing)
        task = task_of(rows.table, read, machine.label, share, seed)
    with phase(f"training a machine on {len(task.X)} rows, and extracting rules", long=True):
        found = extract_rules(
            task.X,
            task.y,
            n_rules=machine.n_rules,
            max_clauses=machine.max_clauses,
            max_literals=machine.max_literals,
            cost=machine.cost,
            positive=task.label,
            n_bins=machine.n_bins,
            categorical=categorical,
            backend=backend,
            time_limit=opt.limit(time_limit),
            seed=seed,
        )
    typer.echo(_as_json(found, task) if as_json else _as_text(found, task))
    raise typer.Exit(4 if not found.rules else 0 if found.proved else 3)


def _figures(found: MachineRules, task: Task) -> dict[str, dict[str, Any]]:
    """Return how faithful and accurate the rules are, and how accurate the machine is."""
    parts = {"rows": (task.X, task.y), **({} if task.fresh is None else {"fresh": task.fresh})}
    told = {}
    for name, (X, y) in parts.items():
        machine, rules = found.machine_predicts(X), found.predict(X)
        told[name] = {
            "rows": len(X),
            "fidelity": float((machine == rules).mean()),
            "accuracy": float((rules == y).mean()),
            "machine_accuracy": float((machine == y).mean()),
        }
    return told


def _as_text(found: MachineRules, task: Task) -> str:
    lines = [str(found)] if found.rules else ["no rule was found within the limits"]
    for name, told in _figures(found, task).items():
        lines.append(
            f"{name:6} fidelity {share_text(told['fidelity'])}, accuracy "
            f"{share_text(told['accuracy'])}, of the machine "
            f"{share_text(told['machine_accuracy'])}, on {told['rows']} rows"
        )
    return "\n".join(lines)


def _as_json(found: MachineRules, task: Task) -> str:
    data = {
        "rules": [_rule(rule, found.features) for rule in found.rules],
        "otherwise": found.otherwise,
        "support_vectors": len(found.machine.rows),
        "figures": _figures(found, task),
    }
    return json.dumps(data, indent=1, allow_nan=False)


def _rule(rule: ClassRule, features: tuple[str, ...]) -> dict[str, Any]:
    bound = rule.found.bound
    return {
        "class": rule.label,
        "clauses": [[features[j] for j in clause] for clause in rule.found.rule],
        "weight": float(rule.found.weight),
        "bound": None if bound is None else float(bound),
        "greatest": float(rule.greatest),
        "proved": rule.found.proved,
        "covered": rule.covered,
        "agreeing": rule.agreeing,
    }
