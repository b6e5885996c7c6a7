"""All processes that cpx starts: how they are started, sent messages, limited and ended.

- ``children``: start a program, and leave nothing of it behind: no process, no temporary file;
- ``limits``: memory and cores that one may use; locks;
- ``console``: a child whose lines are read as it prints them;
- ``messages``: objects through pipes, framed by their length;
- ``calls``: one function, called in a fresh interpreter;
- ``interrupts``: what Ctrl-C and SIGTERM do.

Only the standard library is imported, so that every other package can use it.
"""
