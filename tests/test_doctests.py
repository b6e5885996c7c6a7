"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import cpx

MODULES = [
    "cpx",
    *(m.name for m in pkgutil.walk_packages(cpx.__path__, "cpx.") if "__main__" not in m.name),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(module, optionflags=flags)
    assert not failed, f"{failed} examples of {name} fail; python -m doctest shows them"
