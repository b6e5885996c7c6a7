"""Fuzzing: random problems of all kinds, every engine, and what must be true of the answers.

- ``drawing``: a random instance of each kind, as the JSON object that is saved;
- ``brute``: the optimum of a tiny one, by trying all solutions. It reads the JSON object by the
  definitions of the documentation and imports nothing of cpx, so that a mistake there is not
  repeated here;
- ``metamorphic``: larger ones, and changes of them that say something of the first optimum;
- ``asking``: an engine with an encoding, a hint, limits; solving, stopping, interrupting it;
- ``judging``: what is wrong with an answer, and with what the checker says of it;
- ``shrinking``: a smaller instance with the same fault;
- ``loop``: draws, solves, judges, and saves what is wrong.
"""
