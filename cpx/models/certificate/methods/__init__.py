"""Succinct and precise certificates by noise stability, in our own code.

G. Blanc, J. Lange, L.-Y. Tan: Provably efficient, succinct, and precise explanations
(NeurIPS 2021).

- ``input_spaces``: what f is asked about: fair bits, or independent attributes of a table;
- ``noise``: noise sensitivity, and the noise stabilising score of every feature;
- ``noise_stabilising_tree``: the decision tree that is only ever looked at along paths, or
  written out in part;
- ``find``: walk down along x, verify, and leave out what is not needed; how often one is found;
- ``theorem``: the parameters of Theorem 1, and how many pairs they need.
"""

from cpx.models.certificate.methods.find import (
    Certificate,
    SuccessRate,
    certificate,
    find_certificate,
    success_rate,
)
from cpx.models.certificate.methods.noise import noise_sensitivity, stabilising_scores
from cpx.models.certificate.methods.noise_stabilising_tree import (
    ImplicitTree,
    UnfoldedNode,
    common_depth,
    unfolded,
)
from cpx.models.certificate.methods.theorem import TheoremParameters, pairs_for, theorem_parameters

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
