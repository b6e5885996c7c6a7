"""What each score means, in a sentence or two, for the report."""

from __future__ import annotations

__all__ = ["DEFINITIONS"]

DEFINITIONS = {
    "case": "An instance with a seed and the limits: what configurations are compared on.",
    "configuration": "An engine with its options, and its encoding where it has several.",
    "best known value": "The best checked value of any run on the instance.",
    "proved": "Cases with a proof: of an optimum, or that there is no solution.",
    "solved": "Cases with a checked solution, or a proof that there is none.",
    "best value": "Cases in which the value is the best known one.",
    "PAR-2": "Mean seconds until the proof, twice the limit where there is none "
    "(SAT Competition).",
    "to best": "Median of the seconds until the best known value was found.",
    "to target": "Median of the seconds until a value within 1 % of the best known one was found.",
    "to proof": "Median of the seconds until the proof.",
    "gap": "Mean of |value - bound| / max(1, |value|) at the end; 100 % without a value or a "
    "bound, and at most.",
    "quality": "Mean of (best known value + 1) / (value + 1), 0 without a solution "
    "(MaxSAT Evaluation, incomplete tracks); for a maximum, value / best known value.",
    "primal integral": "Mean area below the distance of the value from the best known one, from "
    "the start to the limit, in seconds (Berthold 2013).",
    "dual integral": "The same of the bound.",
    "points": "Sum over cases and opponents of 1 for a better answer, 0 for a worse one, and the "
    "opponent's share of both times where they are equal (MiniZinc Challenge).",
    "rank": "Mean rank, 1 for the best answer; equal answers share their ranks. An answer is "
    "better that is proved, else by its value; of two proofs the faster one is.",
    "proved alone": "Cases that no other configuration proves.",
    "contribution": "Seconds of PAR-2 that the virtual best engine loses without this one "
    "(Xu and others 2012).",
    "virtual best": "The best answer of all in each case, as if the right engine were known.",
    "performance profile": "Share of cases proved within so many times the seconds of the fastest "
    "proof (Dolan and Moré 2002).",
    "p": "Two-sided p-value of Wilcoxon's signed-rank test of PAR-2 over instances, zeros by "
    "Pratt's rule; corrected for the number of pairs by Holm's method.",
    "outcome": "WRONG: a claim that checked data refute; ERROR: the run failed.",
}
"""The words of the report, in the order in which it explains them."""
