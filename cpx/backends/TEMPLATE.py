"""Template of a backend: copy it, fill in the five steps, register an entry point.

    [project.entry-points."cpx.backends"]
    exhaustive = "my_package.exhaustive:Exhaustive"

After ``pip install`` of your package ``cpx backends`` lists it, and ``cpx solve``,
``cpx compare`` and :func:`cpx.solve` take it by name. Nothing else has to be touched. Test it
with :mod:`cpx.testing.conformance`.

The engine below is complete: it tries all sets of features. Guideline marks, to be read in
this order:

[1] no engine is imported at module level, anywhere: ``requires`` is enough for
    ``available()``, and ``import cpx`` stays fast;
[2] phases are timed, and after each the engine asks whether it is time to stop;
[3] incumbents and bounds are reported as they come, from any thread; the objective is
    recomputed from the data by ``progress``;
[4] a search that was stopped proves nothing;
[5] the outcome says why it ended and repeats the engine's own words.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.modelling.base import Problem
from cpx.options import SolveOptions

__all__ = ["Exhaustive"]


class Exhaustive(Backend):
    """Tries every set of features; for tiny problems and as a template."""

    name: ClassVar[str] = "exhaustive"
    # Members of the family, the first is the default: ``exhaustive:forward``.
    solvers: ClassVar[tuple[str, ...]] = ()
    # [1] module -> pip requirement. A wrapped engine names its package here.
    requires: ClassVar[dict[str, str]] = {"cpmpy": "cpmpy>=1.1,<1.2", "numpy": "numpy>=2.0,<3"}
    # Which of threads, seed, gap and hint have an effect; the user is warned of the others.
    supported_options: ClassVar[frozenset[str]] = frozenset({"hint"})
    summary: ClassVar[str] = "all sets of features, one by one"

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`."""
        # [1] here, or in a module imported here, an engine would be imported.
        import numpy as np

        with progress.phase("state"):  # [2]
            # A CPMpy model, its named variables, and how to complete a known solution. An
            # engine with a CPMpy interface of its own hands ``statement.model`` to it.
            statement = problem.model(options.encoding)
        with progress.phase("compile"):
            width = len(statement.variables["X"])
            candidates = chain.from_iterable(
                combinations(range(width), size) for size in range(width + 1)
            )
        tried = 0
        with progress.phase("solve"):
            for chosen in candidates:
                if progress.should_stop:  # [2] time limit, Ctrl-C, or the gap is reached
                    return Outcome(  # [4]
                        proved=False,
                        termination=progress.why_stopped(),
                        raw_status=f"stopped after {tried} sets",
                    )
                values = {"X": np.isin(np.arange(width), chosen).astype(np.int64)}
                # [3] None when the set breaks a constraint. An engine with a relaxation
                # calls ``progress.bound(value + statement.offset)`` as well.
                progress.incumbent(values)
                tried += 1
        return Outcome(  # [5]
            proved=True,
            termination=Termination.COMPLETED,
            raw_status=f"tried {tried} sets",
            claimed=progress.objective,
            sizes={"variables": width},
        )
