"""Proofs that no careful rule costs less: a tree over what rules have and may have."""

import numpy as np

from cpx.check.proofs.document import Claim, Refused, refuse_unknown, whole_numbers


class Table:
    """What a proof needs of an instance; a part is (what its rules have, what they may have)."""

    def __init__(self, instance):
        # Not with limits or side constraints: a rule that breaks them may cost less.
        known = {"k", "alarm", "required", "forbidden"}
        refuse_unknown(instance, {"samples", "labels", "weights", "features", "groups"}, known)
        parameters = instance["parameters"]
        self.k, self.alarm = parameters["k"], parameters["alarm"]
        self.agrees = np.array([[bit == "1" for bit in row] for row in instance["samples"]])
        self.same = np.array([label == "1" for label in instance["labels"]])
        self.weights = np.array(instance.get("weights") or [1] * len(self.same), dtype=object)
        required, forbidden = (set(parameters.get(n, ())) for n in ("required", "forbidden"))
        may = set(range(self.agrees.shape[1])) - required - forbidden
        contradiction = required & forbidden or len(required) > self.k
        self.roots = [] if contradiction else [(required, may)]

    def least(self, part):
        """Return a lower bound on what a rule of a part costs.

        Proof. More features only cover less: a sample that those of all rules of the part do not
        cover is missed by each, and one that all features together cover is covered by each.
        """
        has, may = part
        covered = self.agrees[:, sorted(has)].all(axis=1)
        surely = covered & (self.agrees[:, sorted(may)].all(axis=1) | (len(has) == self.k))
        missed = self.weights[~covered & self.same].sum()
        return int(missed + self.alarm * self.weights[surely & ~self.same].sum())

    def halves(self, part, j):
        """Return the rules of a part that have a feature, and those that do not."""
        has, may = part
        if j not in may or len(has) == self.k:
            raise Refused(f"{j} is nothing that rules of this part may have")
        return [(has | {j}, may - {j}), (has, may - {j})]


def check(instance, document):
    """Refuse a proof that does not prove its claim about an instance."""
    table = Table(instance)
    left, claimed = [*table.roots], document.claim.bound
    while left:
        part, words = left.pop(), document.line()
        with document.named():
            if words == ["bound"]:
                if claimed is None or table.least(part) < claimed:
                    raise Refused(f"the bound is {table.least(part)}")
            elif words[0] == "split" and len(words) == 2:
                left += table.halves(part, *whole_numbers(words[1:]))
            else:
                raise Refused(f"{words[0][:20]!r} is no rule")
    document.end()


def prove(instance, goal, over):
    """Return what was proved and the lines; nothing is split once the time is up."""
    table, lines, reached = Table(instance), [], goal.bound
    left = [*table.roots]
    while left:
        part = left.pop()
        has, may = part
        least = table.least(part)
        if reached is None or least < reached:
            if not may or len(has) == table.k:
                raise Refused(f"the rule {sorted(has)} costs {least}")
            if not over():
                lines.append(f"split {min(may)}")
                left += table.halves(part, min(may))
                continue
            if reached is None:
                return None, []
            reached = least
        lines.append("bound")
    return Claim(reached), lines
