"""Side constraints in column generation: on single rules for pricing, rows for the master."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraint, SideConstraints
from cpx.models.rule_set.methods.column_generation.table import Features

__all__ = ["demands", "of_each_rule"]


def of_each_rule(
    rows: Sequence[LinearConstraint], forbidden: Iterable[int] = ()
) -> SideConstraints:
    """Return what each rule of an allowed set keeps: other rules can add what counts above 0.

    rows: On the literals of all rules of a set together.
    forbidden: Literals that no rule may have.

    >>> implies = LinearConstraint(((1, (0,)), (-1, (1,))), 0)
    >>> excludes = LinearConstraint(((-1, (1,)), (-1, (2,))), -1)
    >>> side = of_each_rule([implies, excludes])
    >>> side.allow([1]), side.allow([1, 2])
    (True, False)
    """
    found = [LinearConstraint(((-1, (j,)),), 0) for j in forbidden]
    for row in rows:
        added = sum(factor for factor, _ in row.terms if factor > 0)
        terms = tuple(term for term in row.terms if term[0] < 0)
        found.append(LinearConstraint(terms, row.at_least - added))
    return SideConstraints((SideConstraint("", tuple(found)),))


def demands(rows: Sequence[LinearConstraint]) -> list[Features]:
    """Return sets of literals: every allowed set has a rule with a literal of each.

    Of a constraint without which terms above 0 it fails, each is one; where it fails without no
    single one, the union of the greatest terms is, as few as it fails without.

    >>> either = LinearConstraint(((1, (0,)), (1, (1, 2)), (-1, (3,))), 1)
    >>> both = LinearConstraint(((1, (0,)), (1, (1, 2))), 2)
    >>> demands([either, both])
    [(0, 1, 2), (0,), (1, 2)]
    """
    found: dict[Features, None] = {}
    for row in rows:
        gains = sorted((term for term in row.terms if term[0] > 0), key=lambda term: -term[0])
        spare = sum(factor for factor, _ in gains) - row.at_least
        alone = [any_of for factor, any_of in gains if factor > spare]
        if row.at_least <= 0:
            continue
        if not alone:
            together: set[int] = set()
            for factor, any_of in gains:
                if spare < 0:
                    break
                spare -= factor
                together |= {*any_of}
            alone = [tuple(sorted(together))]
        found |= dict.fromkeys(alone)
    return list(found)
