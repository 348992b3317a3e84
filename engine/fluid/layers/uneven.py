"""Recurrent layers over sequences of uneven lengths, and functions that change lengths (LoD)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError
from engine.ops.sequences import uneven_rnn
from engine.program.graph.variable import Variable
from engine.static.nn.helper import Helper, require_variable
from engine.static.nn.sequence_lengths import find_levels, levels_of, with_levels
from engine.tensor import creation, manipulation, math


def dynamic_lstm(
    input: Any,
    size: int,
    h_0: Any = None,
    c_0: Any = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    dtype: Any = "float32",
    name: str | None = None,
) -> tuple[Any, Any]:
    """An LSTM over each sequence of ``input`` [rows, size]: hidden and cell states [rows, size / 4].

    ``input`` is already multiplied by its weight, by an ``fc`` of ``size``, which is four times that of the
    state. The weight [size / 4, size] has candidate, input, forget and output gate side by side; the bias
    [1, size] in the same order, with ``use_peepholes`` [1, 7 * size / 4], the peepholes of input, forget and
    output gate behind. ``h_0`` and ``c_0`` are first states [sequences, size / 4]. Activations are 'sigmoid',
    'tanh', 'relu' and 'identity'.

    Raises ArgumentError for an input without lengths, or one of two first states alone, ConditionError
    for ``bias_attr=False``.
    """
    levels = levels_of("dynamic_lstm", "input", input)
    if (h_0 is None) != (c_0 is None):
        raise ArgumentError("dynamic_lstm: (InvalidArgument) h_0 and c_0 belong together: give both or none")
    helper, width = Helper("lstm", name, "layers.dynamic_lstm"), size // 4
    weight, bias = _parameters(
        "dynamic_lstm", helper, width, 4, 7 if use_peepholes else 4, param_attr, bias_attr, dtype
    )
    hidden, cell, _ = uneven_rnn.dynamic_lstm(
        input, weight, bias, levels[-1], h_0, c_0, is_reverse=bool(is_reverse),
        activations=(gate_activation, cell_activation, candidate_activation),
    )  # fmt: skip
    return with_levels(hidden, levels), with_levels(cell, levels)


def dynamic_gru(
    input: Any,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    candidate_activation: str = "tanh",
    h_0: Any = None,
    origin_mode: bool = False,
) -> Any:
    """A GRU over each sequence of ``input`` [rows, 3 * size]: the state of each row, [rows, size].

    ``input`` is already multiplied by its weight, by an ``fc`` of ``3 * size``. For the weight, the bias and
    ``origin_mode`` see ``gru_unit``; ``h_0`` are first states [sequences, size].

    Raises ArgumentError for an input without lengths, ConditionError for ``bias_attr=False``.
    """
    levels = levels_of("dynamic_gru", "input", input)
    helper = Helper("gru", None, "layers.dynamic_gru")
    weight, bias = _parameters("dynamic_gru", helper, size, 3, 3, param_attr, bias_attr, input.dtype)
    hidden, _ = uneven_rnn.dynamic_gru(
        input, weight, bias, levels[-1], h_0, is_reverse=bool(is_reverse), origin_mode=bool(origin_mode),
        activations=(gate_activation, candidate_activation),
    )  # fmt: skip
    return with_levels(hidden, levels)


def _parameters(
    where: str,
    helper: Helper,
    size: int,
    gates: int,
    biases: int,
    param_attr: Any,
    bias_attr: Any,
    dtype: Any,
) -> tuple[Any, Any]:
    if bias_attr is False:
        raise ConditionError(f"{where}: bias_attr should not be False in {where}: pass None, or a ParamAttr")
    weight = helper.parameter([size, gates * size], param_attr, dtype)
    return weight, helper.parameter([1, biases * size], bias_attr, dtype, is_bias=True)


def lod_reset(x: Any, y: Any = None, target_lod: Sequence[int] | None = None) -> Any:
    """``x`` with the lengths of ``y``, or with the offsets ``target_lod``: [0, 2, 5] is two sequences.

    A ``y`` without lengths holds offsets itself. Raises ArgumentError without either, and for offsets that do
    not begin with 0 or that fall.
    """
    require_variable("lod_reset", "x", x)
    if y is not None:
        levels = find_levels(y)
        if not levels:
            offsets = math.cast(manipulation.reshape(y, [-1]), "int64")
            levels = [offsets[1:] - offsets[:-1]]
        return with_levels(x, levels)
    if target_lod is None:
        raise ArgumentError("lod_reset: (InvalidArgument) y and target_lod should not be both none: give one")
    lengths = np.diff(target_lod)
    if not len(target_lod) or target_lod[0] != 0 or (lengths < 0).any():
        raise ArgumentError(
            "lod_reset: (InvalidArgument) target_lod has offsets, which begin with 0 and rise: got "
            f"{target_lod}"
        )
    return with_levels(x, [creation.assign(lengths.astype(np.int64))])


def lod_append(x: Any, level: Any) -> Any:
    """``x`` with one more level of lengths within its own: a list, or those of the Variable ``level``.

    Raises ArgumentError for another ``level``.
    """
    require_variable("lod_append", "x", x)
    if isinstance(level, Variable):
        inner = find_levels(level)[-1:] or [math.cast(manipulation.reshape(level, [-1]), "int64")]
    elif isinstance(level, (list, tuple)) and level:
        inner = [creation.assign(np.array(level, np.int64))]
    else:
        raise ArgumentError(f"lod_append: level is a list of lengths or a Variable: got {level!r}")
    return with_levels(x, [*find_levels(x), *inner])
