"""Learning rule sets by column generation: rules are priced by the duals of those at hand.

- ``table``: the samples as both steps need them;
- ``master``: the linear programme over the rules found so far;
- ``pricing``: rules of best reduced cost: many at once by beam search, or the best of all;
- ``bounds``: what dual prices prove about every set of rules, and which rules better sets need;
- ``generate``: the rounds;
- ``exchange``: local search on the errors themselves, over all rules;
- ``zero_one``: what is proved of these errors;
- ``learner``: the steps one after the other;
- ``learn``, ``engine``: all of it, as one call and as an engine of :func:`cpx.solve`.
"""

from cpx.models.rule_set.methods.column_generation.learn import LearnedRules, learn_rules

__all__ = ["LearnedRules", "learn_rules"]
