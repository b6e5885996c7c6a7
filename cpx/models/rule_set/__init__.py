"""Rule sets for a whole classifier: selected from candidates, or learned among all rules."""

from cpx.support.families import Family, ProofKind, ShellCommand

FAMILY = Family(
    name="rule-set",
    trusts=("literals",),
    problems={
        "rule-set": "cpx.models.rule_set.selection:RuleSetSelection",
        "rule-set-learning": "cpx.models.rule_set.learning:RuleSetLearning",
    },
    names={
        "RuleSetClassifier": "cpx.models.rule_set.classifier:RuleSetClassifier",
        "RuleSetSelection": "cpx.models.rule_set.selection:RuleSetSelection",
        "learn_rules": "cpx.models.rule_set.methods.column_generation:learn_rules",
    },
    judges=dict.fromkeys(("rule-set", "rule-set-learning"), "cpx.models.rule_set.judge:judge"),
    words=dict.fromkeys(("rule-set", "rule-set-learning"), "cpx.models.rule_set.text:words"),
    reads_arrays=True,
    proofs={
        "rule-set": ProofKind(
            problems=("rule-set",),
            check="cpx.models.rule_set.proof_check:check",
            prove="cpx.models.rule_set.prove:prove",
        ),
        "rule-set-learning": ProofKind(
            problems=("rule-set-learning",),
            check="cpx.models.rule_set.learning_proof_check:check",
            prove="cpx.models.rule_set.learning_prove:prove",
            keeps_side_constraints=False,
        ),
    },
    search={"cpx.models.rule_set.form:RuleSelection": "cpx.models.rule_set.search:SEARCH"},
    backends={
        "column-generation": (
            "cpx.models.rule_set.methods.column_generation.engine:ColumnGeneration"
        ),
        "local-search": "cpx.models.rule_set.methods.local_search:LocalSearch",
    },
    engines={"rule-set-learning": ("column-generation",)},
    starts={
        "cpx.models.rule_set.form:RuleSelection": "cpx.models.rule_set.methods.local_search:start"
    },
    listings={
        "cpx.models.rule_set.form:RuleSelection": "cpx.models.rule_set.listing:RuleSetListing"
    },
    cases={
        "rule-set": "cpx.models.rule_set.cases:rule_set_cases",
        "learning": "cpx.models.rule_set.cases:learning_cases",
    },
    draw={
        "rule-set": "cpx.models.rule_set.draw:draw_selection",
        "rule-set-learning": "cpx.models.rule_set.draw:draw_learning",
    },
    brute={
        "rule-set": "cpx.models.rule_set.brute:RuleSet",
        "rule-set-learning": "cpx.models.rule_set.brute:Learning",
    },
    overview="cpx.models.rule_set.overview:overview",
    library="cpx.models.rule_set.library:FAMILIES",
    commands={
        "make rule-set": ShellCommand(
            "cpx.models.rule_set.cli_make:make_rule_set",
            "A few rules that imitate a model on all rows.",
            ("rule-set", "rule-set-learning"),
        ),
        "learn": ShellCommand(
            "cpx.models.rule_set.cli_learn:learn",
            "Learn a few rules for a class from a table, or from a model.",
        ),
    },
    probes="cpx.models.rule_set.cases:probes",
)
