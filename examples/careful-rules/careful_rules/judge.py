"""The second opinion on careful rules, from the saved instance alone.

It is written from the definition and shares no code with the problem: NumPy, the standard library
and ``cpx.check`` are all it needs.
"""

from fractions import Fraction

import numpy as np

from cpx.check.claims import wrong_figures


def judge(instance):
    """Read an instance; return what says what is wrong with a result for it."""
    parameters = instance["parameters"]
    agrees = np.array([[bit == "1" for bit in row] for row in instance["samples"]])
    same = np.array([label == "1" for label in instance["labels"]])
    weights = np.array(instance.get("weights") or [1] * len(same))

    def covered(features):
        return agrees[:, features].all(axis=1)

    def cost(features):
        inside = covered(features)
        alarms, misses = weights[inside & ~same].sum(), weights[~inside & same].sum()
        return int(parameters["alarm"] * alarms + misses)

    def allowed(features):
        chosen, groups = set(features), instance.get("groups")
        inside = covered(features)
        share = Fraction(int(weights[inside].sum()), int(weights.sum()))
        right, precision = int(weights[inside & same].sum()), parameters.get("min_precision")
        return (
            len(chosen) <= parameters["k"]
            and chosen.issuperset(parameters.get("required", ()))
            and chosen.isdisjoint(parameters.get("forbidden", ()))
            and not (
                parameters.get("one_per_group") and len({groups[j] for j in chosen}) < len(chosen)
            )
            and Fraction(parameters.get("min_coverage", 0)) <= share
            and share <= Fraction(parameters.get("max_coverage", 1))
            and (
                precision is None
                or (inside.any() and right >= Fraction(precision) * int(weights[inside].sum()))
            )
        )

    def violations(result):
        """Return a sentence for everything that is wrong, none where all is right."""
        found, status, bound = result["explanation"], result["status"], result["bound"]
        if found is None:
            return ["the result has a status that needs a rule"] if status == "OPTIMAL" else []
        features, out = found["features"], []
        if not allowed(features):
            out.append("the rule breaks a constraint")
        if cost(features) != result["objective"]:
            out.append(f"objective: it is {cost(features)}, not {result['objective']}")
        if bound is not None and bound > cost(features):
            out.append(f"bound: {bound} is above the value of the rule")
        if (bound == result["objective"]) != (status == "OPTIMAL"):
            out.append(f"status: {status} with the bound {bound}")
        inside, total = covered(features), int(weights.sum())
        counts = (int(weights[rows].sum()) for rows in (inside, inside & same))
        figures = dict(zip(("covered", "agreeing"), counts)) | {"total": total}
        return out + wrong_figures(found, figures)

    return violations
