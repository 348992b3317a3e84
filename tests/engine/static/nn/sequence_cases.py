"""Calls on sequences of uneven lengths, of which Paddle 2.6.2 recorded values, lengths and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RNG = np.random.default_rng(31)


def f(*shape: int) -> Any:
    """Numbers away from one another."""
    count = int(np.prod(shape))
    return RNG.permutation(np.linspace(-1.53, 1.61, count)).round(3).reshape(shape).astype(np.float32)


class Case(NamedTuple):
    """``build(nn, *variables)`` gives Variables; each input is an array and the lengths of its levels.

    The gradients are those of the sum of all squares of floating results, or of the first ``summed`` of them.
    """

    inputs: tuple[tuple[Any, list[list[int]]], ...]
    build: Callable[..., Any]
    summed: int | None = None


ROWS = [[2, 0, 3, 1]]
PARTS = [[2, 1], [2, 0, 3]]  # two levels
FULL = [[2, 1, 3]]


def ids(*values: int) -> Any:
    return np.array(values, np.int64).reshape(-1, 1)


CASES: dict[str, Case] = {
    **{
        f"pool {kind}": Case(((f(6, 2), ROWS),), lambda nn, x, kind=kind: nn.sequence_pool(x, kind))
        for kind in ("sum", "average", "sqrt", "max", "last", "first")
    },
    "pool 3-D": Case(((f(6, 2, 2), ROWS),), lambda nn, x: nn.sequence_pool(x, "max")),
    "pool pad_value": Case(((f(6, 2), ROWS),), lambda nn, x: nn.sequence_pool(x, "average", pad_value=0.5)),
    "pool ties": Case(
        ((np.array([[1.0], [1.0], [3.0], [3.0], [2.0], [0.0]], np.float32), ROWS),),
        lambda nn, x: nn.sequence_pool(x, "max"),
    ),
    "pool of two levels": Case(((f(5, 2), PARTS),), lambda nn, x: nn.sequence_pool(x, "sum")),
    "pool twice": Case(
        ((f(5, 2), PARTS),), lambda nn, x: nn.sequence_pool(nn.sequence_pool(x, "max"), "sum")
    ),
    "first_step": Case(((f(6, 2), FULL),), lambda nn, x: nn.sequence_first_step(x)),
    "last_step": Case(((f(6, 2), FULL),), lambda nn, x: nn.sequence_last_step(x)),
    "softmax": Case(((f(6, 1), ROWS),), lambda nn, x: nn.sequence_softmax(x)),
    "softmax 1-D": Case(((f(6), FULL),), lambda nn, x: nn.sequence_softmax(x)),
    "expand rows": Case(((f(4, 2), []), (f(6, 1), ROWS)), lambda nn, x, y: nn.sequence_expand(x, y)),
    "expand sequences": Case(
        ((f(5, 2), [[2, 0, 2, 1]]), (f(6, 1), ROWS)), lambda nn, x, y: nn.sequence_expand(x, y)
    ),
    "expand by level 0": Case(
        ((f(4, 1), [[2, 2]]), (f(6, 1), [[2, 1], [3, 2, 1]])),
        lambda nn, x, y: nn.sequence_expand(x, y, ref_level=0),
    ),
    "expand_as": Case(((f(4, 2), []), (f(6, 1), ROWS)), lambda nn, x, y: nn.sequence_expand_as(x, y)),
    "expand_as sequences": Case(
        ((f(3, 2), [[2, 1]]), (f(6, 1), FULL)), lambda nn, x, y: nn.sequence_expand_as(x, y)
    ),
    "pad": Case(((f(6, 2), ROWS), (np.float32([0.25]), [])), lambda nn, x, v: nn.sequence_pad(x, v)),
    "pad maxlen": Case(
        ((f(6, 2), ROWS), (np.float32([0.25]), [])), lambda nn, x, v: nn.sequence_pad(x, v, maxlen=4)
    ),
    "pad row of values": Case(
        ((f(6, 2), ROWS), (np.float32([0.25, -1]), [])), lambda nn, x, v: nn.sequence_pad(x, v)
    ),
    "unpad": Case(
        ((f(3, 4, 2), []), (np.array([2, 4, 1]), [])), lambda nn, x, n: nn.sequence_unpad(x, n)
    ),
    "reverse": Case(((f(6, 2), ROWS),), lambda nn, x: nn.sequence_reverse(x)),
    "concat": Case(((f(6, 2), FULL), (f(5, 2), [[1, 3, 1]])), lambda nn, x, y: nn.sequence_concat([x, y])),
    "reshape": Case(((f(6, 4), [[2, 3, 1]]),), lambda nn, x: nn.sequence_reshape(x, 2)),
    "enumerate": Case(
        ((ids(1, 2, 3, 4, 5, 6), FULL),), lambda nn, x: nn.sequence_enumerate(x, win_size=2, pad_value=9)
    ),
    "slice": Case(
        ((f(6, 2), FULL), (ids(0, 0, 1), []), (ids(1, 1, 2), [])),
        lambda nn, x, a, n: nn.sequence_slice(x, a, n),
    ),
    "scatter": Case(
        ((f(3, 6), []), (ids(0, 2, 1, 5, 0), [[2, 1, 2]]), (f(5, 1), [[2, 1, 2]])),
        lambda nn, x, i, u: nn.sequence_scatter(x, i, u),
    ),
    **{
        f"conv {size} {start}": Case(
            ((f(6, 2), ROWS),),
            lambda nn, x, size=size, start=start: nn.with_parameters(
                "sequence_conv", {"param_attr": CONV[: 2 * size], "bias_attr": BIAS}, x, 4, size,
                padding_start=start,
            ),
        )
        for size, start in ((3, None), (3, 0), (2, None), (1, None), (5, None))
    },
}  # fmt: skip

CONV, BIAS = f(10, 4), f(4)
GATES, RECURRENT, PEEPHOLES = f(6, 12), f(3, 12), f(1, 21)
STATES = f(4, 3), f(4, 3)


def lstm(rows: list[list[int]] = ROWS, states: bool = False, **options: Any) -> Case:
    bias = PEEPHOLES if options.get("use_peepholes", True) else PEEPHOLES[:, :12]

    def build(nn: Any, x: Any, *given: Any) -> Any:
        first = dict(zip(("h_0", "c_0"), given, strict=False))
        attrs = {"param_attr": RECURRENT, "bias_attr": bias}
        return nn.with_parameters("dynamic_lstm", attrs, x, 12, **first, **options)

    # Paddle's lstm_grad does not read the gradient of the cell.
    return Case(((GATES, rows), *[(s, []) for s in STATES if states]), build, 1)


def gru(rows: list[list[int]] = ROWS, states: bool = False, **options: Any) -> Case:
    def build(nn: Any, x: Any, *given: Any) -> Any:
        attrs = {"param_attr": RECURRENT[:, :9], "bias_attr": PEEPHOLES[:, :9]}
        first = dict(zip(("h_0",), given, strict=False))
        return nn.with_parameters("dynamic_gru", attrs, x, 3, **first, **options)

    return Case(((GATES[:, :9], rows), *[(s, []) for s in STATES[:1] if states]), build)


TAGS, TRANSITIONS = [[2, 1, 3]], f(5, 3)


def tagging(name: str, *inputs: Any, **options: Any) -> Case:
    return Case(tuple((each, TAGS) for each in inputs), lambda nn, *v: getattr(nn, name)(*v, **options))


CASES |= {
    "linear_chain_crf": Case(
        ((f(6, 3), TAGS), (ids(0, 1, 2, 2, 0, 1), TAGS)),
        lambda nn, x, y: nn.with_parameters("linear_chain_crf", {"param_attr": TRANSITIONS}, x, y),
    ),
    "crf_decoding": Case(
        ((f(6, 3), TAGS), (ids(0, 1, 2, 2, 0, 1), TAGS)),
        lambda nn, x, y: nn.decoded({"param_attr": TRANSITIONS}, x, y, None),
    ),
    "crf_decoding with labels": Case(
        ((f(6, 3), TAGS), (ids(0, 1, 2, 2, 0, 1), TAGS)),
        lambda nn, x, y: nn.decoded({"param_attr": TRANSITIONS}, x, y, y),
    ),
    "edit_distance": Case(
        ((ids(1, 2, 3, 1, 2, 2), TAGS), (ids(1, 3, 3, 2, 1), [[2, 2, 1]])),
        lambda nn, x, y: nn.edit_distance(x, y, normalized=True),
    ),
    "edit_distance ignored": Case(
        ((ids(1, 2, 3, 1, 2, 2), TAGS), (ids(1, 3, 3, 2, 1), [[2, 2, 1]])),
        lambda nn, x, y: nn.edit_distance(x, y, normalized=False, ignored_tokens=[3]),
    ),
    "chunk_eval": tagging(
        "chunk_eval", ids(0, 1, 2, 2, 3, 4), ids(0, 1, 2, 0, 1, 4), chunk_scheme="IOB", num_chunk_types=2
    ),
    "im2sequence": Case(
        ((f(2, 2, 4, 3), []),), lambda nn, x: nn.im2sequence(x, filter_size=2, stride=1, padding=1)
    ),
    "warpctc": Case(
        ((f(6, 3), TAGS), (np.array([[1], [2], [1], [2]], np.int32), [[2, 1, 1]])),
        lambda nn, x, y: nn.warpctc(x, y, blank=0),
    ),
    "ctc_greedy_decoder": tagging("ctc_greedy_decoder", f(6, 3), blank=0),
    "row_conv": Case(
        ((f(6, 3), TAGS),),
        lambda nn, x: nn.with_parameters("row_conv", {"param_attr": TRANSITIONS[:3]}, x, 2),
    ),
    "lstm": lstm(FULL),
    "lstm empty": lstm(ROWS),
    "lstm without peepholes": lstm(FULL, use_peepholes=False),
    "lstm reverse": lstm(FULL, is_reverse=True),
    "lstm states": lstm([[2, 1, 2, 1]], True),
    "lstm states reverse": lstm([[2, 1, 2, 1]], True, is_reverse=True),
    "lstm activations": lstm(
        FULL, gate_activation="sigmoid", cell_activation="relu", candidate_activation="identity"
    ),
    "gru": gru(FULL),
    "gru empty": gru(ROWS),
    "gru reverse": gru(FULL, is_reverse=True),
    "gru origin_mode": gru(FULL, origin_mode=True),
    "gru states": gru([[2, 1, 2, 1]], True),
    "gru activations": gru(FULL, candidate_activation="relu", gate_activation="sigmoid"),
}
