"""Rules that are precise first of all, as a family of problems for cpx."""

from cpx.support.families import Family

FAMILY = Family(
    name="careful",
    problems={"careful": "careful_rules.problem:Careful"},
    judges={"careful": "careful_rules.judge:judge"},
    encodings={
        "careful.big-m": "careful_rules.encoding:BIG_M",
        "k-monomial.big-m": "careful_rules.encoding:BIG_M",
    },
)
