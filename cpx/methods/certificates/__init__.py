"""Succinct and precise certificates by noise stability, in our own code.

G. Blanc, J. Lange, L.-Y. Tan: Provably efficient, succinct, and precise explanations
(NeurIPS 2021).

- ``domain``: what f is asked about: fair bits, or independent attributes of a table;
- ``noise``: noise sensitivity, and the noise stabilising score of every feature;
- ``tree``: the decision tree that is only ever looked at along paths;
- ``unfolded``: a part of it, written out;
- ``find``: walk down along x, verify, and leave out what is not needed;
- ``theorem``: the parameters of Theorem 1, and how often certificates are found.
"""

from cpx.methods.certificates.find import Certificate, certificate, find_certificate
from cpx.methods.certificates.noise import noise_sensitivity, pairs_for, stabilising_scores
from cpx.methods.certificates.theorem import (
    SuccessRate,
    TheoremParameters,
    success_rate,
    theorem_parameters,
)
from cpx.methods.certificates.tree import ImplicitTree, common_depth
from cpx.methods.certificates.unfolded import UnfoldedNode, unfolded

__all__ = [
    "Certificate",
    "ImplicitTree",
    "SuccessRate",
    "TheoremParameters",
    "UnfoldedNode",
    "certificate",
    "common_depth",
    "find_certificate",
    "noise_sensitivity",
    "pairs_for",
    "stabilising_scores",
    "success_rate",
    "theorem_parameters",
    "unfolded",
]
