"""Compilation of all kernels to object files, by Numba and LLVM.

Numba makes LLVM's code of each kernel: of a small function around it, which takes the table of
:mod:`~cpx.compiled.kernel` apart and which C could call. Numba does not optimise it. All of it is
put into one module, of which nothing is to be seen but these small functions; so LLVM finds out
that no kernel ever raises or frees memory, and leaves out what Numba has for that. What is
optimised, for each level of processors anew, calls nothing but itself.

Run as ``python -m cpx.compiled.build FOLDER LEVEL ...``, with Numba's own optimisation off
(``NUMBA_OPT=0``): it would be for the processor of the build.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numba
from llvmlite import binding
from numba import carray, types

from cpx.compiled import instructions, machine_code
from cpx.compiled import kernel as kernels
from cpx.compiled.kernel import Kernel

__all__ = ["main", "object_code", "unoptimised"]

_TABLE = types.void(
    types.CPointer(types.voidptr), types.CPointer(types.int64), types.CPointer(types.float64)
)

# Numba calls these of the C library; processors have an instruction for them.
_SQUARE_ROOTS = """
declare float @llvm.sqrt.f32(float)
declare double @llvm.sqrt.f64(double)
define float @sqrtf(float %x) alwaysinline {
  %root = call float @llvm.sqrt.f32(float %x)
  ret float %root
}
define double @sqrt(double %x) alwaysinline {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}
"""


def main(folder: str, *names: str) -> None:
    """Write the object files of the levels with these names."""
    package = Path(__file__).parents[1]
    for place in machine_code.FOLDERS:
        for path in sorted((package / place).glob("*.py")):
            if "\n@kernel\n" in path.read_text(encoding="utf-8"):
                import_module(f"cpx.{place.replace('/', '.')}.{path.stem}")
    module = simplified(unoptimised(kernels.registered))
    possible = (*machine_code.levels(), machine_code.baseline())
    for level in [level for level in possible if level.name in names]:
        code = object_code(module.clone(), level.processor, level.features)
        (Path(folder) / machine_code.file_of(level)).write_bytes(code)


def unoptimised(wanted: list[Kernel]) -> Any:
    """Return the module of some kernels, with all that they call."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(_SQUARE_ROOTS)
    for one in wanted:
        compiled = numba.cfunc(_TABLE, error_model="numpy")(_entry(one))
        # What frees memory, and never does here, is not inlined by Numba's wish.
        text = re.sub(r"\bnoinline\b", "inlinehint", compiled.inspect_llvm())
        part = binding.parse_assembly(text)
        module.triple, module.data_layout = part.triple, part.data_layout
        part.get_function(compiled.native_name).name = one.symbol
        module.link_in(part)
    symbols = {one.symbol for one in wanted}
    for value in (*module.functions, *module.global_variables):
        if value.name.startswith(instructions.NOT_INLINED):
            value.add_function_attribute("noinline")
        if not value.is_declaration:
            value.linkage = "external" if value.name in symbols else "internal"
    return module


def simplified(module: Any) -> Any:
    """Simplify a module for any processor."""
    target = binding.Target.from_triple(module.triple)
    _optimise(module, target.create_target_machine(jit=True), 1)
    return module


def object_code(module: Any, processor: str, features: str) -> bytes:
    """Optimise a module for some processors; return its machine code."""
    target = binding.Target.from_triple(module.triple)
    machine = target.create_target_machine(processor, features, opt=3, jit=True)
    _optimise(module, machine, 3)
    missing = [f.name for f in module.functions if f.is_declaration]
    missing = [name for name in missing if not name.startswith("llvm.")]
    if missing:
        raise ValueError(f"kernels may allocate or raise: they need {', '.join(missing)}")
    code: bytes = machine.emit_object(module)
    return code


def _optimise(module: Any, machine: Any, level: int) -> None:
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _entry(one: Kernel) -> Any:
    """Return the function that takes a kernel's arguments from the table."""
    names: dict[str, Any] = {"carray": carray, "call": _compiled(one.function)}
    at = 0

    def take(hint: Any) -> str:
        nonlocal at
        at += 1
        if hint is int:
            return f"n[{at - 1}]"
        if hint is float:
            return f"x[{at - 1}]"
        if hint is bool:
            return f"n[{at - 1}] != 0"
        if get_origin(hint) is Annotated:
            kind, first = get_args(hint)[1], at
            names[kind.dtype.name] = kind.dtype.type
            at += kind.axes
            shape = "".join(f"n[{x}], " for x in range(first, at))
            return f"carray(p[{first - 1}], ({shape}), {kind.dtype.name})"
        names[hint.__name__] = hint
        at -= 1
        members = get_type_hints(hint, include_extras=True).values()
        return f"{hint.__name__}({', '.join(map(take, members))})"

    hints = dict(one.hints)
    returned = hints.pop("return")
    lines = [f"result = call({', '.join(map(take, hints.values()))})"]
    if get_origin(returned) is tuple:
        lines += [f"n[{at + x}] = result[{x}]" for x in range(len(get_args(returned)))]
    elif returned is not type(None):
        lines += [f"n[{at}] = result"]
    exec("def entry(p, n, x):\n    " + "\n    ".join(lines), names)
    return names["entry"]


# Nobody calls these functions but the kernels.
_ALONE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_made: dict[FunctionType, Any] = {}


def _compiled(function: FunctionType) -> Any:
    """Return what Numba makes of a function, with the kernels and subroutines it calls."""
    if function not in _made:
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            value: Any = names.get(name)
            if isinstance(value, Kernel):
                names[name] = _compiled(value.function)
            elif getattr(value, "instruction", False):
                names[name] = getattr(instructions, name)
            elif getattr(value, "compiled", False):
                names[name] = _compiled(value)
        copy = FunctionType(function.__code__, names, function.__name__)
        _made[function] = numba.njit(error_model="numpy", **_ALONE)(copy)
    return _made[function]


if __name__ == "__main__":
    main(*sys.argv[1:])
