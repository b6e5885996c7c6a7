"""Sufficient reasons of tree models and networks: what forces a class, whatever the rest is."""

from cpx.support.families import Door, Family, ProofKind, ShellCommand

FAMILY = Family(
    name="sufficient-reason",
    trusts=("literals", "conditions", "bounds of others"),
    problems={
        "sufficient-reason": "cpx.models.sufficient_reason.problem:SufficientReason",
        "network-reason": "cpx.models.sufficient_reason.networks.problem:NetworkReason",
        "contrast": "cpx.models.sufficient_reason.change_problem:MinimumChange",
    },
    names={"SufficientReason": "cpx.models.sufficient_reason.problem:SufficientReason"},
    judges={
        "sufficient-reason": "cpx.models.sufficient_reason.judge:judge",
        "network-reason": "cpx.models.sufficient_reason.networks.judge:judge",
        "contrast": "cpx.models.sufficient_reason.judge_contrast:judge",
    },
    bounds={"contrast": "cpx.models.sufficient_reason.judge_contrast:shows_bound"},
    words={
        "sufficient-reason": "cpx.models.sufficient_reason.text:words",
        "network-reason": "cpx.models.sufficient_reason.networks.text:network_words",
        "contrast": "cpx.models.sufficient_reason.text:contrast_words",
    },
    explanations={"instead_of": "cpx.models.sufficient_reason.contrast_answer:Contrast"},
    proofs={
        "sufficient-reason": ProofKind(
            problems=("sufficient-reason",),
            check="cpx.models.sufficient_reason.proof_check:check",
            prove="cpx.models.sufficient_reason.prove:prove",
            refusal="cpx.models.sufficient_reason.prove:refusal",
            rows="cpx.models.sufficient_reason.prove_rows:rows_of",
        )
    },
    backends={
        "best-of-orders": "cpx.models.sufficient_reason.methods.engines:BestOfOrders",
        "deletion": "cpx.models.sufficient_reason.methods.engines:Deletion",
        "hitting-sets": "cpx.models.sufficient_reason.methods.engines:HittingSets",
    },
    engines={"contrast": ("hitting-sets",), "network-reason": ("hitting-sets",)},
    starts={
        "cpx.models.sufficient_reason.minimum_subset.form:SubsetForm": (
            "cpx.models.sufficient_reason.methods.engines:start"
        )
    },
    listings={
        "cpx.models.sufficient_reason.minimum_subset.form:SubsetForm": (
            "cpx.models.sufficient_reason.listing:SubsetListing"
        )
    },
    cases={
        "stated-reason": "cpx.models.sufficient_reason.cases:stated_cases",
        "sufficient-reason": "cpx.models.sufficient_reason.cases:full_cases",
        "contrast": "cpx.models.sufficient_reason.cases:change_cases",
        "network-reason": "cpx.models.sufficient_reason.networks.cases:cases",
    },
    medium="cpx.models.sufficient_reason.cases:medium",
    draw=dict.fromkeys(
        ("sufficient-reason", "contrast"), "cpx.models.sufficient_reason.draw:draw"
    ),
    brute={
        "sufficient-reason": "cpx.models.sufficient_reason.brute:SufficientReason",
        "contrast": "cpx.models.sufficient_reason.brute:MinimumChange",
    },
    doors={
        "reason": Door(
            "cpx.models.sufficient_reason.explainer:ReasonExplainer",
            plural="reasons",
            about="the fewest columns that force the class of a tree model",
            trees=True,
            elsewhere=("sufficient", "sufficient-reason", "abductive", "axp", "prime-implicant"),
        ),
        "contrast": Door(
            "cpx.models.sufficient_reason.contrast:ContrastExplainer",
            plural="contrasts",
            about="the fewest columns whose change gives another class of a tree model",
            trees=True,
            elsewhere=("contrastive", "counterfactual", "cxp"),
        ),
    },
    library="cpx.models.sufficient_reason.library:FAMILIES",
    probes="cpx.models.sufficient_reason.cases:probes",
    commands={
        "make reason": ShellCommand(
            "cpx.models.sufficient_reason.cli:make_reason",
            "The fewest columns that force the class of a tree model.",
            ("sufficient-reason", "network-reason"),
        ),
        "make contrast": ShellCommand(
            "cpx.models.sufficient_reason.cli:make_contrast",
            "The fewest columns whose change gives another class of a tree model.",
            ("contrast",),
        ),
    },
)
