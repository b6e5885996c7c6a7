"""How problems of all kinds are solved by a sequence of engine calls.

- ``listing``, ``excluding``: the best answers one after the other, by any exact engine;
- ``portfolio``: several engines side by side; ``time_slicing``: one after the other;
- ``beam``: greedy and beam search.
"""
