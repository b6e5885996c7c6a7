"""How a problem is solved by a sequence of engine calls or by a published heuristic.

- ``dinkelbach``: ratios, by any engine that solves weighted problems;
- ``beam``: greedy and beam search;
- ``anchors``: Anchors, by the package of its authors;
- ``local_search``: greedy and local search over sets of rules, and the start of engines;
- ``standing_in``: another objective in place of the problem's;
- ``column_generation``: rule sets learned from samples;
- ``certificates``: noise stabilising certificates;
- ``active``: decision sets for a whole classifier, learned by asking it.
"""
