"""The transforms of Winograd's convolutions of 3 by 3 filters: their matrices, and code that applies them.

A tile of ``m`` by ``m`` results takes (m + 2) ** 2 products for each channel instead of 9 * m ** 2: with d
the image, w the filter and ``*`` entry by entry, the results are ``A [(G w G') * (B d B')] A'`` (A. Lavin and
S. Gray, Fast Algorithms for Convolutional Neural Networks, 2016; the construction is Cook's and Toom's).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from llvmlite import ir

from engine.kernels.fast.vectors import Builder, Value, constant, fma

# Points at which polynomials are evaluated, besides infinity. Of the points tried for tiles of 4 these round
# least: twice the error of sums without a transform, where the usual 1, -1, 2, -2 have four times (decision
# 100).
_POINTS = {2: ("0", "1", "-1"), 4: ("0", "3/4", "-3/4", "3/2", "-3/2")}
Matrix = tuple[tuple[float, ...], ...]


class Transforms(NamedTuple):
    """``result`` (A) is [m, m + 2], ``filters`` (G) [m + 2, 3], ``image`` (B) [m + 2, m + 2]."""

    result: Matrix
    filters: Matrix
    image: Matrix


@lru_cache(maxsize=2)
def transforms(m: int) -> Transforms:
    """The matrices for tiles of m by m results: m is 2 or 4."""
    points = [Fraction(p) for p in _POINTS[m]]
    zero, one = Fraction(0), Fraction(1)
    result = [[p**n for p in points] + [one if n == m - 1 else zero] for n in range(m)]
    filters, image = [], []
    for p in points:
        others = [q for q in points if q != p]
        divisor = one
        for q in others:
            divisor *= p - q
        filters.append([p**n / divisor for n in range(3)])
        image.append([*_with_roots(others), zero])
    filters.append([zero, zero, one])
    image.append(_with_roots(points))
    return Transforms(*(tuple(tuple(map(float, row)) for row in rows) for rows in (result, filters, image)))


def _with_roots(roots: Sequence[Fraction]) -> list[Fraction]:
    """Coefficients, the constant first, of the polynomial with these roots."""
    found = [Fraction(1)]
    for root in roots:
        found = [Fraction(0), *found]
        for n in range(len(found) - 1):
            found[n] -= root * found[n + 1]
    return found


def turned(matrix: Matrix) -> Matrix:
    """The transpose."""
    return tuple(zip(*matrix, strict=True))


def apply(b: Builder, matrix: Matrix, values: Sequence[Value]) -> list[Value]:
    """``matrix @ values``: rows that differ in signs alone share their parts, columns their sums."""
    columns = turned(matrix)
    for n, m in _pairs(columns):
        same = [x if x == y else 0.0 for x, y in zip(columns[n], columns[m], strict=True)]
        apart = [x if x != y else 0.0 for x, y in zip(columns[n], columns[m], strict=True)]
        columns = (*columns, same, apart)  # type: ignore[assignment]
        values = [*values, b.fadd(values[n], values[m]), b.fsub(values[n], values[m])]
    used = {n for pair in _pairs(turned(matrix)) for n in pair}
    left = [n for n in range(len(columns)) if n not in used]
    values = [values[n] for n in left]
    rows = turned(tuple(tuple(columns[n]) for n in left))
    found: dict[int, Value] = {}
    for n, m in _pairs(rows):
        same = [x if x == y else 0.0 for x, y in zip(rows[n], rows[m], strict=True)]
        apart = [x if x != y else 0.0 for x, y in zip(rows[n], rows[m], strict=True)]
        one, other = _sum(b, same, values), _sum(b, apart, values)
        found[n], found[m] = b.fadd(one, other), b.fsub(one, other)
    return [found[n] if n in found else _sum(b, row, values) for n, row in enumerate(rows)]


def _pairs(rows: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Rows whose entries differ in some signs and in nothing else."""
    found: list[tuple[int, int]] = []
    for n, row in enumerate(rows):
        for m in range(n + 1, len(rows)):
            alike = all(abs(x) == abs(y) for x, y in zip(row, rows[m], strict=True))
            if alike and sum(x != 0 for x in row) > 1 and tuple(row) != tuple(rows[m]):
                found.append((n, m))
    return found


def _sum(b: Builder, factors: Sequence[float], values: Sequence[Value]) -> Value:
    """``factors @ values``, the plain terms first."""
    kind = values[0].type
    terms = sorted(
        ((f, v) for f, v in zip(factors, values, strict=True) if f != 0),
        key=lambda t: (abs(t[0]) != 1, t[0] < 0),
    )
    total: Value = ir.Constant(kind, None)
    for n, (factor, value) in enumerate(terms):
        if n == 0:
            total = value if factor == 1 else b.fmul(value, constant(kind, factor))
        elif factor == 1:
            total = b.fadd(total, value)
        elif factor == -1:
            total = b.fsub(total, value)
        else:
            total = fma(b, value, constant(kind, factor), total)
    return total


def apply_twice(b: Builder, matrix: Matrix, values: Sequence[Sequence[Value]]) -> list[list[Value]]:
    """``matrix @ values @ matrix'`` of rows of values."""
    down = [apply(b, matrix, column) for column in zip(*values, strict=True)]  # [column][row]
    return [apply(b, matrix, row) for row in zip(*down, strict=True)]
