"""Building blocks of generated kernels: a function's frame, loops, loads and stores of vectors, arithmetic.

Every helper takes an ``ir.IRBuilder`` and plain LLVM values. A value may be a scalar or a vector of any
count: LLVM splits vectors that are wider than the CPU's registers, so code for 16 lanes runs everywhere.
``lanes`` of ``target`` returns the count that is fast here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from engine.kernels.fast.target import target

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
F32, F64 = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
Builder = ir.IRBuilder
Value = Any  # an ir.Value


class Frame:
    """The function ``void name(int64_t *args, int64_t begin, int64_t end)`` while it is written.

    ``builder`` is positioned at its end. Call :meth:`close` when the body is complete.
    """

    def __init__(self, module: ir.Module, name: str) -> None:
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, I64, I64]), name)
        self.function.attributes.add("nounwind")
        self.args, self.begin, self.end = self.function.args
        self.args.add_attribute("noalias")
        entry = self.function.append_basic_block("entry")
        self.builder = ir.IRBuilder(entry)

    def integer(self, slot: int) -> Value:
        """The 64-bit integer in ``args[slot]``."""
        place = self.builder.gep(self.args, [I64(slot)], source_etype=I64, inbounds=True)
        return self.builder.load(place, typ=I64)

    def pointer(self, slot: int) -> Value:
        """The address in ``args[slot]``."""
        return self.builder.inttoptr(self.integer(slot), POINTER)

    def scalar(self, slot: int, kind: Any) -> Value:
        """The float or double whose bits are in ``args[slot]`` (a float in the lower half)."""
        bits = self.integer(slot)
        if kind == F32:
            bits = self.builder.trunc(bits, I32)
        return self.builder.bitcast(bits, kind)

    def close(self) -> ir.Function:
        """End the function; returns it."""
        self.builder.ret_void()
        return self.function


class Local:
    """A local variable, which LLVM keeps in a register."""

    def __init__(self, builder: Builder, value: Value) -> None:
        self.builder, self.type = builder, value.type
        with builder.goto_entry_block():
            self.place = builder.alloca(value.type)
        self.set(value)

    def get(self) -> Value:
        return self.builder.load(self.place, typ=self.type)

    def set(self, value: Value) -> None:
        self.builder.store(value, self.place)


@contextmanager
def loop(builder: Builder, start: Value, stop: Value, step: int | Value = 1) -> Iterator[Value]:
    """The body runs for start, start + step ... below ``stop`` (64-bit integers); gives the index."""
    step = I64(step) if isinstance(step, int) else step
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(I64)
    index.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", index, stop), body, after)
    builder.position_at_end(body)
    yield index
    index.add_incoming(builder.add(index, step), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


def least(builder: Builder, one: Value, other: Value) -> Value:
    """The smaller one of two integers."""
    return builder.select(builder.icmp_signed("<", one, other), one, other)


# -- types and constants -------------------------------------------------------------------------------------
def element(kind: Any) -> Any:
    """The type of one element of a vector, or the scalar type itself."""
    return kind.element if isinstance(kind, ir.VectorType) else kind


def like(kind: Any, scalar: Any) -> Any:
    """``scalar`` as a type, or as many of them as the vector type ``kind`` has."""
    return ir.VectorType(scalar, kind.count) if isinstance(kind, ir.VectorType) else scalar


def constant(kind: Any, value: float | int | bool) -> Value:
    """The number as a constant of a scalar or vector type."""
    one = element(kind)
    if isinstance(one, ir.FloatType):
        import numpy as np

        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [ir.Constant(one, value)] * kind.count)
    return ir.Constant(kind, value)


def integers(kind: Any) -> Any:
    """The integers of the same width as the floats of ``kind``."""
    return like(kind, I32 if element(kind) == F32 else I64)


def broadcast(builder: Builder, value: Value, lanes: int) -> Value:
    """``value`` in each of ``lanes`` lanes."""
    kind = ir.VectorType(value.type, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, I32(0))
    return builder.shuffle_vector(
        one, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    )


def ramp(kind: Any, lanes: int) -> Value:
    """0, 1, 2 ... as integers of type ``kind``."""
    return ir.Constant(ir.VectorType(kind, lanes), list(range(lanes)))


# -- memory --------------------------------------------------------------------------------------------------
def offset(builder: Builder, pointer: Value, count: Value, kind: Any = I8) -> Value:
    """The address ``count`` elements (bytes by default) behind ``pointer``."""
    return builder.gep(pointer, [count], source_etype=kind)


def load(builder: Builder, pointer: Value, kind: Any, align: int | None = None) -> Value:
    """The scalar or vector at ``pointer``, aligned as its elements are."""
    return builder.load(pointer, typ=kind, align=align or size(element(kind)))


def store(builder: Builder, value: Value, pointer: Value, align: int | None = None) -> None:
    """Write a scalar or vector to ``pointer``, aligned as its elements are."""
    builder.store(value, pointer, align=align or size(element(value.type)))


def size(kind: Any) -> int:
    """Bytes of one element."""
    if isinstance(kind, ir.FloatType):
        return 4
    return 8 if isinstance(kind, (ir.DoubleType, ir.PointerType)) else max(1, kind.width // 8)


def first(builder: Builder, count: Value, lanes: int) -> Value:
    """The mask whose lanes below ``count`` (a 64-bit integer) are on."""
    return builder.icmp_signed("<", ramp(I64, lanes), broadcast(builder, count, lanes))


def all_on(builder: Builder, mask: Value) -> Value:
    """Whether every lane of a mask is on."""
    bits = ir.IntType(mask.type.count)
    return builder.icmp_unsigned("==", builder.bitcast(mask, bits), bits((1 << mask.type.count) - 1))


def masked_load(
    builder: Builder, pointer: Value, kind: Any, mask: Value, other: Value | None = None
) -> Value:
    """The vector at ``pointer`` where ``mask`` is on, ``other`` (zeros) elsewhere; reads nothing else."""
    other = ir.Constant(kind, None) if other is None else other
    function = _intrinsic(builder, f"llvm.masked.load.{_name(kind)}.p0", kind, [POINTER, mask.type, kind])
    return builder.call(function, [pointer, mask, other])


def masked_store(builder: Builder, value: Value, pointer: Value, mask: Value) -> None:
    """Write the lanes of ``value`` where ``mask`` is on; touches nothing else.

    Before AVX-512 a masked store takes many times as long as a plain one: a full mask takes the plain one.
    """
    if target().masked_stores:
        _masked_store(builder, value, pointer, mask)
        return
    with builder.if_else(all_on(builder, mask), likely=True) as (then, otherwise):
        with then:
            store(builder, value, pointer)
        with otherwise:
            _masked_store(builder, value, pointer, mask)


def _masked_store(builder: Builder, value: Value, pointer: Value, mask: Value) -> None:
    function = _intrinsic(
        builder, f"llvm.masked.store.{_name(value.type)}.p0", ir.VoidType(), [value.type, POINTER, mask.type]
    )
    builder.call(function, [value, pointer, mask])


def prefetch(builder: Builder, pointer: Value) -> None:
    """Have the cache line at ``pointer``, which need not be valid, fetched into the second cache."""
    function = _intrinsic(builder, "llvm.prefetch.p0", ir.VoidType(), [POINTER, I32, I32, I32])
    builder.call(function, [pointer, I32(0), I32(2), I32(1)])  # to be read; once in a while; data


def settled(builder: Builder, value: Value) -> Value:
    """``value``, a vector, computed at this place; what was read before is read again after it.

    LLVM neither moves it behind this place nor keeps what was read, which may need more registers than the
    CPU has. Only for x86.
    """
    same = ir.FunctionType(value.type, [value.type])
    any_register = "=v" if target().has("avx512f") else "=x"
    return builder.call(ir.InlineAsm(same, "", f"{any_register},0,~{{memory}}", side_effect=True), [value])


# -- arithmetic ----------------------------------------------------------------------------------------------
def fma(builder: Builder, a: Value, b: Value, c: Value) -> Value:
    """a * b + c; rounded once where the CPU has an instruction for it."""
    return _call(builder, "llvm.fmuladd", a, b, c)


def polynomial(builder: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial whose coefficients are given from the highest power to the constant."""
    result = constant(x.type, coefficients[0])
    for each in coefficients[1:]:
        result = fma(builder, result, x, constant(x.type, each))
    return result


def absolute(builder: Builder, x: Value) -> Value:
    """x without its sign; NaN stays NaN."""
    return _call(builder, "llvm.fabs", x)


def square_root(builder: Builder, x: Value) -> Value:
    """The root of x, NaN below zero."""
    return _call(builder, "llvm.sqrt", x)


def rounded(builder: Builder, x: Value, how: str) -> Value:
    """x as an integer: how is "floor", "ceil", "trunc" or "roundeven"."""
    return _call(builder, f"llvm.{how}", x)


def with_sign(builder: Builder, x: Value, sign: Value) -> Value:
    """x with the sign of ``sign``."""
    return _call(builder, "llvm.copysign", x, sign)


def maximum(builder: Builder, a: Value, b: Value) -> Value:
    """The larger one; NaN where either is NaN, as NumPy's ``maximum``."""
    larger = builder.select(builder.fcmp_ordered(">", a, b), a, b)
    return builder.select(builder.fcmp_unordered("uno", a, a), a, larger)


def minimum(builder: Builder, a: Value, b: Value) -> Value:
    """The smaller one; NaN where either is NaN, as NumPy's ``minimum``."""
    smaller = builder.select(builder.fcmp_ordered("<", a, b), a, b)
    return builder.select(builder.fcmp_unordered("uno", a, a), a, smaller)


def total(builder: Builder, value: Value, join: Callable[[Builder, Value, Value], Value]) -> Value:
    """All lanes of a vector joined, halves first; the order is fixed, so the result is always the same.

    The count must be a power of two.
    """
    while value.type.count > 1:
        half = value.type.count // 2
        nothing = ir.Constant(value.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(value, nothing, ir.Constant(ir.VectorType(I32, half), list(places)))
            for places in (range(half), range(half, 2 * half))
        )
        value = join(builder, low, high)
    return builder.extract_element(value, I32(0))


def plus(builder: Builder, a: Value, b: Value) -> Value:
    """a + b, to be given to :func:`total`."""
    return builder.fadd(a, b)


def _name(kind: Any) -> str:
    one = element(kind)
    name = "f32" if one == F32 else "f64" if one == F64 else f"i{one.width}"
    return f"v{kind.count}{name}" if isinstance(kind, ir.VectorType) else name


def _intrinsic(builder: Builder, name: str, result: Any, arguments: Sequence[Any]) -> ir.Function:
    module = builder.module
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)


def _call(builder: Builder, name: str, *values: Value) -> Value:
    kind = values[0].type
    return builder.call(_intrinsic(builder, f"{name}.{_name(kind)}", kind, [kind] * len(values)), values)
