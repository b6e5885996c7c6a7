"""Ctrl-C while a classifier is trained: no answer about a half-trained one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cpx.data import named_classifier
from cpx.models.monomial.explainers.rule import RuleExplainer
from cpx.processes.interrupts import interruptible

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def _table(rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 20))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=rows) > 0).astype(int)


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt a network soon after its training began, however busy the machine is."""
    from sklearn.neural_network import MLPClassifier

    fit = MLPClassifier._fit

    def told(*args: Any, **options: Any) -> Any:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            return fit(*args, **options)
        finally:
            timer.cancel()

    monkeypatch.setattr(MLPClassifier, "_fit", told)


@pytest.mark.usefixtures("_interrupted")
def test_the_named_network_is_not_left_half_trained() -> None:
    X, y = _table(20_000)
    with pytest.raises(KeyboardInterrupt):
        named_classifier("mlp").fit(X, y)


@pytest.mark.usefixtures("_interrupted")
def test_a_network_of_the_user_is_not_left_half_trained() -> None:
    from sklearn.neural_network import MLPClassifier

    X, y = _table(20_000)
    explainer = RuleExplainer(MLPClassifier(max_iter=500), X)
    with pytest.raises(KeyboardInterrupt), pytest.warns(UserWarning, match="interrupted by user"):
        explainer.fit(X, y)


def test_the_handler_of_the_caller_comes_back_and_decides() -> None:
    told: list[int] = []

    def count(number: int, _: object) -> None:
        told.append(number)

    before = signal.signal(signal.SIGINT, count)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is count
    finally:
        signal.signal(signal.SIGINT, before)
    assert told == [signal.SIGINT]


def test_another_thread_may_train() -> None:
    X, y = _table(100)
    fitted: list[Any] = []
    thread = threading.Thread(target=lambda: fitted.append(named_classifier("mlp").fit(X, y)))
    thread.start()
    thread.join()
    assert len(fitted) == 1


@pytest.mark.parametrize(
    "command",
    ["make rule", *(pytest.param(c, marks=pytest.mark.slow) for c in ("explain", "learn"))],
)
def test_a_command_ends_without_a_file(command: str, tmp_path: Path) -> None:
    X, y = _table(6_000)
    table, output = tmp_path / "table.csv", tmp_path / "out.json"
    header = ",".join([*(f"x{j}" for j in range(20)), "y"])
    np.savetxt(table, np.column_stack([X, y]), "%.3f", ",", header=header, comments="")
    extra = ["--model", "mlp"] if command == "learn" else ["--row", "3"]
    # Says when it trains: the moment of the interrupt is then no matter of luck.
    code = (
        "import sys, sklearn.neural_network as n\n"
        "fit = n.MLPClassifier._fit\n"
        "def told(*a, **k):\n    print('training', flush=True)\n    return fit(*a, **k)\n"
        "n.MLPClassifier._fit = told\n"
        "from cpx.cli.app import main\n"
        f"sys.argv = {['cpx', *command.split(), str(table), '--target', 'y', *extra]}\n"
        f"sys.argv += {['-o', str(output)]}\n"
        "main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    told = [line for line in err.splitlines() if not line.startswith("cpx: training mlp on")]
    assert (out, told) in [("", []), ("", ["cpx: interrupted"])]
    assert not output.exists()
