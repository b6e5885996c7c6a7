"""``python -m benchmarks fuzz``: random problems of all kinds, every engine, a brute force.

- ``drawing``: a random instance of each kind, as the JSON object that is saved;
- ``brute``: its optimum, by trying all solutions. It reads the JSON object by the definitions of
  the documentation and imports nothing of cpx, so that a mistake there is not repeated here;
- ``asking``: an engine with an encoding, a hint, limits; solving, stopping, interrupting it;
- ``judging``: what is wrong with an answer, and with what the checker says of it;
- ``shrinking``: a smaller instance with the same fault;
- ``command``: the loop, its table, and the files of what is wrong.
"""

from __future__ import annotations

from benchmarks.fuzz.command import main

__all__ = ["main"]
