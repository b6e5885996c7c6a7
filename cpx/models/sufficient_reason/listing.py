"""How smallest sets are listed: those from which nothing can be left out."""

from __future__ import annotations

from typing import ClassVar

from cpx.methods.listing import Cut, Features, Listing, less


class SubsetListing(Listing):
    """Sets of features that are enough: what contains one is enough as well."""

    kept: ClassVar[tuple[str, ...]] = (
        "features",
        "label_index",
        "losses",
        "_all_leaves",
        "_exact_losses",
        "_losing",
    )

    def least(self, features: Features) -> Features:
        """Return the set: smaller ones were found before."""
        return features

    def cut(self, features: Features) -> bool:
        """Cut off a set, and what contains it; say whether something can be left out of it."""
        # A feature can be left out that no side constraint may ask for.
        wanted = self.choice.side_constraints.wanted
        others = [j for j in self.every if j not in features]
        asked = tuple(j for j in others if j in wanted)
        if asked:
            self.leave_out(features, [j for j in others if j not in wanted])
        self.cuts.append(Cut(features, asked))
        return any(self.feasible(less(features, j)) for j in features)
