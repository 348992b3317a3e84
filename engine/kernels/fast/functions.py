"""exp, log, tanh, sigmoid, erf of scalars and vectors in LLVM's IR, for float and double.

Infinity, NaN, overflow and denormal results are as NumPy has them. The methods are those of Cephes (S. L.
Moshier) and of fdlibm; results are within about two units of the last place.
"""

from __future__ import annotations

from math import factorial

from llvmlite import ir

from engine.kernels.fast.vectors import (
    F32,
    Builder,
    Value,
    absolute,
    constant,
    element,
    fma,
    integers,
    polynomial,
    with_sign,
)

_LOG2E = 1.4426950408889634
# log(2) in two parts: the product of the first with an integer is exact.
_LN2 = {True: (0.693359375, -2.12194440e-4), False: (6.93145751953125e-1, 1.42860682030941723212e-6)}
_EXP = {
    True: (
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
    ),
    False: tuple(1.0 / factorial(n) for n in range(13, 1, -1)),
}
_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LOG_ATANH = (
    1.479819860511658591e-1,
    1.531383769920937332e-1,
    1.818357216161805012e-1,
    2.222219843214978396e-1,
    2.857142874366239149e-1,
    3.999999999940941908e-1,
    6.666666666666735130e-1,
)


def exp(builder: Builder, x: Value) -> Value:
    """e to the power of x."""
    kind, single = x.type, element(x.type) == F32
    whole = integers(kind)
    # Beyond these the result is infinite or zero anyway.
    x = limited(builder, x, *((-104.0, 89.0) if single else (-746.0, 710.0)))
    n, r = _reduced(builder, x)
    result = fma(
        builder,
        fma(builder, polynomial(builder, r, _EXP[single]), r, constant(kind, 0.0)),
        r,
        builder.fadd(r, constant(kind, 1.0)),
    )
    # In two steps: 2 ** n itself may not be a number of this type where the result is one.
    half = builder.ashr(n, constant(whole, 1))
    for part in (half, builder.sub(n, half)):
        result = builder.fmul(result, _power_of_two(builder, part, kind))
    return result


def _reduced(builder: Builder, x: Value) -> tuple[Value, Value]:
    """n, integers, and r such that x = n * log(2) + r, where r is within half of log(2)."""
    kind, single = x.type, element(x.type) == F32
    whole = integers(kind)
    # Adding it rounds to an integer, which the lower bits then contain.
    magic = constant(kind, 1.5 * 2.0 ** (23 if single else 52))
    shifted = fma(builder, x, constant(kind, _LOG2E), magic)
    power = builder.fsub(shifted, magic)
    n = builder.sub(builder.bitcast(shifted, whole), builder.bitcast(magic, whole))
    first, second = _LN2[single]
    r = fma(builder, power, constant(kind, -first), x)
    return n, fma(builder, power, constant(kind, -second), r)


def _power_of_two(builder: Builder, n: Value, kind: ir.Type) -> Value:
    bits, bias = (23, 127) if element(kind) == F32 else (52, 1023)
    whole = n.type
    return builder.bitcast(builder.shl(builder.add(n, constant(whole, bias)), constant(whole, bits)), kind)


def log(builder: Builder, x: Value) -> Value:
    """The natural logarithm: NaN below zero, -inf at zero."""
    kind, single = x.type, element(x.type) == F32
    whole = integers(kind)
    bits, smallest = (23, 2.0**-126) if single else (52, 2.0**-1022)
    small = builder.fcmp_ordered("<", x, constant(kind, smallest))
    scaled = builder.select(small, builder.fmul(x, constant(kind, 2.0**bits)), x)
    # x = m * 2 ** e with m between the root of a half and the root of two.
    root = 0x3F3504F3 if single else 0x3FE6A09E667F3BCD
    above = builder.sub(builder.bitcast(scaled, whole), constant(whole, root))
    e = builder.ashr(above, constant(whole, bits))
    m = builder.bitcast(
        builder.sub(builder.bitcast(scaled, whole), builder.shl(e, constant(whole, bits))), kind
    )
    e = builder.sub(e, builder.select(small, constant(whole, bits), constant(whole, 0)))
    power = builder.sitofp(e, kind)
    f = builder.fsub(m, constant(kind, 1.0))
    # As in exp, but e * first is exact for these parts.
    first, second = (
        (0.693359375, -2.12194440e-4) if single else (6.93147180369123816490e-1, 1.90821492927058770002e-10)
    )
    half_square = builder.fmul(builder.fmul(f, f), constant(kind, 0.5))
    if single:
        tail = builder.fmul(builder.fmul(f, builder.fmul(f, f)), polynomial(builder, f, _LOG))
        tail = fma(builder, power, constant(kind, second), tail)
        result = builder.fadd(f, builder.fsub(tail, half_square))
    else:
        s = builder.fdiv(f, builder.fadd(f, constant(kind, 2.0)))
        z = builder.fmul(s, s)
        series = builder.fmul(z, polynomial(builder, z, _LOG_ATANH))
        inner = builder.fmul(s, builder.fadd(half_square, series))
        tail = fma(builder, power, constant(kind, second), inner)
        result = builder.fsub(f, builder.fsub(half_square, tail))
    result = fma(builder, power, constant(kind, first), result)
    infinite, nan = constant(kind, float("inf")), constant(kind, float("nan"))
    result = builder.select(builder.fcmp_ordered("==", x, infinite), infinite, result)
    result = builder.select(
        builder.fcmp_ordered("==", x, constant(kind, 0.0)), constant(kind, -float("inf")), result
    )
    return builder.select(builder.fcmp_unordered("<", x, constant(kind, 0.0)), nan, result)


def tanh(builder: Builder, x: Value) -> Value:
    """The hyperbolic tangent: (e - 1) / (e + 1), where e = exp(2 x) is (p + 1) * 2 ** n.

    p = exp(r) - 1 keeps its digits near zero, and so does e - 1 = p * 2 ** n + (2 ** n - 1).
    """
    kind, single = x.type, element(x.type) == F32
    one = constant(kind, 1.0)
    most = 20.0 if single else 40.0  # beyond, the result is 1
    n, r = _reduced(builder, limited(builder, builder.fadd(x, x), -most, most))
    p = fma(builder, builder.fmul(polynomial(builder, r, _EXP[single]), r), r, r)
    power = _power_of_two(builder, n, kind)
    above = fma(builder, p, power, builder.fsub(power, one))
    below = fma(builder, p, power, builder.fadd(power, one))
    return with_sign(builder, builder.fdiv(above, below), x)


def sigmoid(builder: Builder, x: Value) -> Value:
    """1 / (1 + exp(-x)), exact to the last digits at both ends."""
    kind = x.type
    one = constant(kind, 1.0)
    e = exp(builder, builder.fneg(absolute(builder, x)))
    upper = builder.select(builder.fcmp_ordered("<", x, constant(kind, 0.0)), e, one)
    return builder.fdiv(upper, builder.fadd(one, e))


def expm1(builder: Builder, x: Value) -> Value:
    """exp(x) - 1, accurate near zero."""
    kind, single = x.type, element(x.type) == F32
    terms = [1.0 / factorial(n) for n in range(9 if single else 16, 1, -1)]
    near = fma(builder, builder.fmul(x, x), polynomial(builder, x, terms), x)
    far = builder.fsub(exp(builder, x), constant(kind, 1.0))
    small = builder.fcmp_ordered("<", absolute(builder, x), constant(kind, 0.5))
    # The sum would make a negative zero positive.
    near = builder.select(builder.fcmp_ordered("==", x, constant(kind, 0.0)), x, near)
    return builder.select(small, near, far)


def log1p(builder: Builder, x: Value) -> Value:
    """log(1 + x), accurate near zero: the rounding error of the sum is added again."""
    kind = x.type
    one = constant(kind, 1.0)
    above = builder.fadd(x, one)
    lost = builder.fsub(x, builder.fsub(above, one))
    # If the sum is infinite or zero there is nothing to correct, and the quotient is NaN.
    finite = builder.and_(
        builder.fcmp_ordered("<", above, constant(kind, float("inf"))),
        builder.fcmp_ordered(">", above, constant(kind, 0.0)),
    )
    corrected = builder.fadd(log(builder, above), builder.fdiv(lost, above))
    result = builder.select(finite, corrected, log(builder, above))
    tiny = builder.fcmp_ordered("==", above, one)  # there the sign of a zero is preserved, too
    return builder.select(tiny, x, result)


# -- the error function: coefficients and methods of engine/ops/elementwise/error_function.py --
_ERF_SINGLE = (
    (
        2.303805059872841e-4,
        3.581123979487723e-3,
        5.1498541143869085e-2,
        1.8971892635445434e-1,
        1.128379135488948,
    ),
    (
        -1.1220996118538363e-7,
        2.315946688604845e-5,
        1.0538108830441734e-3,
        1.4426606509209105e-2,
        1.1279964521443869e-1,
        5.0146644917751e-1,
        1.0,
    ),
)


def erf_single(builder: Builder, x: Value) -> Value:
    """The error function of floats, within 5e-7 of each value."""
    y = limited(builder, x, -3.92, 3.92)
    z = builder.fmul(y, y)
    over, under = (polynomial(builder, z, c) for c in _ERF_SINGLE)
    return limited(builder, builder.fmul(y, builder.fdiv(over, under)), -1.0, 1.0)


def limited(builder: Builder, x: Value, low: float, high: float) -> Value:
    """x within [low, high]; NaN stays NaN."""
    kind = x.type
    x = builder.select(builder.fcmp_ordered("<", x, constant(kind, low)), constant(kind, low), x)
    return builder.select(builder.fcmp_ordered(">", x, constant(kind, high)), constant(kind, high), x)
