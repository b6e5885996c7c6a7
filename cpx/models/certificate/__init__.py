"""Certificates: features that make the class of a row likely under a distribution."""

from cpx.support.families import Family, ProofKind, ShellCommand

FAMILY = Family(
    name="certificate",
    problems={"min-certificate": "cpx.models.certificate.problem:MinCertificate"},
    names={"MinCertificate": "cpx.models.certificate.problem:MinCertificate"},
    judges={"min-certificate": "cpx.models.certificate.judge:judge"},
    words={"min-certificate": "cpx.models.certificate.text:words"},
    proofs={
        "certificate": ProofKind(
            problems=("min-certificate",),
            check="cpx.models.certificate.proof_check:check",
            prove="cpx.models.certificate.prove:prove",
        )
    },
    backends={
        "certificates": "cpx.models.certificate.methods.method:Certificates",
    },
    cases={"certificate": "cpx.models.certificate.cases:cases"},
    draw={"min-certificate": "cpx.models.certificate.draw:draw"},
    brute={"min-certificate": "cpx.models.certificate.brute:Certificate"},
    commands={
        "make certificate": ShellCommand(
            "cpx.models.certificate.cli:make_certificate",
            "The fewest conditions that leave few samples to disagree.",
            ("min-certificate",),
        ),
    },
)
