"""Programs of the user's own: real ones, and ones that break in every way."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import textwrap
import time
from pathlib import Path

import pytest

import cpx
from cpx.answers.result import Status, Termination
from cpx.backends import backend, backend_class
from cpx.backends.program.configuration import definitions, place
from cpx.errors import EngineError, EngineMissing, UnknownName
from cpx.modelling.encodings import stated_in
from cpx.models.monomial.cases import medium
from cpx.solving.servers import shutdown
from cpx.testing import conformance
from tests.processor_time import processor_seconds

REAL = {
    "clasp-opb": ["clasp", "{file}"],
    "clasp-wcnf": ["clasp", "{file}"],
    "sat4j-opb": ["java", "-jar", "/usr/share/java/org.sat4j.pb.jar", "{file}"],
    "glpsol-mps": ["glpsol", "--freemps", "{file}", "-w", "{solution}", "--tmlim", "{seconds}"],
    "glpsol-lp": ["glpsol", "--lp", "{file}", "-w", "{solution}"],
    "gecode": ["fzn-gecode", "-a", "{file}"],
}
FORMATS = {
    "clasp-opb": "opb",
    "clasp-wcnf": "wcnf-classic",
    "sat4j-opb": "opb",
    "glpsol-mps": "mps",
    "glpsol-lp": "lp",
    "gecode": "flatzinc",
}
# Sums beyond the 32 bits of clasp and Gecode, and beyond the tolerances of glpsol.
BEYOND = {"max_precision_heavy", "max_coverage_heavy", "reason_sum_rounded", "rules_heavy"}
TINY = conformance.cases("monomial")[0].problem  # optimum 0
ANSWERED = conformance.cases("monomial")[1]  # optimum 1


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "programs.toml"
    path.write_text(
        "".join(
            f'[{name}]\ncommand = {command!r}\nformat = "{FORMATS[name]}"\n'
            for name, command in REAL.items()
        )
    )
    monkeypatch.setenv("CPX_PROGRAMS", str(path))
    shutdown()  # workers have the environment of their start
    return path


def there(name: str) -> object:
    program = REAL[name][2 if name == "sat4j-opb" else 0]
    absent = shutil.which(program) is None and not Path(program).exists()
    skip = pytest.mark.skipif(absent, reason=f"{program} is not installed")
    return pytest.param(name, marks=[skip], id=name)


def case(number: int) -> tuple[conformance.Case, str]:
    each = conformance.cases("monomial", "stated-reason", "certificate", "rule-set")
    found = each[number % len(each)]
    return found, found.encodings[number % len(found.encodings)]


@pytest.mark.parametrize("name", [there(name) for name in REAL])
def test_real_programs(name: str) -> None:
    for number in (0, 40, 80):  # a rule, a set and a reason
        found, encoding = case(number)
        result = cpx.solve(found.problem, f"program:{name}", encoding=encoding, isolate=False)
        conformance.check_result(result, found.problem, found.optimum, closed=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [there(name) for name in REAL])
def test_real_programs_on_everything(name: str) -> None:
    proved = 0
    for number in range(117):
        found, encoding = case(number)
        if found.name in BEYOND:
            continue
        # Not each is proved: clasp proves no decision, and glpsol's tolerances are wide.
        result = cpx.solve(found.problem, f"program:{name}", encoding=encoding)
        conformance.check_result(result, found.problem, found.optimum)
        if stated_in(found.problem, encoding).faithful:
            assert result.objective == found.optimum
        proved += result.proved
    assert proved > 80


@pytest.mark.parametrize("name", [there("clasp-opb")])
def test_a_real_program_is_stopped_at_the_limit(name: str) -> None:
    problem = next(medium(1, 1500, 40))
    result = cpx.solve(problem, f"program:{name}", time_limit=2)
    assert result.times.total < 15
    assert result.proved or result.termination is Termination.TIME_LIMIT
    assert result.status is not Status.ERROR


def fake(programs: Path, body: str, form: str = "opb", *more: str) -> str:
    """Define a program in Python; what it prints is its body's."""
    script = programs.with_name("fake.py")
    script.write_text(f"import os, sys, time\n{textwrap.dedent(body)}")
    command = [sys.executable, str(script), "{file}", *more]
    programs.write_text(f'[fake]\ncommand = {command!r}\nformat = "{form}"\n')
    return "program:fake"


def solve(engine: str, **options: object) -> cpx.Result:
    return cpx.solve(ANSWERED.problem, engine, isolate=False, **options)


# The statement of the case in clauses: x1, x2, x3 are the features, the rest follows.
RIGHT = "print('o 1'); print('s OPTIMUM FOUND'); print('v x1 -x2 -x3')"


def test_right_answer(programs: Path) -> None:
    result = solve(fake(programs, RIGHT))
    conformance.check_result(result, ANSWERED.problem, 1, closed=True)
    assert result.raw_status == "OPTIMUM FOUND"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("print('o 0'); print('s OPTIMUM FOUND'); print('v x1 -x2 -x3')", "claims the"),
        ("print('o 1'); print('s OPTIMUM FOUND')", "claims an optimum and printed no solution"),
        (
            "print('o 1'); print('s OPTIMUM FOUND'); print('v x1 x2 x3')",
            "for a solution that breaks a constraint",
        ),
        (
            "print('o 1'); print('v x1 -x2 -x3'); print('s UNSATISFIABLE')",
            "claims infeasibility",
        ),
        ("print('s MAYBE')", "unknown status: 's MAYBE'"),
        ("print('v x1 nonsense')", "no literal in a v line: 'nonsense'"),
        ("print('o much')", "no value: 'o much'"),
        ("print('parse error'); sys.exit(3)", "status 3 and without an answer: parse error"),
        ("os.abort()", "without an answer"),
        ("", "status 0 and without an answer"),
    ],
)
def test_wrong_claims_and_garbage_are_errors(programs: Path, body: str, told: str) -> None:
    result = solve(fake(programs, body))
    assert result.status is Status.ERROR
    assert told in result.error


def test_a_satisfiable_answer_proves_nothing(programs: Path) -> None:
    result = solve(fake(programs, "print('o 1\\ns SATISFIABLE\\nv x1 -x2 -x3')"), warm_start=False)
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 1, None)


def test_a_broken_solution_is_said_so(programs: Path) -> None:
    result = solve(fake(programs, "print('o 1\\ns SATISFIABLE\\nv x1 x2 x3')"), warm_start=False)
    assert result.objective is None
    assert "1 of its solutions break a constraint of the problem" in result.warnings


def test_bits_of_the_maxsat_evaluation(programs: Path) -> None:
    result = solve(fake(programs, "print('o 1\\ns OPTIMUM FOUND\\nv 100')", "wcnf"))
    conformance.check_result(result, ANSWERED.problem, 1, closed=True)


def test_too_much_output_is_ended(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpx.backends.program.run._MOST_PRINTED", 10**6)
    result = solve(fake(programs, "while True: print('c ' + 'x' * 1000)"))
    assert result.status is Status.ERROR
    assert "printed more than 1000000 bytes" in result.error


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("isolate", [False, True])
def test_a_hanging_program_is_killed_with_its_children(programs: Path, isolate: bool) -> None:
    alive = programs.with_name("alive")
    body = f"""
        import signal, subprocess
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print('o 1', flush=True); print('v x1 -x2 -x3', flush=True); print('o 1', flush=True)
        code = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\\n"
        code += "while True: open({str(alive)!r}, 'w').write('x'); time.sleep(0.02)"
        subprocess.run([sys.executable, "-c", code])
    """
    start = processor_seconds()
    engine = fake(programs, body)
    result = cpx.solve(ANSWERED.problem, engine, isolate=isolate, time_limit=2)
    assert processor_seconds() - start < 20
    assert (result.status, result.objective) == (Status.FEASIBLE, 1)
    assert result.termination is Termination.TIME_LIMIT
    assert alive.exists()
    time.sleep(0.3)
    alive.unlink()
    time.sleep(0.3)
    assert not alive.exists()


def test_unknown_names_and_where_they_would_be(programs: Path) -> None:
    with pytest.raises(UnknownName, match=r"defined in .*programs\.toml.*did you mean 'gecode'"):
        backend("program:gecod")
    with pytest.raises(UnknownName):
        backend("program")
    programs.write_text("")
    assert backend_class("program").installed() == []


def test_missing_programs_are_named(programs: Path) -> None:
    programs.write_text('[gone]\ncommand = ["no-such-program", "{file}"]\nformat = "opb"\n')
    for isolate in (None, False):
        with pytest.raises(EngineMissing, match="'no-such-program' of program:gone is not found"):
            cpx.solve(TINY, "program:gone", isolate=isolate)
    assert "program:gone" not in backend_class("program").installed()


def test_a_relative_program_is_not_found_here(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(programs, RIGHT)
    here = programs.parent / "sub"
    here.mkdir()
    script = here / "tool"
    script.write_text("#!/bin/sh\necho s UNKNOWN\n")
    script.chmod(0o755)
    programs.write_text('[tool]\ncommand = ["sub/tool", "{file}"]\nformat = "opb"\n')
    monkeypatch.chdir(programs.parent)
    with pytest.raises(EngineMissing):
        cpx.solve(TINY, "program:tool", isolate=False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a", "no TOML"),
        ("a = 3", "a program is a table"),
        ('[a]\ncommand = "clasp"\nformat = "opb"', "command must be a list of texts"),
        ('[a]\ncommand = ["c"]\nformat = "opb"', "must have {file}"),
        ('[a]\ncommand = ["c", "{file}"]\nformat = "obp"', "did you mean 'opb'"),
        ('[a]\ncommand = ["c", "{fiel}"]\nformat = "opb"', "unknown placeholder {fiel} (did you"),
        ('[a]\ncommand = ["c", "{file}"]\nfromat = "opb"', "unknown key 'fromat' (did you mean"),
        ('[a]\ncommand = ["c", "{file}"]\nformat = "opb"\nanswer = "maxsat"', "cannot have"),
        ('[a]\ncommand = ["c", "{file}"]\nformat = "lp"', "needs {solution}"),
        ('["a b"]\ncommand = ["c", "{file}"]\nformat = "opb"', "names have letters"),
    ],
)
def test_definitions_that_make_no_sense(programs: Path, text: str, told: str) -> None:
    programs.write_text(text)
    with pytest.raises(EngineError) as raised:
        definitions()
    assert told in str(raised.value)
    assert str(programs) in str(raised.value)


def test_the_file_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CPX_PROGRAMS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert place() == tmp_path / "config" / "cpx" / "programs.toml"
    (tmp_path / "programs.toml").write_text("[a]\n")
    monkeypatch.chdir(tmp_path)
    assert definitions() == {}
    monkeypatch.setenv("CPX_PROGRAMS", str(tmp_path / "none.toml"))
    with pytest.raises(EngineError, match="no such file"):
        definitions()


def test_no_option_names_a_program() -> None:
    with pytest.raises(UnknownName, match="unknown option"):
        backend("program:clasp-opb{command=rm}")


def test_which_program_it_was_is_recorded(programs: Path, tmp_path: Path) -> None:
    script = tmp_path / "says.sh"
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = "--which" ]; then echo; echo "Says version 7.1"; exit; fi\n'
        "echo 's UNKNOWN'\n"
    )
    script.chmod(0o755)
    programs.write_text(
        f"[says]\ncommand = ['{script}', '{{file}}']\nformat = 'opb'\nversion = ['--which']\n"
        f"[mute]\ncommand = ['/bin/sh', '{script}', '{{file}}']\n"
        "format = 'opb'\nversion = ['-c', 'exit 3']\n"
    )
    checksum = hashlib.sha256(script.read_bytes()).hexdigest()
    for isolate in (True, False):
        result = cpx.solve(TINY, "program:says", isolate=isolate)
        assert result.versions["says"] == "7.1"
        assert result.versions["says command"] == f"{script} {{file}}"
        assert result.versions["says path"] == str(script)
        assert result.versions["says sha256"] == checksum
        assert f"program    says sha256 {checksum}" in str(result)
        (run,) = cpx.compare([TINY], "program:says").runs
        assert checksum in run.row(False)["versions"]
    script.write_text(script.read_text().replace("7.1", "7.2"))
    assert cpx.solve(TINY, "program:says", isolate=False).versions["says"] == "7.2"
    mute = cpx.solve(TINY, "program:mute").versions
    assert mute["mute"] == "unknown"
    assert mute[f"mute sha256 of {script}"] != mute["mute sha256"]


def test_programs_behind_engines_are_recorded() -> None:
    for engine, name in (("milp:cbc", "cbc"), ("milp:glpk", "glpk")):
        if (
            not backend_class("milp").available()
            or engine not in backend_class("milp").installed()
        ):
            pytest.skip(f"{engine} is not installed")
        versions = cpx.solve(TINY, engine).versions
        assert re.search("[0-9]", versions[name])
        assert len(versions[f"{name} sha256"]) == 64
