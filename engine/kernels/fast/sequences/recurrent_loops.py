"""The loops of LSTM, GRU and simple recurrent layers through time, forward and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.fast.compiler import function
from engine.kernels.fast.sequences.recurrent import Compiled, How, Pointwise, Walk
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import F32, F64, Value


def _lstm(module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    b = w.builder
    x, w_in, bias, recurrent, h0, c0, gates, y, cells = (w.pointer(n) for n in range(9))
    with w.time(False) as (t, earlier, is_first):
        h = b.select(is_first, w.only(h0), w.at(y, earlier))
        c = b.select(is_first, w.only(c0), w.at(cells, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        w.fill(gates, t, 4, (x, w_in, bias), (h, recurrent))
        new_h, new_c = w.at(y, t), w.at(cells, t)

        def body(p: Pointwise, place: Value) -> None:
            values = [p.load(w.move(part, place)) for part in parts]
            i, f, o = (p.sigmoid_of_half(values[n]) for n in (0, 1, 3))
            g = p.tanh(values[2])
            for value, part in zip((i, f, g, o), parts, strict=True):
                p.store(value, w.move(part, place))
            cell = p.add(p.mul(f, p.load(w.move(c, place))), p.mul(i, g))
            p.store(cell, w.move(new_c, place))
            p.store(p.mul(o, p.tanh(cell)), w.move(new_h, place))

        w.each(body)
    return w.close()


def _lstm_back(module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    b = w.builder
    gates, weight, c0, cells, g_y, dh, dc, result, w_in, g_x = (w.pointer(n) for n in range(10))
    dh, dc = w.only(dh), w.only(dc)
    with w.time(True) as (t, earlier, is_first):
        before = b.select(is_first, w.only(c0), w.at(cells, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        made = [w.at(result, t, gate) for gate in range(4)]
        cell = w.at(cells, t)
        w.flow(g_y, t, dh)

        def body(p: Pointwise, place: Value) -> None:
            i, f, g, o = (p.load(w.move(part, place)) for part in parts)
            bent = p.tanh(p.load(w.move(cell, place)))
            new_h = p.load(w.move(dh, place))
            new_c = p.add(p.load(w.move(dc, place)), p.mul(new_h, o, p.rest(p.mul(bent, bent))))
            slopes = (
                p.mul(new_c, p.mul(p.rest(i), i, g)),
                p.mul(new_c, p.mul(p.rest(f), f, p.load(w.move(before, place)))),
                p.mul(new_c, p.mul(p.rest(p.mul(g, g)), i)),
                p.mul(new_h, p.mul(p.rest(o), o, bent)),
            )
            for slope, part in zip(slopes, made, strict=True):
                p.store(slope, w.move(part, place))
            p.store(p.mul(new_c, f), w.move(dc, place))

        w.each(body)
        w.back(result, t, 4, weight, dh)
        w.to_x(result, t, 4, w_in, g_x)
    return w.close()


def _gru(module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    b = w.builder
    x, w_in, bias, recurrent, h0, gates, y = (w.pointer(n) for n in range(7))
    with w.time(False) as (t, earlier, is_first):
        h = b.select(is_first, w.only(h0), w.at(y, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        w.fill(gates, t, 4, (x, w_in, bias), (h, recurrent), apart=True)
        new_h = w.at(y, t)

        def body(p: Pointwise, place: Value) -> None:
            r, u = (p.sigmoid_of_half(p.load(w.move(parts[n], place))) for n in (0, 1))
            from_h = p.load(w.move(parts[3], place))
            candidate = p.tanh(p.add(p.load(w.move(parts[2], place)), p.mul(r, from_h)))
            for value, part in zip((r, u, candidate), parts[:3], strict=True):
                p.store(value, w.move(part, place))
            old = p.load(w.move(h, place))
            p.store(p.add(p.mul(p.sub(old, candidate), u), candidate), w.move(new_h, place))

        w.each(body)
    return w.close()


def _gru_back(module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    b = w.builder
    gates, weight, h0, y, g_y, dh, to_x, to_h, w_in, g_x = (w.pointer(n) for n in range(10))
    dh = w.only(dh)
    with w.time(True) as (t, earlier, is_first):
        old = b.select(is_first, w.only(h0), w.at(y, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        for_x = [w.at(to_x, t, gate) for gate in range(3)]
        for_h = [w.at(to_h, t, gate) for gate in range(3)]
        w.flow(g_y, t, dh)

        def body(p: Pointwise, place: Value) -> None:
            r, u, c, from_h = (p.load(w.move(part, place)) for part in parts)
            new_h = p.load(w.move(dh, place))
            to_c = p.mul(new_h, p.mul(p.rest(p.mul(c, c)), p.rest(u)))
            to_r = p.mul(p.mul(p.rest(r), r, from_h), to_c)
            to_u = p.mul(new_h, p.mul(p.rest(u), u, p.sub(p.load(w.move(old, place)), c)))
            for value, part in zip((to_r, to_u, to_c), for_x, strict=True):
                p.store(value, w.move(part, place))
            for value, part in zip((to_r, to_u, p.mul(to_c, r)), for_h, strict=True):
                p.store(value, w.move(part, place))
            p.store(p.mul(new_h, u), w.move(dh, place))

        w.each(body)
        w.back(to_h, t, 3, weight, dh, add=True)
        w.to_x(to_x, t, 3, w_in, g_x)
    return w.close()


def _simple(relu: bool, module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    x, w_in, bias, recurrent, h0, y = (w.pointer(n) for n in range(6))
    with w.time(False) as (t, earlier, is_first):
        h = w.builder.select(is_first, w.only(h0), w.at(y, earlier))
        new_h = w.at(y, t)
        w.fill(y, t, 1, (x, w_in, bias), (h, recurrent))

        def body(p: Pointwise, place: Value) -> None:
            value = p.load(w.move(new_h, place))
            p.store(p.relu(value) if relu else p.tanh(value), w.move(new_h, place))

        w.each(body)
    return w.close()


def _simple_back(relu: bool, module: ir.Module, name: str, scalar: ir.Type, how: How) -> ir.Function:
    w = Walk(module, name, scalar, how)
    y, weight, g_y, dh, result, w_in, g_x = (w.pointer(n) for n in range(7))
    dh = w.only(dh)
    with w.time(True) as (t, _, _):
        made, out = w.at(result, t), w.at(y, t)
        w.flow(g_y, t, dh)

        def body(p: Pointwise, place: Value) -> None:
            value = p.load(w.move(out, place))
            slope = p.positive(value) if relu else p.rest(p.mul(value, value))
            p.store(p.mul(slope, p.load(w.move(dh, place))), w.move(made, place))

        w.each(body)
        w.back(result, t, 1, weight, dh)
        w.to_x(result, t, 1, w_in, g_x)
    return w.close()


BUILDERS: dict[str, Callable[..., Any]] = {
    "LSTM": _lstm,
    "LSTM back": _lstm_back,
    "GRU": _gru,
    "GRU back": _gru_back,
    "RNN_TANH": partial(_simple, False),
    "RNN_TANH back": partial(_simple_back, False),
    "RNN_RELU": partial(_simple, True),
    "RNN_RELU back": partial(_simple_back, True),
}


def kernel(which: str, dtype: Any, how: How) -> Compiled | None:
    """The loop ``which`` for float32 or float64; None for others."""
    scalar = {"float32": F32, "float64": F64}.get(np.dtype(dtype).name)
    if scalar is None:
        return None
    handle = function(
        f"recurrent {which} {scalar} {lanes()} {how}",
        lambda module, name: BUILDERS[which](module, name, scalar, how),
    )
    return Compiled(handle)
