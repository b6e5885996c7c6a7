"""Pictures, by matplotlib: an extra, ``pip install 'cpx-explain[plots]'``.

- ``rules``: rules against samples;
- ``require``: whether matplotlib is there.

The figures of a paper are with its experiment, in :mod:`cpx.reproduce`.
"""
