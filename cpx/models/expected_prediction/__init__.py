"""Expected predictions: values of a row that make a tree model expect its class."""

from cpx.support.families import Door, Family, ProofKind, ShellCommand

FAMILY = Family(
    name="expected-prediction",
    problems={
        "mlse": "cpx.models.expected_prediction.problem:MLSE",
        "fewest-expected": "cpx.models.expected_prediction.fewest:FewestExpected",
    },
    names={"MLSE": "cpx.models.expected_prediction.problem:MLSE"},
    judges=dict.fromkeys(
        ("mlse", "fewest-expected"), "cpx.models.expected_prediction.judge:judge"
    ),
    words={
        "mlse": "cpx.models.expected_prediction.text:words",
        "fewest-expected": "cpx.models.expected_prediction.text:words",
        "fewest-sampled": "cpx.models.expected_prediction.text:sampled_words",
        "greatest-sampled": "cpx.models.expected_prediction.text:greatest_sampled_words",
    },
    explanations={"expectation": "cpx.models.expected_prediction.answer:ExpectedExplanation"},
    trusts=(
        *("literals", "best_of_ties", "probability"),
        *("held_out", "held_out_gain", "held_out_rows"),
    ),
    trusts_infeasible=("fewest-expected",),
    proofs={
        "expected-prediction": ProofKind(
            problems=("mlse", "fewest-expected"),
            check="cpx.models.expected_prediction.proof_check:check",
            prove="cpx.models.expected_prediction.prove:prove",
        )
    },
    search=dict.fromkeys(
        (
            "cpx.models.expected_prediction.form:ExpectationForm",
            "cpx.models.expected_prediction.form:TableSumForm",
        ),
        "cpx.models.expected_prediction.search:SEARCH",
    ),
    beams={
        "cpx.models.expected_prediction.form:ExpectationForm": (
            "cpx.models.expected_prediction.search.known_attributes.beam:KnownLevels"
        )
    },
    listings={
        "cpx.models.expected_prediction.form:ExpectationForm": (
            "cpx.models.expected_prediction.listing:ExpectationListing"
        )
    },
    doors={
        "expectation": Door(
            "cpx.models.expected_prediction.explainer:ExpectationExplainer",
            plural="expectations",
            about="the values that make a tree model expect its class, the others unknown",
            trees=True,
            elsewhere=("probabilistic", "probabilistic-sufficient", "mlse"),
        )
    },
    cases={
        "expected-prediction": "cpx.models.expected_prediction.cases:expected_prediction_cases"
    },
    commands={
        "make expectation": ShellCommand(
            "cpx.models.expected_prediction.cli:make_expectation",
            "The columns that make a tree model expect its class.",
            ("mlse", "fewest-expected"),
        ),
    },
)
