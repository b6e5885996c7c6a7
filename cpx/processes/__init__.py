"""Other processes: all that cpx starts are started, told, limited and ended here.

- ``children``: start a program, and leave nothing of it behind: no process, no temporary file;
- ``messages``: objects through pipes, framed by their length;
- ``calls``: one function, called in a fresh interpreter;
- ``interrupts``: what Ctrl-C and SIGTERM do.

Only the standard library is imported, so that every other package can use it.
"""
