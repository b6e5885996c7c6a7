"""Fuzzing: random problems of all kinds, every engine, and what must be true of the answers.

Instances are drawn, and tiny ones solved by brute force, by their families
(:mod:`cpx.testing.random_instances`).

- ``metamorphic``: larger ones, and changes of them that say something of the first optimum;
- ``asking``: an engine with an encoding, a hint, limits; solving, stopping, interrupting it;
- ``judging``: what is wrong with an answer, and with what the checker says of it;
- ``shrinking``: a smaller instance with the same fault;
- ``loop``: draws, solves, judges, and saves what is wrong;
- ``command``: ``python -m benchmarks fuzz``.
"""

from __future__ import annotations


def main(arguments: list[str]) -> None:
    """Run the command; it exits."""
    from benchmarks.fuzz import command

    command.main(arguments)
