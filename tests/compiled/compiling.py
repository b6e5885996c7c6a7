"""Kernels of the tests, compiled as those of the package are."""

from __future__ import annotations

from cpx.compiled import kernel, machine_code
from cpx.compiled.kernel import Kernel
from cpx.compiled.machine_code import Level


def compiled(*functions, level: Level | None = None) -> list[Kernel]:
    """Return kernels with machine code, for a level of processors, in this process."""
    from cpx.compiled import build

    level = level or machine_code.level()
    made = [Kernel(function) for function in functions]
    module = build.simplified(build.unoptimised(made))
    engine = kernel.link(build.object_code(module, level.processor, level.features))
    for one in made:
        one.entry = kernel.entry_at(engine.get_function_address(one.symbol))
        one.engine = engine  # it owns the machine code
    return made
