"""``python -m benchmarks mutate``: change the code in small ways and see which tests notice.

Each mutant is one small change of one function: another comparison, operator, constant,
``any`` for ``all``, a statement left out. Tests are collected once. One run in a process of its
own notes which tests call which function; then each mutant runs those tests in a fork of this
process until one fails: first those that failed for others, then the quickest. A mutant that no
test notices survives: a test is missing, or the change is none. Those that were found to change
nothing that is promised are listed with the reason in ``mutants.txt`` beside this file, and are
not run. With ``--keep FILE`` each verdict is written down as it is found: a run that was stopped
goes on where it ended, and one after tests were added tries the survivors alone.

Processes that a test starts run the changed code as well: see ``mutating/sitecustomize.py``.
Code in C and constants of modules and classes are left alone.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import gc
import hashlib
import importlib
import inspect
import json
import math
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXPLAINED = Path(__file__).with_name("mutants.txt")
_CUSTOMIZE = Path(__file__).with_name("mutating")

# The modules, and the tests that are about them; what is named itself is not of its folder.
TARGETS = {
    "cpx/check": (
        *("tests/check", "tests/methods/reasons/test_checker.py", "tests/cli/test_show.py"),
        "tests/models/test_reason_arguments.py",
    ),
    "cpx/check/proofs": ("tests/check",),
    "cpx/solving/proofs": (
        *("tests/check", "tests/solving/test_proofs.py", "tests/solving/test_reason_rows.py"),
    ),
    **dict.fromkeys(
        [
            f"cpx/check/{name}.py"
            for name in ("expected_prediction", "expected_scores", "leaf_sums", "states")
        ],
        ("tests/check/test_expected_prediction.py", "tests/models/test_expectation_evaluator.py"),
    ),
    "cpx/solving": (
        *("tests/solving", "tests/models/test_encodings.py"),
        *("tests/methods/test_certificates.py", "tests/methods/test_hitting_sets.py"),
        "tests/backends/test_template.py",
        *("tests/backends/test_interrupts.py", "tests/methods/reasons/test_checker.py"),
    ),
    **dict.fromkeys(
        [f"cpx/solving/{name}.py" for name in ("isolate", "servers")],
        (
            *("tests/solving/test_isolate.py", "tests/solving/test_servers.py"),
            *("tests/solving/test_solving.py", "tests/processes/test_limits.py"),
        ),
    ),
    "cpx/solving/clash.py": (
        *("tests/models/test_side_constraints.py", "tests/processes/test_interrupts.py"),
    ),
    "cpx/solving/inner_solves.py": (
        *(
            "tests/solving/test_inner_solves.py",
            "tests/models/expected_prediction/test_problem.py",
        ),
    ),
    "cpx/solving/run.py": (
        *("tests/solving/test_solving.py", "tests/solving/test_preferred_encodings.py"),
        *("tests/solving/test_servers.py", "tests/models/expected_prediction/test_problem.py"),
        "tests/solving/test_warm_start.py",
    ),
    "cpx/solving/warm_start.py": ("tests/solving/test_warm_start.py",),
    "cpx/solving/worker.py": ("tests/solving/test_worker.py", "tests/solving/test_servers.py"),
    "cpx/processes": (
        *("tests/processes", "tests/solving/test_isolate.py", "tests/solving/test_servers.py"),
    ),
    "cpx/models/rule_set/presolve.py": (
        *("tests/models/test_rule_set.py", "tests/backends/test_search_sets.py"),
        "tests/backends/test_side_constraints.py",
    ),
    "cpx/models/sufficient_reason/minimum_subset/form.py": (
        *("tests/models/test_sufficient_reason.py", "tests/models/test_min_certificate.py"),
        *("tests/methods/reasons/test_deletion_kernels.py", "tests/methods/test_deletion.py"),
    ),
    "cpx/models/monomial/search/presolve.py": (
        *("tests/backends/test_search.py", "tests/backends/test_search_kernels.py"),
        *("tests/backends/test_random_instances.py", "tests/backends/test_max_weight.py"),
        "tests/backends/test_side_constraints.py",
    ),
    **dict.fromkeys(
        [
            "cpx/models/rule_set/search/subproblem.py",
            "cpx/models/rule_set/methods/local_search.py",
        ],
        (
            *("tests/backends/test_rule_sets.py", "tests/backends/test_search_sets.py"),
            *(
                "tests/backends/test_side_constraints.py",
                "tests/methods/test_column_generation.py",
            ),
        ),
    ),
    "cpx/backends/search/branch_on_violations.py": ("tests/backends/test_side_constraints.py",),
    "cpx/models/rule_set/classifier/cross_validation.py": (
        "tests/explainers/rule_set_classifier/test_choice.py",
        "tests/explainers/rule_set_classifier/test_weights.py",
    ),
    "cpx/compare/statistics.py": ("tests/compare/test_scores.py",),
}

# A test may take so many seconds of the processor with a mutant, and so many times what it
# takes unchanged; by the clock five times that, since others may use the machine.
_PATIENCE, _TIMES, _CLOCK = 2.0, 4.0, 5.0
_MEMORY = 2 * 2**30

_OPERATORS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift},
    **{ast.RShift: ast.LShift},
}
_NAMES = {"any": "all", "min": "max", "floor": "ceil", "minimum": "maximum", "left": "right"}
_NAMES |= {new: old for old, new in _NAMES.items()}


@dataclass(frozen=True)
class Mutant:
    """One change: the node in the order of a walk over the file, and which change of it."""

    file: str
    function: str
    line: int
    node: int
    variant: int
    old: str
    new: str
    nth: int = 1

    @property
    def change(self) -> str:
        """What is changed; the same change can be made in several places of a function."""
        return f"{self.file} {self.function}: {self.old} -> {self.new}"

    @property
    def name(self) -> str:
        """What it is known by in the list of explained ones; without the line, which moves."""
        return self.change + f" #{self.nth}" * (self.nth > 1)


# --------------------------------------------------------------------------- changes


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield changed copies of a node."""
    changed: Any = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                changed = copy.deepcopy(node)
                changed.ops[i] = _OPERATORS[type(op)]()
                yield changed
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in _OPERATORS:
            changed.op = _OPERATORS[type(op)]()
            yield changed
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1 if value + 1 != value else 2 * value)
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(
            test, ast.Compare | ast.UnaryOp
        ):
            changed.test = ast.UnaryOp(ast.Not(), test)
            yield changed
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            changed.func.id = _NAMES[name]
            yield changed
        case ast.Call(func=ast.Attribute(attr=name)) if name in _NAMES:
            changed.func.attr = _NAMES[name]
            yield changed
        case ast.Continue():
            yield ast.Break()
    if isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


@cache
def _source(file: str) -> str:
    # Read once: a file that is edited meanwhile is not that which was imported.
    return (ROOT / file).read_text()


def _tree(file: str) -> ast.Module:
    return ast.parse(_source(file))


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for top in tree.body:
        if isinstance(top, ast.FunctionDef):
            yield top.name, top
        elif isinstance(top, ast.ClassDef):
            for part in top.body:
                if isinstance(part, ast.FunctionDef):
                    yield f"{top.name}.{part.name}", part


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of the body of a function, without annotations."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns", "decorator_list"):
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in reversed(parts) if isinstance(part, ast.AST)]


def mutants_of(file: str) -> list[Mutant]:
    """Return all mutants of a file."""
    found: list[Mutant] = []
    times: Counter[str] = Counter()
    for name, function in _functions(_tree(file)):
        for place, node in enumerate(_inside(function)):
            for which, new in enumerate(variants(node)):
                line = getattr(node, "lineno", function.lineno)
                texts = (_short(node), _short(new))
                mutant = Mutant(file, name, line, place, which, *texts)
                times[mutant.change] += 1
                found.append(replace(mutant, nth=times[mutant.change]))
    return found


def _short(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).partition("\n")[0]


def apply(mutant: Mutant) -> ast.Module:
    """Give the function the changed code, in this process; return the tree of its file."""
    tree = _tree(mutant.file)
    (function,) = (f for name, f in _functions(tree) if name == mutant.function)
    node = list(_inside(function))[mutant.node]
    new = ast.copy_location(list(variants(node))[mutant.variant], node)
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, field, new)
            elif isinstance(value, list) and any(part is node for part in value):
                setattr(parent, field, [new if part is node else part for part in value])
    target = function_of(mutant.file, mutant.function)
    assert target is not None
    _give_code(target, tree, mutant.file)
    return tree


def _give_children(folder: Path, trees: Mapping[str, ast.Module]) -> None:
    """Let the processes that this one starts have the code of these trees."""
    for file, tree in trees.items():
        (folder / f"{_module(file)}.py").write_text(ast.unparse(ast.fix_missing_locations(tree)))
    (folder / "calls").touch()
    os.environ["CPX_CHANGED"] = str(folder)
    # The environment of our own processes is made of ``sys.path``, that of others inherited.
    sys.path.insert(0, str(_CUSTOMIZE))
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_CUSTOMIZE), *([given] if given else [])])


def _give_code(function: FunctionType, tree: ast.Module, file: str) -> None:
    """Replace the code of a function by that of the tree of its file."""
    old = function.__code__
    wanted = (old.co_name, old.co_firstlineno)
    code = compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec")
    waiting = [code]
    while (code := waiting.pop()) and (code.co_name, code.co_firstlineno) != wanted:
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
    function.__code__ = code


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def function_of(file: str, name: str) -> FunctionType | None:
    """Return the function of a name, None where there is none that can be changed."""
    module = importlib.import_module(_module(file))
    owner, _, last = name.rpartition(".")
    holder: Any = getattr(module, owner) if owner else module
    found: Any = inspect.getattr_static(holder, last)
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, staticmethod | classmethod):
        found = found.__func__
    found = inspect.unwrap(found)
    return found if isinstance(found, FunctionType) else None


# -------------------------------------------------------------------------- verdicts

# What counts as noticed; a process that dies of a change has noticed it.
_NOTICED = ("killed", "died", "time-out")


class Verdicts:
    """What became of the mutants, written to a file as it is found.

    Parameters
    ----------
    file : Path or None
        A line of JSON for each verdict. Those in it are taken over, as far as the changed
        function is as it was.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._found: dict[str, str] = {}
        self._digests: dict[tuple[str, str], str] = {}
        if file is not None and file.exists():
            for line in file.read_text().splitlines():
                key, outcome = json.loads(line)
                self._found[key] = outcome

    def add(self, mutant: Mutant, outcome: str) -> None:
        """Take down what became of a mutant."""
        self._found[self._key(mutant)] = outcome
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(json.dumps([self._key(mutant), outcome]) + "\n")

    def of(self, mutant: Mutant) -> str | None:
        """Return what became of a mutant, None where it was not tried."""
        return self._found.get(self._key(mutant))

    def _key(self, mutant: Mutant) -> str:
        place = (mutant.file, mutant.function)
        if place not in self._digests:
            for name, function in _functions(_tree(mutant.file)):
                digest = hashlib.sha256(ast.unparse(function).encode()).hexdigest()
                self._digests[mutant.file, name] = digest[:12]
        return f"{mutant.change} [{self._digests[place]}, {mutant.node}, {mutant.variant}]"


# ----------------------------------------------------------------------------- tests


class Runner:
    """A plugin of pytest that runs the tests it collected again and again, in forks.

    Parameters
    ----------
    mutants : list of Mutant
    limit : float
        Seconds of the processor after which no further test of a mutant is begun.
    verdicts : Verdicts
        Where to write down what is found.
    """

    def __init__(self, mutants: list[Mutant], limit: float, verdicts: Verdicts) -> None:
        self.mutants = mutants
        self.limit = limit
        self.verdicts = verdicts
        self.failed = False
        self._killers: Counter[tuple[str, int]] = Counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take down that a test failed."""
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests unchanged, and then those of each mutant."""
        wanted = {(m.file, m.function) for m in self.mutants}
        found = {name: function_of(*name) for name in wanted}
        functions = {name: f for name, f in found.items() if f is not None}
        print(f"{len(session.items)} tests run unchanged", flush=True)
        status, answer = _in_fork(
            lambda folder, errors: self._calls(session.items, functions, folder, errors), None
        )
        if status != "ended" or answer is None:
            raise SystemExit("the tests fail without any change")
        calls, seconds, modules = answer
        # Here once, not in each fork.
        for name in modules:
            with suppress(Exception):
                importlib.import_module(name)
        print(f"{sum(seconds.values()):.0f} s, {len(calls)} functions reached", flush=True)
        gc.freeze()  # what the forks share stays shared
        for mutant in self.mutants:
            name = (mutant.file, mutant.function)
            if name not in functions:
                outcome = "not Python"
            elif not calls.get(name):
                outcome = "no test"
            else:
                outcome = self._judge(mutant, session.items, calls[name], seconds)
            self.verdicts.add(mutant, outcome)
            if outcome not in _NOTICED:
                told = f"{mutant.file}:{mutant.line} {mutant.function}"
                change = mutant.name.partition(": ")[2]
                print(f"{outcome:10} {told}: {change}", flush=True)
        return True

    def _judge(
        self, mutant: Mutant, items: list[Any], chosen: set[int], seconds: dict[int, float]
    ) -> str:
        # What killed another mutant of the file may well kill this one.
        order = sorted(chosen, key=lambda i: seconds[i] / (1 + self._killers[mutant.file, i]))
        most = self.limit + _PATIENCE + _TIMES * max(seconds[i] for i in order)

        def work(folder: Path, _: int) -> int | None:
            _give_children(folder, {mutant.file: apply(mutant)})
            for at, i in enumerate(order):
                after = items[order[at + 1]] if at + 1 < len(order) else None
                # By default the alarm ends this process.
                signal.setitimer(signal.ITIMER_REAL, _CLOCK * (_PATIENCE + _TIMES * seconds[i]))
                self._run(items[i], after)
                if self.failed:
                    return i
                if sum(os.times()[:4]) > self.limit:  # with ended processes of its own
                    return None
            return None

        status, killer = _in_fork(work, most)
        if killer is not None:
            self._killers[mutant.file, killer] += 1
        if status == "ended":
            return "survived" if killer is None else "killed"
        return status

    @staticmethod
    def _run(item: Any, after: Any) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)

    def _calls(
        self, items: list[Any], functions: dict[Any, FunctionType], folder: Path, errors: int
    ) -> Any:
        """Return which tests call which function, and how long each takes; tell what fails."""
        called: set[Any] = set()
        told, mine = folder / "calls", os.getpid()

        def note(which: tuple[str, str]) -> None:
            if which not in called:
                called.add(which)
                if os.getpid() != mine:  # a fork, whose set is not ours
                    with told.open("a") as file:
                        file.write("\t".join(which) + "\n")

        builtins.note_call = note
        trees = {file: _tree(file) for file, _ in functions}
        for (file, name), function in functions.items():
            (node,) = (f for found, f in _functions(trees[file]) if found == name)
            node.body[:0] = ast.parse(f"note_call({(file, name)!r})").body
            _give_code(function, trees[file], file)
        _give_children(folder, trees)
        calls: dict[Any, set[int]] = {}
        seconds: dict[int, float] = {}
        for i, item in enumerate(items):
            told.write_text("")
            started = time.monotonic()
            self._run(item, items[i + 1] if i + 1 < len(items) else None)
            seconds[i] = time.monotonic() - started
            called |= {tuple(line.split("\t")) for line in told.read_text().splitlines()}
            if self.failed:
                # It says nothing of a mutant; on a busy machine one that looks at the clock may.
                os.write(errors, f"{item.nodeid} fails without any change\n".encode())
                self.failed = False
            else:
                for name in called:
                    calls.setdefault(name, set()).add(i)
            called.clear()
        return calls, seconds, list(sys.modules)


def _in_fork(work: Any, most: float | None) -> tuple[str, Any]:
    """Return how a fork of this process ended, and what the work in it returned."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer"
        child = os.fork()
        if not child:
            _as_child(work, file, most)
        # Before it is waited for its number, that of its group, is not given to another process.
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _, how = os.waitpid(child, 0)
        if os.WIFSIGNALED(how) and os.WTERMSIG(how) in (signal.SIGXCPU, signal.SIGALRM):
            return "time-out", None
        return ("ended", pickle.loads(file.read_bytes())) if file.exists() else ("died", None)


def _as_child(work: Any, file: Path, most: float | None) -> None:
    try:
        os.setsid()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
        if most is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most), resource.RLIM_INFINITY))
        errors = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        answer = work(file.parent, errors)
        half = file.with_suffix(".half")
        half.write_bytes(pickle.dumps(answer))
        half.rename(file)
    finally:
        os._exit(0)


# --------------------------------------------------------------------------- command


def explained() -> dict[str, str]:
    """Return the mutants that change nothing promised, each with the reason."""
    lines = EXPLAINED.read_text().splitlines() if EXPLAINED.exists() else []
    found, reason = {}, ""
    for line in lines:
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


def main(arguments: list[str]) -> int:
    """Run the mutants; return 1 when one of them survives."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutate", description=__doc__)
    parser.add_argument("files", nargs="*", help=f"of {', '.join(TARGETS)}, or files of these")
    parser.add_argument("--most", type=int, help="mutants of a file to run at most, drawn")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for a mutant's tests")
    parser.add_argument("--tests", nargs="+", help="tests to run instead of those of the table")
    parser.add_argument("--keep", type=Path, help="file of the verdicts, to go on from")
    given = parser.parse_args(arguments)
    keep = None if given.keep is None else given.keep.absolute()
    os.chdir(ROOT)
    verdicts = Verdicts(keep)
    every: list[Mutant] = []
    for target, tests in TARGETS.items():
        listed = sorted(str(p.relative_to(ROOT)) for p in (ROOT / target).glob("*.py"))
        files = [
            file
            for file in sorted({*listed} - {*TARGETS}) or [target]
            if not given.files or any(file.startswith(wanted) for wanted in given.files)
        ]
        waiting = []
        for file in files:
            found = mutants_of(file)
            every += found
            waiting += _drawn(found, given.most, given.seed, verdicts)
        if waiting:
            _run(waiting, given.tests or tests, given.limit, verdicts)
    return _print_table(every, verdicts)


def _drawn(found: list[Mutant], most: int | None, seed: int, verdicts: Verdicts) -> list[Mutant]:
    """Return those mutants of a file that are to be run: survivors, and so many others."""
    known = explained()
    chosen = list(range(len(found)))
    if most is not None:
        # The first of a draw are the same whatever the number: more can be asked for later.
        random.Random(seed).shuffle(chosen)
    drawn = {*chosen[:most]}
    return [
        mutant
        for i, mutant in enumerate(found)
        if (i in drawn or verdicts.of(mutant) is not None)
        and mutant.name not in known
        and verdicts.of(mutant) not in _NOTICED
    ]


def _run(mutants: list[Mutant], tests: Sequence[str], limit: float, verdicts: Verdicts) -> None:
    started = time.monotonic()
    # The alarm is ours.
    options = ["-q", "-s", "-n", "0", "--timeout=0", "--tb=native"]
    options += ["-p", "no:cacheprovider", "-p", "no:randomly"]
    pytest.main([*options, *tests], plugins=[Runner(mutants, limit, verdicts)])
    print(f"{len(mutants)} mutants, {time.monotonic() - started:.0f} s\n", flush=True)


def _print_table(every: list[Mutant], verdicts: Verdicts) -> int:
    """Print what became of the mutants of each file; return 1 when one of them survives."""
    known = explained()
    counts: dict[str, Counter[str]] = {}
    for mutant in every:
        outcome = "explained" if mutant.name in known else verdicts.of(mutant)
        counts.setdefault(mutant.file, Counter())[outcome or "not run"] += 1
    print("| file | mutants | run | killed | by time-out | explained | survived |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    survivors = 0
    for file, count in counts.items():
        if not count:
            continue
        share = 1 - count["not run"] / count.total()
        survived = count["survived"] + count["no test"] + count["not Python"]
        survivors += survived
        killed = (count["killed"] + count["died"], count["time-out"], count["explained"])
        row = (f"`{file}`", count.total(), f"{share:.0%}", *killed, survived)
        print("| " + " | ".join(map(str, row)) + " |")
    return int(survivors > 0)
