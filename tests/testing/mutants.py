"""Encodings with one mistake each, of the kinds that students make: ours, with a text changed."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

from cpx.models.monomial.encodings import channelling, clausal, common, reified
from tests.testing import counter

MODULES = {
    "clausal": clausal,
    "channelling": channelling,
    "reified": reified,
    "counter": counter,
}


class Mutant(NamedTuple):
    """A mistake: in which encoding, what is changed, the fault, and what it breaks on."""

    name: str
    encoding: str
    old: str
    new: str
    fault: str
    breaks_on: str = ""

    def __str__(self) -> str:
        return self.name


def built(mutant: Mutant) -> Any:
    """Return the function with the mistake; the text that is changed stands there once."""
    parts = [inspect.getsource(module) for module in (common, MODULES[mutant.encoding])]
    known = r"^from (?:cpx\.models\.monomial\.encodings\.common|__future__) import "
    ours = re.compile(known + r"(?:\(.*?\)|[^\n]*)$", re.MULTILINE | re.DOTALL)
    source = ours.sub("", "\n".join(parts))
    if mutant.old:
        assert source.count(mutant.old) == 1, mutant
        source = source.replace(mutant.old, mutant.new)
    namespace: dict[str, Any] = {"__name__": "mutant"}
    exec(compile("from __future__ import annotations\n" + source, "mutant.py", "exec"), namespace)
    return namespace[mutant.encoding]


_SUM = 'model.sum("sum_j X_j <= k", np.ones_like(X), X, "<=", form.k)'
_CHOICE = "    _choice(form, model, X)\n"
_IMPLIED = 'model.implications("X_j -> AND_{i : j in M_i} U_i", X, differs[paid].T, conclusions)'
_SOME = "some = differs[paid].any(axis=0)\n    "

MUTANTS = [
    # The number of features.
    Mutant("one too many", "clausal", _SUM, _SUM.replace("form.k", "form.k + 1"), "too weak"),
    Mutant("one too few", "clausal", _SUM, _SUM.replace("form.k", "form.k - 1"), "too strong"),
    Mutant("exactly k", "clausal", _SUM, _SUM.replace('"<="', '"=="'), "too strong"),
    Mutant("no number", "clausal", _SUM, _SUM.replace('"<=", form.k', '">=", 0'), "too weak"),
    Mutant(
        "k = 0 is no limit", "clausal", "if form.k < X", "if 0 < form.k < X", "too weak", "k = 0"
    ),
    Mutant("no limit next to d", "reified", "form.k < d", "form.k < d - 1", "too weak"),
    Mutant(
        "no empty rule",
        "clausal",
        _CHOICE,
        _CHOICE + "    model.clauses('', X[:1], np.ones((1, X.size), dtype=bool), X)\n",
        "too strong",
    ),
    Mutant("size from 1", "channelling", "intvar(0, form.k", "intvar(1, form.k", "too strong"),
    Mutant(
        "crashes at k = 0",
        "channelling",
        'shape=(1,), name="K") if form.k else cp.cpm_array([0])',
        'shape=(1,), name="K")[: form.k]',
        "fails",
        "k = 0",
    ),
    # Samples that are covered and not.
    Mutant(
        "where it agrees, C",
        "clausal",
        "C, differs[covering], X",
        "C, ~differs[covering], X",
        "wrong objective",
    ),
    Mutant(
        "where it agrees, U",
        "clausal",
        _IMPLIED,
        _IMPLIED.replace("differs", "~differs"),
        "wrong objective",
    ),
    Mutant(
        "or for and",
        "clausal",
        _IMPLIED,
        _SOME + "model.clauses('', -X[some], differs[paid].T[some], conclusions)",
        "wrong objective",
    ),
    Mutant(
        "implied the other way",
        "clausal",
        _IMPLIED,
        _SOME + "model.clauses('', X[some], differs[paid].T[some], -conclusions)",
        "wrong objective",
    ),
    Mutant(
        "samples like x",
        "clausal",
        "C, differs[covering], X",
        "*(one[differs[covering].any(axis=1)] for one in (C, differs[covering])), X",
        "wrong objective",
    ),
    Mutant(
        "samples like x, reified", "reified", "else covered\n", "else True\n", "wrong objective"
    ),
    Mutant("all for any", "reified", "~cp.any(mis", "~cp.all(mis", "wrong objective"),
    Mutant(
        "one direction",
        "reified",
        "covered == ~cp.any(mismatching)",
        "covered.implies(~cp.any(mismatching))",
        "wrong objective",
    ),
    Mutant("as printed", "channelling", "exact_size=True", "exact_size=False", "wrong objective"),
    Mutant("less for at most", "channelling", "met <= 0", "met < 0", "wrong objective"),
    Mutant(
        "kinds exchanged",
        "channelling",
        "if positive[i]:",
        "if not positive[i]:",
        "wrong objective",
    ),
    # The objective.
    Mutant(
        "the other cost",
        "clausal",
        "form.cost_uncovered[uncovering])",
        "form.cost_covered[uncovering])",
        "wrong objective",
    ),
    Mutant(
        "no weights",
        "reified",
        "weights = [int(w) for",
        "weights = [int(np.sign(w)) for",
        "wrong objective",
        "weights",
    ),
    Mutant(
        "no constant",
        "reified",
        "offset=int(form.cost_uncovered.sum())",
        "offset=0",
        "wrong objective",
    ),
    Mutant(
        "maximised",
        "reified",
        "cp.Model(stated, minimize",
        "cp.Model(stated, maximize",
        "wrong objective",
    ),
    Mutant(
        "constant twice",
        "clausal",
        "complete=complete,\n",
        "complete=complete,\n        offset=int(form.cost_uncovered.sum()),\n",
        "wrong objective",
    ),
    # What else may be asked.
    Mutant(
        "nothing forbidden",
        "reified",
        "for j in form.forbidden",
        "for j in ()",
        "too weak",
        "forbidden",
    ),
    Mutant(
        "nothing required",
        "reified",
        "for j in form.required",
        "for j in ()",
        "too weak",
        "required",
    ),
    Mutant(
        "two of a group",
        "clausal",
        'members, "<=", 1)',
        'members, "<=", 2)',
        "too weak",
        "one_per_group",
    ),
    Mutant(
        "small groups",
        "clausal",
        "members.size > 1:\n            line",
        "members.size > 2:\n            line",
        "too weak",
        "one_per_group",
    ),
    Mutant(
        "one of each group",
        "clausal",
        'members, "<=", 1)',
        'members, "==", 1)',
        "too strong",
        "one_per_group",
    ),
    Mutant(
        "no limits",
        "clausal",
        "limit_sums(form.limits, low, high)",
        "[]",
        "too weak",
        "limits",
    ),
    Mutant(
        "more than the least",
        "reified",
        '">=", limits.least',
        '">=", limits.least + 1',
        "too strong",
        "limits",
    ),
    Mutant(
        "less than the most",
        "reified",
        '"<=", limits.most',
        '"<=", limits.most - 1',
        "too strong",
        "limits",
    ),
    Mutant(
        "precision of another ratio",
        "reified",
        "((q - p) * w, low)",
        "(q * w, low)",
        "too weak",
        "limits",
    ),
    Mutant(
        "counted though uncovered",
        "clausal",
        "under & (form.cost_uncovered == 0)",
        "under & False",
        "too weak",
        "limits",
    ),
    Mutant(
        "covered and not counted",
        "clausal",
        "over & (form.cost_covered == 0)",
        "over & False",
        "too weak",
        "limits",
    ),
    Mutant(
        "one of equal features",
        "clausal",
        _CHOICE,
        _CHOICE
        + "    same = (form.agreement[:, :, None] == form.agreement[:, None]).all(axis=0)\n"
        "    model.implications('', X, np.tril(same, -1), X)\n",
        "too strong",
    ),
    # A counter.
    Mutant(
        "never full", "counter", "X[j].implies(~S[j - 1, k - 1])", "X[j].implies(True)", "too weak"
    ),
    Mutant("last feature uncounted", "counter", "range(1, d)", "range(1, d - 1)", "too weak"),
    Mutant(
        "carries too much",
        "counter",
        "S[j - 1, c - 1]).implies(S[j, c])",
        "S[j - 1, c - 1]).implies(S[j, k - 1])",
        "too strong",
    ),
    Mutant(
        "full too early",
        "counter",
        "X[j].implies(~S[j - 1, k - 1])",
        "X[j].implies(~S[j - 1, k - 2])",
        "too strong",
    ),
    Mutant(
        "does not remember",
        "counter",
        "rows.append(S[j - 1, c].implies(S[j, c]))",
        "pass",
        "too weak",
    ),
    # Values of known solutions.
    Mutant(
        "completes U as C",
        "clausal",
        "(~covered[uncovering])",
        "(covered[uncovering])",
        "wrong complete",
    ),
    Mutant(
        "completes no X",
        "clausal",
        '    values["X"][list(chosen)] = 1\n        values["C"]',
        '    values["C"]',
        "wrong complete",
    ),
    Mutant("completes k", "channelling", "[len(chosen)]", "[form.k]", "wrong complete"),
    Mutant(
        "completes no K",
        "channelling",
        '        if form.k:\n            values["K"] =',
        '        if not form.k:\n            values["K"] =',
        "wrong complete",
    ),
    Mutant(
        "completes a counter of all",
        "counter",
        "np.cumsum(chosen_ones)[:, None]",
        "np.sum(chosen_ones) + 0 * np.arange(d)[:, None]",
        "wrong complete",
    ),
]
