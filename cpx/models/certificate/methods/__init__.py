"""Succinct and precise certificates by noise stability, in our own code.

G. Blanc, J. Lange, L.-Y. Tan: Provably efficient, succinct, and precise explanations
(NeurIPS 2021).

- ``input_spaces``: what f is asked about: fair bits, or independent attributes of a table;
- ``noise``: noise sensitivity, and the noise stabilising score of every feature;
- ``noise_stabilising_tree``: the decision tree that is only ever looked at along paths, or
  written out in part;
- ``find``: walk down along x, verify, and leave out what is not needed; how often one is found;
- ``complexity``: C(f, x, epsilon), D(f, epsilon) and GC(f, epsilon) of few bits, exactly;
- ``domain``: all rows of a distribution with their probabilities, for exact certificates;
- ``theorem``: the parameters of Theorem 1, and how many pairs they need.
"""

from cpx.models.certificate.methods.complexity import (
    CertificateComplexity,
    GlobalComplexity,
    certificate_complexity,
    decision_tree_complexity,
    global_certificate_complexity,
    tree_errors,
)
from cpx.models.certificate.methods.domain import domain_samples
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
    "CertificateComplexity",
    "GlobalComplexity",
    "ImplicitTree",
    "SuccessRate",
    "TheoremParameters",
    "UnfoldedNode",
    "certificate",
    "certificate_complexity",
    "common_depth",
    "decision_tree_complexity",
    "domain_samples",
    "find_certificate",
    "global_certificate_complexity",
    "noise_sensitivity",
    "pairs_for",
    "stabilising_scores",
    "success_rate",
    "theorem_parameters",
    "tree_errors",
    "unfolded",
]
