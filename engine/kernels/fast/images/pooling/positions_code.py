"""The code that puts numbers to positions in images: gradients of maxima, and unpooling."""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.pooling.planes_code import fill
from engine.kernels.fast.images.sample_blocks import items
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import I64, Frame, Local, load, loop, offset, size, store

OUTSIDE = 4  # the argument that says whether a position is outside


def emit_scatter(module: ir.Module, name: str, kind: ir.Type, places: ir.Type, adds: bool) -> ir.Function:
    """Zeros with numbers at their positions, added up if it ``adds``, else the last of several stays.

    Arguments: elements of an image; numbers for an image; images and shards; what becomes 1 where a position
    is outside of the image; addresses of the numbers, of their positions (integers of type ``places``), and
    of the images.
    """
    frame = Frame(module, name)
    b = frame.builder
    volume, count = frame.integer(0), frame.integer(1)
    vector = ir.VectorType(kind, lanes() * 4 // size(kind))
    with items(frame, 2) as plane:
        source, marks = (
            offset(b, frame.pointer(n), b.mul(plane, count), t) for n, t in ((5, kind), (6, places))
        )
        made = offset(b, frame.pointer(7), b.mul(plane, volume), kind)
        fill(b, made, volume, vector)
        wrong = Local(b, I64(0))
        with loop(b, I64(0), count) as n:
            place = load(b, offset(b, marks, n, places), places)
            place = place if places == I64 else b.sext(place, I64)
            # As unsigned numbers, negative ones are large.
            with b.if_else(b.icmp_unsigned("<", place, volume), likely=True) as (known, outside):
                with known:
                    value = load(b, offset(b, source, n, kind), kind)
                    goal = offset(b, made, place, kind)
                    store(b, b.fadd(load(b, goal, kind), value) if adds else value, goal)
                with outside:
                    wrong.set(I64(1))
        with b.if_then(b.icmp_signed("!=", wrong.get(), I64(0))):
            store(b, I64(1), offset(b, frame.args, I64(OUTSIDE), I64))
    return frame.close()
