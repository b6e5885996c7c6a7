"""Instances as text: for reading (:func:`show`), and in solver formats (:func:`export_bytes`).

One writer per file. A writer takes the problem, its statement and the name of the encoding
and returns a :class:`~cpx.export.document.Document`; compiling is done by the same code
that the backends use, so what is shown is what is solved.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from cpx.backends.maxsat.cardinality import known_at_most
from cpx.errors import InvalidOption, UnknownName
from cpx.export.document import Document
from cpx.export.legend import Legend, read_legend
from cpx.modelling.encodings import stated_in
from cpx.support.validation import positive_integer

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

__all__ = ["EXPORT_FORMS", "SHOW_FORMS", "Legend", "export_bytes", "read_legend", "show"]

SHOW_FORMS: tuple[str, ...] = (
    "statement",
    "latex",
    "cpmpy",
    "flat",
    "cnf",
    "wcnf",
    "opb",
    "lp",
    "mps",
    "cp-sat",
    "minizinc",
    "flatzinc",
    "xcsp3",
)
"""Forms that :func:`show` knows."""

EXPORT_FORMS: tuple[str, ...] = SHOW_FORMS[SHOW_FORMS.index("wcnf") :]
"""Forms that :func:`export_bytes` knows: those that other programs read."""

CLAUSAL_FORMS = ("cnf", "wcnf", "opb")
"""Forms in which "at most k of these" can be clauses of one's choice."""

_WRITERS = {
    "statement": "statement:in_words",
    "latex": "latex:latex",
    "cpmpy": "cpmpy_text:cpmpy_model",
    "flat": "cpmpy_text:flat_model",
    "cnf": "clauses:cnf",
    "wcnf": "clauses:wcnf",
    "opb": "opb:opb",
    "lp": "lp_mps:lp",
    "mps": "lp_mps:mps",
    "cp-sat": "cp_sat:cp_sat",
    "minizinc": "minizinc:minizinc",
    "flatzinc": "flatzinc:flatzinc",
    "xcsp3": "xcsp3:xcsp3",
}


def show(
    problem: Problem,
    form: str,
    encoding: str | None = None,
    *,
    limit: int = 60,
    full: bool = False,
    at_most: str | None = None,
) -> str:
    """Return a problem in a form, for reading.

    Parameters
    ----------
    problem : Problem
        What to show.
    form : str
        One of :data:`SHOW_FORMS`: ``statement`` (words and mathematics), ``latex`` (the
        mathematics of this instance), ``cpmpy`` (the model as stated), ``flat`` (after CPMpy's
        flattening), ``cnf`` (hard clauses, with names), ``wcnf``, ``opb``, ``lp``, ``mps``,
        ``cp-sat``, ``minizinc``, ``flatzinc`` and ``xcsp3`` (the files of :func:`export_bytes`).
    encoding : str, optional
        Name of the encoding; default is the problem's first. Without a name, the form
        ``statement`` of a problem that has none is its words, and why there is none.
    limit : int
        Most items (clauses, rows, lines) to show; each kind keeps a few. What is left out
        is counted.
    full : bool
        Show everything.
    at_most : str, optional
        How "at most k of these" becomes clauses, of the forms ``cnf``, ``wcnf`` and ``opb``:
        ``pairwise``, ``sequential``, ``totalizer``, ``cardinality-network`` or ``adder``.
        Default: what is small, and in ``opb`` the row that it is.

    Raises
    ------
    UnknownName
        When there is no such form or encoding.
    InvalidOption
        When the limit is not positive, the problem has no statement to show, or the form has no
        clauses for ``at_most``.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples([[1, 0], [1, 1], [0, 1]], [1, 1, 0], features=("a <= 1", "b"))
    >>> print(show(KMonomial(samples, k=1), "cpmpy"))
    # k-monomial, encoding clausal
    # the CPMpy model as stated
    # 5 variables, 3 constraints
    # objective = value + 0
    # X[0]: a <= 1
    # X[1]: b
    minimise sum(C[0], U[0], U[1])
    subject to
      # sum_j X_j <= k
      (X[0]) + (X[1]) <= 1
      # C_i or OR_{j in M_i} X_j: sample 2
      (C[0]) or (X[0])
      # X_j -> AND_{i : j in M_i} U_i: b, sample 0
      (X[1]) -> (and(U[0]))
    <BLANKLINE>
    """
    positive_integer("limit", limit)
    document = _document(problem, form, SHOW_FORMS, encoding, at_most)
    return document.text() if full else document.cut(limit)


def export_bytes(
    problem: Problem, form: str, encoding: str | None = None, *, at_most: str | None = None
) -> bytes:
    """Return a problem as a complete file that other solvers read.

    Parameters
    ----------
    problem : Problem
        What to export.
    form : str
        One of :data:`EXPORT_FORMS`: ``wcnf`` (MaxSAT, the format since 2022), ``opb``
        (pseudo-Boolean), ``lp`` and free ``mps`` (integer programs), ``cp-sat`` (text of a
        ``CpModelProto``), ``minizinc`` (a model to read and to teach), ``flatzinc`` and
        ``xcsp3`` (linear constraints over integers).
    encoding : str, optional
        Name of the encoding; default is the problem's first.
    at_most : str, optional
        See :func:`show`.

    Returns
    -------
    bytes
        UTF-8. The comments at the beginning say what the variables stand for, and how the
        problem's objective follows from the value of the file: no format has a place for
        the constant of the objective that all readers respect. :func:`read_legend` reads
        these comments. To be written with :func:`cpx.support.files.write_atomic`.

    Raises
    ------
    UnknownName
        When there is no such form or encoding.
    InvalidOption
        When the problem has no statement, or the form has no clauses for ``at_most``.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples([[1, 0], [1, 1], [0, 1]], [1, 1, 0], features=("a <= 1", "b"))
    >>> data = export_bytes(KMonomial(samples, k=1), "wcnf")
    >>> read_legend(data).features([1, -2, -3])
    [0]
    """
    document = _document(problem, form, EXPORT_FORMS, encoding, at_most)
    return document.text().encode("utf-8", "replace")


def _document(
    problem: Problem,
    form: str,
    known: tuple[str, ...],
    encoding: str | None,
    at_most: str | None,
) -> Document:
    from cpx.modelling.ratio import RatioProblem

    if form not in known:
        raise UnknownName("form", form, known)
    known_at_most(at_most)
    if at_most is not None and form not in CLAUSAL_FORMS:
        raise InvalidOption(
            f"at_most is for the forms {', '.join(CLAUSAL_FORMS)}: {form} has no such clauses"
        )
    if form == "statement" and encoding is None and problem._unstated:
        from cpx.export.statement import unstated_in_words

        return unstated_in_words(problem)
    name = stated_in(problem, encoding).name
    if isinstance(problem, RatioProblem) and form != "statement":
        # A file's objective is that of its statement, which is a step.
        problem = problem.first_step()
    module, _, function = _WRITERS[form].partition(":")
    write: Callable[..., Document] = getattr(import_module(f"cpx.export.{module}"), function)
    chosen = {"at_most": at_most} if form in CLAUSAL_FORMS else {}
    return write(problem, problem.model(name), name, **chosen)
