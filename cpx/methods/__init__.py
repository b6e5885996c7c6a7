"""How a problem is solved by a sequence of engine calls or by a published heuristic.

- ``beam``: greedy and beam search;
- ``anchors``: Anchors, by the package of its authors;
- ``local_search``: greedy and local search over sets of rules, and the start of engines;
- ``genetic``: formulas for kernel machines, by a genetic algorithm;
- ``column_generation``: rule sets learned from samples;
- ``candidates``, ``rule_learners``: rules to select from, and other rule learners;
- ``reasons``: sufficient reasons of tree models, by deletion and implicit hitting sets;
- ``certificates``: noise stabilising certificates;
- ``greatest_score``: the greatest score of a tree model given some values of a row;
- ``active``: decision sets that mimic a whole classifier, learned by queries.
"""
