"""Running a peer package in an interpreter of its own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import EngineError, EngineMissing
from cpx.processes.children import Child, scratch

__all__ = ["ask"]

DRIVER = Path(__file__).with_name("rule_driver.py")
_HOMES = {
    "brcg": ("CPX_AIX360", "pip install 'aix360[rbm]' ecos"),
    "skope": ("CPX_IMODELS", "pip install 'cpx-explain[imodels]'"),
    "bayesian": ("CPX_IMODELS", "pip install 'cpx-explain[imodels]'"),
}


def ask(
    method: str,
    features: NDArray[np.bool_],
    same: NDArray[np.bool_],
    asked: dict[str, Any],
    python: str | None = None,
) -> dict[str, Any]:
    """Return what the driver answers: ``rules``, ``seconds`` and ``versions``.

    Parameters
    ----------
    method : {"brcg", "skope", "bayesian"}
    features : array of bool, shape (m, q)
    same : array of bool, shape (m,)
    asked : mapping
        The method's own parameters.
    python : str, optional
        The interpreter. Default: the method's environment variable, or else this one.

    Raises
    ------
    EngineMissing
        When the interpreter is not there or does not have the package.
    EngineError
        When the package fails.
    """
    variable, pip = _HOMES[method]
    python = python or os.environ.get(variable) or sys.executable
    question = {
        **asked,
        "method": method,
        "shape": list(features.shape),
        "features": base64.b64encode(np.packbits(features).tobytes()).decode(),
        "same": "".join("01"[int(s)] for s in same),
    }
    # The order of sets of texts decides in imodels; what this Python has is not the other's.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["PYTHONHASHSEED"] = "0"
    environment["PYTHONSAFEPATH"] = "1"
    with scratch("cpx-peer-") as folder:
        asking, telling = folder / "question.json", folder / "answer.json"
        asking.write_text(json.dumps(question))
        try:
            child = Child(
                [python, str(DRIVER), str(asking), str(telling)],
                folder,
                environment=environment,
                guarded=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise EngineMissing(f"no interpreter {python}: {error}") from error
        with child:
            _, said = child.process.communicate()
        if child.process.returncode:
            last = (said.strip().splitlines() or ["no message"])[-1]
            raise EngineError(f"{python} ends with {child.process.returncode}: {last}")
        told: dict[str, Any] = json.loads(telling.read_text())
    if "missing" in told:
        raise EngineMissing(
            f"{method} cannot be imported by {python} ({told['missing']}): {pip}; {variable} "
            "names an interpreter that has it"
        )
    if "error" in told:
        raise EngineError(f"{method} fails: {told['error']}")
    return told
