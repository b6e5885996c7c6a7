"""Leaving features out of a loss form, against the definition of the form."""

from __future__ import annotations

import numpy as np

from cpx.models.sufficient_reason.methods.deletion_kernels import LossDeletion
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from tests.seeds import each


def _form(seed: int) -> LossForm:
    random = np.random.default_rng(seed)
    n, leaves, requirements = random.integers(1, (9, 25, 4))
    return LossForm.of(
        random.random((leaves, n)) < 0.4,
        np.sort(random.integers(0, 6, leaves)),
        list(random.integers(0, 5, (requirements, leaves))),
        random.integers(0, 12, requirements).tolist(),
        np.ones(n, dtype=np.int64),
    )


@each(range(150))
def test_it_drops_what_can_be_dropped_in_this_order(seed: int) -> None:
    form, random = _form(seed), np.random.default_rng(seed)
    deletion = LossDeletion(form)
    for _ in range(3):
        start = set(np.flatnonzero(random.random(form.n_features) < 0.9).tolist())
        holds = deletion.begin(start)
        assert holds == form.holds(start)
        if not holds:
            continue
        order = random.permutation(form.n_features).tolist()
        assert deletion.drop(order)
        kept = set(start)
        for j in order:
            if j in kept and form.holds(kept - {j}):
                kept.remove(j)
        assert deletion.kept == sorted(kept)
        # Again from the same set, which it remembers.
        assert deletion.begin(start)
        assert deletion.drop(order[::-1])
        assert form.holds(deletion.kept)


def test_it_stops() -> None:
    deletion = LossDeletion(_form(3))
    assert deletion.begin(range(_form(3).n_features))
    assert not deletion.drop([0, 1], stop=lambda: True)
    assert deletion.kept == list(range(_form(3).n_features))
