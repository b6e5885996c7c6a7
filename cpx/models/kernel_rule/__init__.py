"""Rules of kernel machines: formulas of maximum weight in a support vector machine."""

from cpx.support.families import Family, ProofKind, ShellCommand

FAMILY = Family(
    name="kernel-rule",
    trusts=("conditions",),
    problems={"kernel-rule": "cpx.models.kernel_rule.problem:KernelRule"},
    names={"KernelRule": "cpx.models.kernel_rule.problem:KernelRule"},
    judges={"kernel-rule": "cpx.models.kernel_rule.judge:judge"},
    words={"kernel-rule": "cpx.models.kernel_rule.text:words"},
    proofs={
        "kernel-rule": ProofKind(
            problems=("kernel-rule",),
            check="cpx.models.kernel_rule.proof_check:check",
            prove="cpx.models.kernel_rule.prove:prove",
            keeps_side_constraints=False,
        )
    },
    search={"cpx.models.kernel_rule.form:DNFForm": "cpx.models.kernel_rule.search:SEARCH"},
    backends={
        "genetic": "cpx.models.kernel_rule.methods.genetic:Genetic",
    },
    listings={
        "cpx.models.kernel_rule.form:DNFForm": "cpx.models.kernel_rule.listing:KernelRuleListing"
    },
    cases={"kernel-rule": "cpx.models.kernel_rule.cases:cases"},
    draw={"kernel-rule": "cpx.models.kernel_rule.draw:draw"},
    brute={"kernel-rule": "cpx.models.kernel_rule.brute:KernelRule"},
    probes="cpx.models.kernel_rule.cases:probes",
    commands={
        "make kernel-rule": ShellCommand(
            "cpx.models.kernel_rule.cli:make_kernel_rule",
            "The rule of maximum weight of a kernel machine.",
            ("kernel-rule",),
        ),
        "extract": ShellCommand(
            "cpx.models.kernel_rule.cli_extract:extract",
            "Extract the rules of maximum weight of a kernel machine.",
        ),
    },
)
