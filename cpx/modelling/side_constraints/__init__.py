"""Constraints of the user's own, beside those of a problem: as text, as linear form, stated.

- ``form``: linear constraints over what an answer may contain, and what they decide;
- ``formula``, ``text``: from text to this form; ``vocabulary``: what names in it stand for;
- ``statement``: the same for the engines that solve a statement;
- ``parameter``: how problems declare and save them.
"""
