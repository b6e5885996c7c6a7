"""Brute force for careful rules: what a saved instance means, written down a second time."""

from cpx.testing.truth import Labelled


class Brute(Labelled):
    """A conjunction of at most k features; alarms cost more than misses."""

    def value(self, features):
        """Return what a rule costs, None when it is not allowed."""
        chosen = tuple(features)
        if len(chosen) > self.parameters["k"] or self.refused(chosen):
            return None
        covered = self.rows.cover(chosen)
        alarms = self.rows.weight(covered & self.other)
        return self.parameters["alarm"] * alarms + self.rows.weight(self.same & ~covered)

    @property
    def magnitude(self):
        """What engines have to add up."""
        return self.parameters["alarm"] * super().magnitude
