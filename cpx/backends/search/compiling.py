"""Compilation of kernels by Numba, to object files that need no Numba.

Numba compiles the kernel itself. Its calling convention is its own affair and may change; so
a small function is put before it, which takes the table of
:mod:`~cpx.backends.search.native` apart, and lets Numba build its arguments from that.

Imported only where something must be compiled.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numba
from llvmlite import binding, ir
from numba import types
from numba.np.arrayobj import populate_array

from cpx.backends.search.jit import Instruction, Kernel
from cpx.backends.search.native import ENTRY, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compile_native", "dispatcher"]

_WORD = ir.IntType(64)
_RESULTS = {types.int64: "int", types.boolean: "bool"}


def dispatcher(function: FunctionType, **options: bool) -> Any:
    """Return what Numba makes of a function, with the kernels and instructions it calls.

    Reference counting is off, which halves the time to compile.
    """
    names = function.__globals__
    known = {
        name: names[name].inner
        for name in function.__code__.co_names
        if isinstance(names.get(name), Kernel | Instruction)
    }
    copy = FunctionType(function.__code__, {**names, **known}, function.__name__)
    copy.__qualname__ = function.__qualname__
    return numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(copy)


def compile_native(kernel: Kernel, arguments: tuple[Any, ...]) -> Stored | None:
    """Compile a kernel for arguments like these.

    None where its code is not on its own, or returns what a table cannot hold: then only Numba
    can call it.
    """
    kinds = tuple(numba.typeof(argument) for argument in arguments)
    kernel.inner.compile(kinds)
    compiled = kernel.inner.overloads[kinds]
    returned = compiled.signature.return_type
    single = not isinstance(returned, types.BaseTuple)
    results = [] if returned is types.none else [returned] if single else list(returned)
    if not all(kind in _RESULTS for kind in results) or any(_missing(compiled.library)):
        return None
    entry = _entry(kernel.inner.targetctx, compiled, results, single)
    return Stored(
        (compiled.library._get_compiled_object(), entry),
        tuple(_RESULTS[kind] for kind in results),
        single,
    )


def _missing(library: Any) -> Iterator[str]:
    """Name the functions that the code calls and does not contain.

    Those of LLVM are instructions, or of the C library that every process has.
    """
    for function in library._final_module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            yield function.name


def _entry(context: Any, compiled: Any, results: list[Any], single: bool) -> bytes:
    """Return the object code of the function that Python calls."""
    module = context.create_module(ENTRY)
    kind = ir.FunctionType(ir.IntType(32), [_WORD.as_pointer()])
    function = ir.Function(module, kind, ENTRY)
    builder = ir.IRBuilder(function.append_basic_block())
    table = _Table(context, builder, function.args[0])
    arguments = [table.take(kind) for kind in compiled.signature.args]
    status, returned = context.call_conv.call_function(
        builder,
        context.declare_function(module, compiled.fndesc),
        compiled.signature.return_type,
        compiled.signature.args,
        arguments,
    )
    for x, kind in enumerate(results):
        table.put(kind, returned if single else builder.extract_value(returned, x))
    builder.ret(status.code)
    machine = context.codegen()._tm
    code: bytes = machine.emit_object(binding.parse_assembly(str(module)))
    return code


class _Table:
    """Reads arguments from the words of a table and writes results behind them."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.context, self.builder, self.words, self.at = context, builder, words, 0

    def place(self) -> Any:
        """Return a pointer to the next word."""
        self.at += 1
        return self.builder.gep(self.words, [_WORD(self.at - 1)])

    def word(self) -> Any:
        return self.builder.load(self.place())

    def take(self, kind: Any) -> Any:
        """Return the next argument as Numba represents it."""
        context, builder = self.context, self.builder
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.take(member) for member in kind])
        if isinstance(kind, types.Array):
            return self.array(kind)
        if kind == types.boolean:
            return builder.icmp_signed("!=", self.word(), _WORD(0))
        assert kind == types.int64, kind
        return self.word()

    def array(self, kind: Any) -> Any:
        """Return an array; its strides are those of the order of C."""
        context, builder = self.context, self.builder
        pointer = context.get_value_type(types.CPointer(kind.dtype))
        data = builder.inttoptr(self.word(), pointer)
        shape = [self.word() for _ in range(kind.ndim)]
        itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [_WORD(itemsize)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        array = context.make_array(kind)(context, builder)
        populate_array(array, data, shape, strides, itemsize, None)
        return array._getvalue()

    def put(self, kind: Any, value: Any) -> None:
        """Write a result to the next word."""
        if kind == types.boolean:
            value = self.builder.zext(value, _WORD)
        self.builder.store(value, self.place())
