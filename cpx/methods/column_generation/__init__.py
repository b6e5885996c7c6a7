"""Learning rule sets by column generation: rules are priced by the duals of those at hand.

- ``table``: the samples as both steps need them;
- ``master``: the linear programme over the rules found so far;
- ``beams``: many rules of high price at once, by beam search from samples;
- ``bound``: what prices of samples prove about every set of rules;
- ``generate``: the rounds;
- ``exchange``: local search on the errors themselves, over all rules;
- ``learn``: all of it, as one call.
"""

from cpx.methods.column_generation.learn import LearnedRules, learn_rules

__all__ = ["LearnedRules", "learn_rules"]
