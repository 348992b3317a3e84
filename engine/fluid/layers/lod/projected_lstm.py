"""``dynamic_lstmp``: an LSTM over sequences of uneven lengths whose state is projected to fewer numbers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ConditionError
from engine.fluid.layers.adapting import activated
from engine.fluid.values.variable import result
from engine.nn.layer.rnn import RNN
from engine.ops.sequences.uneven_rnn import ACTIVATIONS
from engine.static.nn.helper import Helper
from engine.static.nn.sequence_lengths import levels_of, padded, unpadded, with_levels
from engine.static.nn.sequences import sequence_reverse
from engine.tensor import creation, manipulation, math


def dynamic_lstmp(
    input: Any,
    size: int,
    proj_size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    proj_activation: str = "tanh",
    dtype: Any = "float32",
    name: str | None = None,
    h_0: Any = None,
    c_0: Any = None,
    cell_clip: float | None = None,
    proj_clip: float | None = None,
) -> tuple[Any, Any]:
    """Projected states [rows, proj_size] and cell states [rows, size / 4] of each sequence of ``input``.

    ``input`` [rows, size] is already multiplied by its weight; see ``dynamic_lstm``. A step begins with the
    projection of the state before it: the weights are [proj_size, size] and [size / 4, proj_size]. ``c_0`` is
    [sequences, size / 4], ``h_0`` a projection or, as in 1.5, a state that is to be projected. Cell states
    and projections are cut off at ``cell_clip`` and ``proj_clip`` and their negatives. Sak et al., Long
    short-term memory recurrent neural network architectures for large scale acoustic modeling (2014).

    Raises ArgumentError for an input without lengths, one of two first states alone and an unknown
    activation, ConditionError for ``bias_attr=False``.
    """
    levels = levels_of("dynamic_lstmp", "input", input)
    if bias_attr is False:
        raise ConditionError("dynamic_lstmp: bias_attr should not be False in dynamic_lstmp: pass None")
    if (h_0 is None) != (c_0 is None):
        raise ArgumentError("dynamic_lstmp: (InvalidArgument) h_0 and c_0 belong together: give both or none")
    for each in (gate_activation, cell_activation, candidate_activation, proj_activation):
        if each not in ACTIVATIONS:
            raise ArgumentError(
                f"dynamic_lstmp: (InvalidArgument) an activation is one of {', '.join(ACTIVATIONS)}: "
                f"got {each!r}"
            )
    helper, width = Helper("lstmp", name, "layers.dynamic_lstmp"), size // 4
    weight = helper.parameter([proj_size, 4 * width], param_attr, dtype)
    projection = helper.parameter([width, proj_size], param_attr, dtype)
    bias = helper.parameter([1, (7 if use_peepholes else 4) * width], bias_attr, dtype, is_bias=True)
    parts = manipulation.split(bias, 7 if use_peepholes else 4, 1)
    own, peepholes = manipulation.concat(parts[:4], 1), parts[4:]

    def projected(state: Any) -> Any:
        made = _activated(state @ projection, proj_activation)
        return made if not proj_clip else math.clip(made, -float(proj_clip), float(proj_clip))

    def step(x: Any, states: Any) -> tuple[Any, Any]:
        before, cell = states
        candidate, *gates = manipulation.split(x + before @ weight + own, 4, 1)
        if peepholes:
            gates[:2] = [gate + cell * peep for gate, peep in zip(gates[:2], peepholes[:2], strict=True)]
        i, f = (_activated(gate, gate_activation) for gate in gates[:2])
        cell = i * _activated(candidate, candidate_activation) + f * cell
        if cell_clip:
            cell = math.clip(cell, -float(cell_clip), float(cell_clip))
        o = _activated(gates[2] + cell * peepholes[2] if peepholes else gates[2], gate_activation)
        after = projected(o * _activated(cell, cell_activation))
        return (after, cell), (after, cell)

    rows = sequence_reverse(input) if is_reverse else input
    found = padded(rows)
    assert found is not None, "levels_of refuses values without lengths"
    batch, lengths = found
    if h_0 is None:
        count = manipulation.shape(lengths)[0]
        first = (creation.full([count, proj_size], 0, dtype), creation.full([count, width], 0, dtype))
    else:
        wide = int(h_0.shape[-1]) != proj_size
        first = (_activated(h_0 @ projection, proj_activation) if wide else h_0, c_0)
    outputs, _ = RNN(step)(batch, first)
    made = [unpadded(each, lengths) for each in outputs]
    if is_reverse:
        made = [sequence_reverse(each) for each in made]
    hidden, cell = (result(with_levels(each, levels)) for each in made)
    return hidden, cell


def _activated(value: Any, name: str) -> Any:
    return activated(value, None if name == "identity" else name)
