"""Certificates: features that make the class of a row likely under a distribution."""

from cpx.support.families import Family, ProofKind, ShellCommand

_KINDS = ("min-certificate", "precise-certificate")

FAMILY = Family(
    name="certificate",
    problems={
        "min-certificate": "cpx.models.certificate.problem:MinCertificate",
        "precise-certificate": "cpx.models.certificate.precise:PreciseCertificate",
    },
    names={"MinCertificate": "cpx.models.certificate.problem:MinCertificate"},
    judges={
        "min-certificate": "cpx.models.certificate.judge:judge",
        "precise-certificate": "cpx.models.certificate.judge_precise:judge",
    },
    words={
        "min-certificate": "cpx.models.certificate.text:words",
        "precise-certificate": "cpx.models.certificate.text:precise_words",
    },
    proofs={
        "certificate": ProofKind(
            problems=("min-certificate",),
            check="cpx.models.certificate.proof_check:check",
            prove="cpx.models.certificate.prove:prove",
        ),
        "precise-certificate": ProofKind(
            problems=("precise-certificate",),
            check="cpx.models.certificate.proof_precise:check",
            prove="cpx.models.certificate.prove_precise:prove",
        ),
    },
    search={
        "cpx.models.certificate.precise_form:PreciseForm": (
            "cpx.models.certificate.precise_search:SEARCH"
        ),
    },
    backends={
        "certificates": "cpx.models.certificate.methods.method:Certificates",
    },
    cases={"certificate": "cpx.models.certificate.cases:cases"},
    draw=dict.fromkeys(_KINDS, "cpx.models.certificate.draw:draw"),
    brute={
        "min-certificate": "cpx.models.certificate.brute:Certificate",
        "precise-certificate": "cpx.models.certificate.brute:PreciseCertificate",
    },
    commands={
        "make certificate": ShellCommand(
            "cpx.models.certificate.cli:make_certificate",
            "The fewest conditions that leave few samples to disagree.",
            ("min-certificate",),
        ),
        "make precise-certificate": ShellCommand(
            "cpx.models.certificate.cli:make_precise_certificate",
            "The fewest conditions whose rule has a small error.",
            ("precise-certificate",),
        ),
        "complexity": ShellCommand(
            "cpx.models.certificate.cli_complexity:complexity",
            "Say how large certificates and trees of a classifier must be.",
            section="Experiments",
        ),
    },
)
