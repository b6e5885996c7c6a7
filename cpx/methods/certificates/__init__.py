"""Succinct and precise certificates by noise stability, in our own code.

G. Blanc, J. Lange, L.-Y. Tan: Provably efficient, succinct, and precise explanations
(NeurIPS 2021).

- ``noise``: noise sensitivity, and the noise stabilising score of every feature;
- ``tree``: the decision tree that is only ever looked at along paths;
- ``find``: walk down along x, then verify.

Everything here is about classifiers f: {0,1}^d -> {0,1} under the uniform distribution.
"""

from cpx.methods.certificates.find import Certificate, certificate, find_certificate
from cpx.methods.certificates.noise import noise_sensitivity, stabilising_scores
from cpx.methods.certificates.tree import ImplicitTree, common_depth

__all__ = [
    "Certificate",
    "ImplicitTree",
    "certificate",
    "common_depth",
    "find_certificate",
    "noise_sensitivity",
    "stabilising_scores",
]
