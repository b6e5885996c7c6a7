"""Tiny minimum certificates with known optimum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpx.data.samples import Samples
from cpx.models.certificate.precise import PreciseCertificate
from cpx.models.certificate.problem import MinCertificate


def cases() -> Iterator[tuple[str, MinCertificate | PreciseCertificate, int | None]]:
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
    # Of what each feature covers, a half or a third disagrees; of what two cover, nothing.
    yield "precise", PreciseCertificate(plain), 2
    yield "precise_half", PreciseCertificate(plain, "1/2"), 1
    yield "precise_just_not_a_third", PreciseCertificate(plain, "0.33"), 2
    yield "precise_third", PreciseCertificate(plain, "1/3"), 1
    yield "precise_empty", PreciseCertificate(plain, "3/5"), 0
    yield "precise_required", PreciseCertificate(plain, "1/2", required=(0, 1)), 2
    yield "precise_infeasible", PreciseCertificate(plain, forbidden=(1, 2)), None
    yield "precise_twin", PreciseCertificate(twin, "1/2"), 0
    # A parity: the error of one feature is that of none, and two have none.
    parity = Samples(
        np.array([[True, True], [True, False], [False, True], [False, False]]),
        np.array([True, False, False, True]),
    )
    yield "precise_parity", PreciseCertificate(parity, "1/3"), 2
    # The error of the one rises with the other: 1 of 3, 1 of 2.
    rising = Samples(
        np.array([[True, True], [True, False], [True, True], [False, True], [False, True]]),
        np.array([True, True, False, False, False]),
    )
    yield "precise_rising", PreciseCertificate(rising, "1/3"), 1
    yield "precise_rising_both", PreciseCertificate(rising, "1/3", required=(1,)), None
