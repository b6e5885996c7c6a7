"""Tiny minimum certificates with known optimum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpx.data.samples import Samples
from cpx.models.certificate.problem import MinCertificate


def cases() -> Iterator[tuple[str, MinCertificate, int | None]]:
    """Yield name, problem and optimum."""
    rows = ["110", "111", "100", "010", "001"]
    # Every two features tell x from the three disagreeing samples, each alone from two.
    bits = np.array([[bit == "1" for bit in row] for row in rows])
    plain = Samples(bits, np.array([True, True, False, False, False]))
    twin = Samples(np.array([[True, True], [True, False]]), np.array([False, True]))
    yield "certificate", MinCertificate(plain), 2
    yield "certificate_tolerant", MinCertificate(plain, "1/5"), 1
    yield "certificate_just_not_tolerant", MinCertificate(plain, 0.19), 2
    yield "certificate_empty", MinCertificate(plain, "3/5"), 0
    yield "certificate_weights", MinCertificate(plain, weights=(5, 1, 1)), 2
    required = MinCertificate(plain, weights=(5, 1, 1), required=(0,))
    yield "certificate_required", required, 6
    yield "certificate_forbidden", MinCertificate(plain, forbidden=(0,)), 2
    yield "certificate_infeasible", MinCertificate(plain, forbidden=(1, 2)), None
    contradiction = MinCertificate(plain, required=(0,), forbidden=(0,))
    yield "certificate_contradiction", contradiction, None
    yield "certificate_twin", MinCertificate(twin), None
    yield "certificate_twin_tolerated", MinCertificate(twin, "1/2"), 0
