"""Rules that are precise first of all, as a family of problems for cpx."""

from cpx.support.families import Family, ProofKind, ShellCommand

FAMILY = Family(
    name="careful",
    problems={"careful": "careful_rules.problem:Careful"},
    judges={"careful": "careful_rules.judge:judge"},
    words={"careful": "cpx.models.monomial.text:words"},
    encodings={
        "careful.big-m": "careful_rules.encoding:BIG_M",
        "k-monomial.big-m": "careful_rules.encoding:BIG_M",
    },
    proofs={
        "careful": ProofKind(
            problems=("careful",),
            check="careful_rules.proof:check",
            prove="careful_rules.proof:prove",
        )
    },
    cases={"careful": "careful_rules.cases:cases"},
    draw={"careful": "careful_rules.cases:draw"},
    brute={"careful": "careful_rules.brute:Brute"},
    commands={
        "make careful": ShellCommand(
            "careful_rules.cli:make", "A rule that is hardly ever wrong.", ("careful",)
        )
    },
)
