"""The engines: a file or folder for each family, and the registry that finds them by name.

``backend("milp:cbc")`` returns an instance; ``names()`` lists what is registered: the engines and
methods of cpx, and those that other packages have as entry points ``cpx.backends``. Nothing is
imported before it is asked for, and no engine before it solves.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from cpx.backends.base import Backend, Event, Outcome, Progress
from cpx.backends.settings import set_options
from cpx.errors import EngineError, UnknownName, shown
from cpx.options import EngineOption, read_named
from cpx.support.families import families
from cpx.support.lazy_imports import named_object

__all__ = [
    "Backend",
    "EngineOption",
    "Event",
    "Outcome",
    "Progress",
    "backend",
    "backend_class",
    "names",
    "register",
]

GROUP = "cpx.backends"

# Those for all families, named once and as entry points are. They are not in pyproject.toml, so
# that a source tree on the path works uninstalled. Families register theirs.
_OURS = {
    "beam": "cpx.methods.beam:Beam",
    "cpmpy": "cpx.backends.cpmpy:Cpmpy",
    "cpsat": "cpx.backends.cpsat:CpSat",
    "exact": "cpx.backends.exact:Exact",
    "greedy": "cpx.methods.beam:Greedy",
    "maxsat": "cpx.backends.maxsat:MaxSat",
    "milp": "cpx.backends.milp:Milp",
    "portfolio": "cpx.methods.portfolio:Portfolio",
    "program": "cpx.backends.program:Program",
    "search": "cpx.backends.search:Search",
}

_registered: dict[str, type[Backend]] = {}


def register(cls: type[Backend]) -> type[Backend]:
    """Register a backend for this process, without an entry point; usable as a decorator.

    Isolated solves run in other processes, which only know installed entry points.
    """
    _registered[cls.name] = cls
    return cls


@cache
def _entry_points() -> dict[str, EntryPoint]:
    ours = dict(_OURS)
    for family in families():
        ours |= family.backends
    found = {name: EntryPoint(name, value, GROUP) for name, value in ours.items()}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


def names() -> list[str]:
    """Return the names of all registered backends, sorted.

    Examples
    --------
    >>> [name for name in names() if name in ("cpsat", "maxsat", "milp")]
    ['cpsat', 'maxsat', 'milp']
    """
    return sorted({*_entry_points(), *_registered})


def backend_class(name: str) -> type[Backend]:
    """Return the class of a backend family.

    Raises
    ------
    UnknownName
        With the registered names and the nearest one.
    EngineError
        When a registered module cannot be imported or is no backend.
    """
    if name in _registered:
        return _registered[name]
    if name not in _entry_points():
        raise UnknownName("backend", name, names())
    return _loaded(name)


@cache
def _loaded(name: str) -> type[Backend]:
    point = _entry_points()[name]
    cls = named_object(point.value, f"backend {shown(name)}", EngineError)
    if not (isinstance(cls, type) and issubclass(cls, Backend)):
        raise EngineError(f"backend {shown(name)} ({point.value}) is no cpx.backends.Backend")
    return cls


def backend(name: str) -> Backend:
    """Return a backend by ``"family"`` or ``"family:solver"``, options in braces behind it.

    Examples
    --------
    >>> backend("milp:cbc").solver
    'cbc'
    >>> str(backend("maxsat:rc2{minz=false}"))
    'maxsat:rc2{minz=false}'
    """
    if not isinstance(name, str):
        raise UnknownName("backend", name, names())
    family, colon, members = name.partition(":")
    if colon and "{" not in family and backend_class(family)._starts_workers:
        return backend_class(family)(members)
    name, settings = read_named("engine", name)
    family, colon, solver = name.partition(":")
    engine = backend_class(family)(solver if colon else None)
    set_options(engine, settings)
    return engine
