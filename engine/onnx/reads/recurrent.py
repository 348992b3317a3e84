"""Rows of recurrent layers: by the engine's own operator, or step by step where that computes another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.eager.tensor import Parameter
from engine.nn import functional as F
from engine.onnx.reads.rows import Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Unreadable, like, sizes_of
from engine.ops.sequences.rnn import rnn

# Where the engine has ONNX's gates: i, o, f, c are i, f, g, o here; z, r, h are r, z, c.
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
_DEFAULTS = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
MOST_STEPS = 64

_FUNCTIONS: dict[str, Callable[[Any, float | None, float | None], Any]] = {
    "sigmoid": lambda x, a, b: F.sigmoid(x),
    "tanh": lambda x, a, b: T.tanh(x),
    "relu": lambda x, a, b: F.relu(x),
    "softsign": lambda x, a, b: F.softsign(x),
    "softplus": lambda x, a, b: F.softplus(x),
    "leakyrelu": lambda x, a, b: F.leaky_relu(x, 0.01 if a is None else a),
    "elu": lambda x, a, b: F.elu(x, 1.0 if a is None else a),
    "hardsigmoid": lambda x, a, b: F.hardsigmoid(x, 0.2 if a is None else a, 0.5 if b is None else b),
    "thresholdedrelu": lambda x, a, b: F.thresholded_relu(x, 1.0 if a is None else a),
}


def _weight(g: Any, value: Any, direction: int, order: Sequence[int], part: int | None = None) -> Any:
    """The weights of one direction with the engine's order of gates; ``part`` is the half of a bias.

    Stored weights are trained in this form.
    """
    if value is None:
        return None
    if isinstance(value, Parameter | np.ndarray):
        array = value.numpy() if isinstance(value, Parameter) else value
        name = value.name if isinstance(value, Parameter) else "weight"
        own = np.split(array[direction], 2)[part] if part is not None else array[direction]
        gates = np.split(own, len(order))
        suffix = ("_reverse" if direction else "") + ("" if part is None else ("_ih", "_hh")[part])
        key = (id(value), direction, part)
        if key not in g.parts:
            g.parts[key] = (value, g.parameter(np.concatenate([gates[n] for n in order]), f"{name}{suffix}"))
        return g.parts[key][1]
    own = value[direction]
    if part is not None:
        own = T.split(own, 2, axis=0)[part]
    gates = T.split(own, len(order), axis=0) if len(order) > 1 else [own]
    return T.concat([gates[n] for n in order], axis=0) if len(order) > 1 else own


def _mode(kind: str, names: list[str]) -> str:
    """The mode of the operator ``rnn`` for a layer with these activations; empty where it has none."""
    if kind == "RNN":
        return {"tanh": "RNN_TANH", "relu": "RNN_RELU"}.get(names[0], "")
    return kind if names == list(_DEFAULTS[kind]) else ""


def _functions(names: list[str], alphas: list[Any], betas: list[Any]) -> list[Any]:
    """Activations as functions of a value, with their alpha and beta where these are given."""
    given = [s + [None] * (len(names) - len(s)) for s in (alphas, betas)]
    return [
        (lambda v, f=_FUNCTIONS[name], a=a, b=b2: f(v, a, b))
        for name, a, b2 in zip(names, given[0], given[1], strict=True)
    ]


def _layers(
    g: Any,
    kind: str,
    X: Any,
    W: Any,
    R: Any,
    B: Any,
    lengths: Any,
    initial_h: Any,
    initial_c: Any,
    peepholes: Any,
    direction: str,
    layout: int,
    activations: Any,
    alphas: Any,
    betas: Any,
    clip: float | None,
    linear_before_reset: int = 0,
    input_forget: int = 0,
) -> tuple[Any, ...]:
    directions = _DIRECTIONS.get(direction)
    if directions is None:
        raise Unreadable(f"direction {direction!r:.40}")
    names = [str(name).lower() for name in activations or _DEFAULTS[kind] * len(directions)]
    if len(names) != len(_DEFAULTS[kind]) * len(directions) or any(n not in _FUNCTIONS for n in names):
        raise Unreadable(f"activations {names!r:.100}")
    x = T.transpose(X, [1, 0, 2]) if layout else X
    initial_h, initial_c = (
        T.transpose(v, [1, 0, 2]) if layout and v is not None else v for v in (initial_h, initial_c)
    )
    order, results = _GATES[kind], []
    for n, is_reverse in enumerate(directions):
        per = len(_DEFAULTS[kind])
        own = names[n * per : (n + 1) * per]
        w, r = _weight(g, W, n, order), _weight(g, R, n, order)
        b, rb = _weight(g, B, n, order, 0), _weight(g, B, n, order, 1)
        h0, c0 = (None if v is None else v[n] for v in (initial_h, initial_c))
        plain = clip is None and peepholes is None and not input_forget
        mode = _mode(kind, own) if plain and (kind != "GRU" or linear_before_reset) else ""
        if mode:
            size = None if lengths is None else T.cast(lengths, "int64")
            results.append(rnn(x, w, r, b, rb, h0, c0, size, mode=mode, is_reverse=is_reverse)[:3])
            continue
        acts = _functions(own, *((shapes or [])[n * per : (n + 1) * per] for shapes in (alphas, betas)))
        peep = None if peepholes is None else peepholes[n]
        results.append(
            _by_steps(
                kind,
                x,
                (w, r, b, rb),
                h0,
                c0,
                peep,
                acts,
                is_reverse,
                clip,
                linear_before_reset,
                input_forget,
                lengths,
            )
        )
    ys, hs, cs = (list(part) for part in zip(*results, strict=True))
    y, h = T.stack(ys, axis=1), T.stack(hs, axis=0)
    c = T.stack(cs, axis=0) if kind == "LSTM" else None
    if layout:
        y, h = T.transpose(y, [2, 0, 1, 3]), T.transpose(h, [1, 0, 2])
        c = None if c is None else T.transpose(c, [1, 0, 2])
    return (y, h, c) if kind == "LSTM" else (y, h)


def _by_steps(
    kind: str,
    x: Any,
    weights: tuple[Any, ...],
    h: Any,
    c: Any,
    peephole: Any,
    acts: Sequence[Callable[[Any], Any]],
    is_reverse: bool,
    clip: float | None,
    linear_before_reset: int,
    input_forget: int,
    lengths: Any,
) -> tuple[Any, Any, Any]:
    """One direction, step by step: the number of steps must be known."""
    steps, batch, _ = sizes_of(x)
    if not isinstance(steps, int) or steps > MOST_STEPS:
        raise NeedsKnown(f"the number of steps must be known, and at most {MOST_STEPS}, for these options")
    w, r, b, rb = weights
    hidden = int(r.shape[1])
    h = T.zeros([batch, hidden], x.dtype.name) if h is None else h
    c = T.zeros([batch, hidden], x.dtype.name) if c is None else c

    def limited(v: Any) -> Any:
        return v if clip is None else T.minimum(T.maximum(v, like(-clip, v)), like(clip, v))

    found = []
    for n in range(steps)[::-1] if is_reverse else range(steps):
        inner = T.matmul(x[n], w, transpose_y=True)
        inner = inner if b is None else T.add(inner, b)
        state = T.matmul(h, r, transpose_y=True)
        before = h, c
        if kind == "RNN":
            total = T.add(inner, state if rb is None else T.add(state, rb))
            h = acts[0](limited(total))
        elif kind == "GRU":
            h = _gru(inner, state, h, r, rb, hidden, acts, limited, linear_before_reset)
        else:
            total = T.add(inner, state if rb is None else T.add(state, rb))
            h, c = _lstm(total, c, peephole, acts, limited, input_forget)
        if lengths is None:
            found.append(h)
            continue
        within = T.unsqueeze(T.less_than(T.full([], n, lengths.dtype.name), lengths), [1])
        found.append(T.where(within, h, like(0, h)))
        h, c = T.where(within, h, before[0]), T.where(within, c, before[1])
    return T.stack(found[::-1] if is_reverse else found, axis=0), h, c


def _gru(
    inner: Any,
    state: Any,
    h: Any,
    r: Any,
    rb: Any,
    hidden: int,
    acts: Sequence[Callable[[Any], Any]],
    limited: Callable[[Any], Any],
    linear_before_reset: int,
) -> Any:
    xr, xz, xc = T.split(inner, 3, axis=-1)
    full = state if rb is None else T.add(state, rb)
    hr, hz, hc = T.split(full, 3, axis=-1)
    reset, update = acts[0](limited(T.add(xr, hr))), acts[0](limited(T.add(xz, hz)))
    if linear_before_reset:
        new = acts[1](limited(T.add(xc, T.multiply(reset, hc))))
    else:
        own = T.matmul(T.multiply(reset, h), r[2 * hidden :], transpose_y=True)
        own = own if rb is None else T.add(own, rb[2 * hidden :])
        new = acts[1](limited(T.add(xc, own)))
    return T.add(T.multiply(T.subtract(like(1, update), update), new), T.multiply(update, h))


def _lstm(
    total: Any,
    c: Any,
    peephole: Any,
    acts: Sequence[Callable[[Any], Any]],
    limited: Callable[[Any], Any],
    input_forget: int,
) -> tuple[Any, Any]:
    i, f, new, o = T.split(total, 4, axis=-1)
    pi, po, pf = (None,) * 3 if peephole is None else T.split(peephole, 3, axis=-1)
    i = acts[0](limited(i if pi is None else T.add(i, T.multiply(pi, c))))
    if input_forget:
        f = T.subtract(like(1, i), i)
    else:
        f = acts[0](limited(f if pf is None else T.add(f, T.multiply(pf, c))))
    c = T.add(T.multiply(f, c), T.multiply(i, acts[1](limited(new))))
    o = acts[0](limited(o if po is None else T.add(o, T.multiply(po, c))))
    return T.multiply(o, acts[2](c)), c


@reads("LSTM")
def _(
    g: Any,
    X: Any,
    W: Raw,
    R: Raw,
    B: Raw = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    P: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    input_forget: int = 0,
    layout: int = 0,
) -> Any:
    return _layers(
        g, "LSTM", X, W, R, B, sequence_lens, initial_h, initial_c, P, direction, layout, activations,
        activation_alpha, activation_beta, clip, 0, input_forget,
    )  # fmt: skip


@reads("GRU")
def _(
    g: Any,
    X: Any,
    W: Raw,
    R: Raw,
    B: Raw = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> Any:
    return _layers(
        g, "GRU", X, W, R, B, sequence_lens, initial_h, None, None, direction, layout, activations,
        activation_alpha, activation_beta, clip, linear_before_reset,
    )  # fmt: skip


@reads("RNN")
def _(
    g: Any,
    X: Any,
    W: Raw,
    R: Raw,
    B: Raw = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
) -> Any:
    return _layers(
        g, "RNN", X, W, R, B, sequence_lens, initial_h, None, None, direction, layout, activations,
        activation_alpha, activation_beta, clip,
    )  # fmt: skip
