"""``rnn``: an operator per layer and direction here, all layers and directions in one of Paddle's.

Layers whose outputs are read by the next layer alone are joined again, and so are both directions, whose
outputs a ``concat`` puts side by side. A direction without its counterpart is written as both directions with
the same weights, of which one half is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Block, Variable
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import Writing

_GATES = {"LSTM": 4, "GRU": 3}


@dataclass
class _Layer:
    """The operators of the directions of one layer, and the one that joins their outputs."""

    parts: list[Operator]
    joins: Operator | None

    @property
    def out(self) -> Variable:
        made = (self.joins or self.parts[0]).outputs[0]
        assert isinstance(made, Variable)
        return made

    @property
    def first(self) -> Operator:
        return self.parts[0]


def join(w: Writing, block: Block, outputs: Sequence[Variable]) -> None:
    """Note in ``w.joined`` which operators of a block are written as one. ``outputs`` are read after it."""
    reading = Liveness(block.ops).readers
    readers = {key: [block.ops[n] for n in positions] for key, positions in reading.items()}
    kept = {id(v) for v in outputs}
    places = {id(o): n for n, o in enumerate(block.ops)}
    layers = _layers(block, readers, kept)
    chains: list[list[_Layer]] = []
    ends: dict[int, list[_Layer]] = {}
    for layer in layers:
        chain = ends.pop(id(layer.first.inputs[0]), None)
        if chain is None or not _continues(chain, layer, readers, kept):
            chain = []
            chains.append(chain)
        chain.append(layer)
        ends[id(layer.out)] = chain
    for chain in chains:
        operators = [o for layer in chain for o in (*layer.parts, layer.joins) if o is not None]
        last = max(operators, key=lambda o: places[id(o)])
        early = [
            reader
            for layer in chain
            for part in layer.parts
            for state in part.outputs[1:3]
            for reader in readers.get(id(state), ())
            if places[id(reader)] < places[id(last)]
        ]
        if early:  # a state is read before the last layer: each is written by itself
            for layer in chain:
                _note(w, [layer], max(layer.parts, key=lambda o: places[id(o)]))
        else:
            _note(w, chain, last)


def _layers(block: Block, readers: dict[int, list[Operator]], kept: set[int]) -> list[_Layer]:
    """The layers in their order; both directions are one where a concatenation alone reads their outputs."""
    found: list[_Layer] = []
    taken: set[int] = set()
    for operator in block.ops:
        if operator.opdef.name != "rnn" or id(operator) in taken:
            continue
        other = _counterpart(block, operator, readers, kept)
        parts, joins = [operator], None
        if other is not None:
            parts, joins = [operator, other[0]], other[1]
        taken |= {id(o) for o in parts}
        found.append(_Layer(parts, joins))
    return found


def _counterpart(
    block: Block, operator: Operator, readers: dict[int, list[Operator]], kept: set[int]
) -> tuple[Operator, Operator] | None:
    """The other direction of a layer, and the concatenation of both."""
    y = operator.outputs[0]
    joined = readers.get(id(y), [])
    if operator.attrs["is_reverse"] or len(joined) != 1 or id(y) in kept:
        return None
    [concat] = joined
    if concat.opdef.name != "concat" or len(concat.inputs[0]) != 2 or concat.attrs["axis"] not in (-1, 2):
        return None
    if concat.inputs[0][0] is not y:
        return None
    back = concat.inputs[0][1]
    for other in block.ops:
        if other.opdef.name == "rnn" and other.outputs[0] is back:
            alone = readers.get(id(back)) == [concat] and id(back) not in kept
            alike = other.attrs["is_reverse"] and _kind(other) == _kind(operator)
            if alone and alike and other.inputs[0] is operator.inputs[0]:
                return other, concat
    return None


def _kind(operator: Operator) -> tuple[object, ...]:
    """What the layers of one operator of Paddle have in common."""
    lengths = operator.inputs[7]
    weight = operator.inputs[2]
    return operator.attrs["mode"], id(lengths) if lengths is not None else None, weight.spec.shape[-1]


def _continues(
    chain: list[_Layer], layer: _Layer, readers: dict[int, list[Operator]], kept: set[int]
) -> bool:
    """Whether a layer alone reads the output of the one before, and both are alike."""
    before = chain[-1]
    if id(before.out) in kept or len(before.parts) != len(layer.parts):
        return False
    if len(layer.parts) == 1 and any(p.attrs["is_reverse"] for p in (before.first, layer.first)):
        return False
    mine = Counter(id(o) for o in layer.parts)
    return Counter(id(o) for o in readers.get(id(before.out), [])) == mine and _kind(before.first) == _kind(
        layer.first
    )


def _note(w: Writing, chain: list[_Layer], last: Operator) -> None:
    members = [o for layer in chain for o in (*layer.parts, layer.joins) if o is not None]
    for operator in members:
        w.joined[id(operator)] = _nothing
    w.joined[id(last)] = lambda inner: _write(inner, chain)


def _nothing(w: Writing) -> None:
    """An operator that another one includes."""


@writes("rnn")
def _(w: Writing, o: Operator) -> None:
    _write(w, [_Layer([o], None)])


def _write(w: Writing, chain: list[_Layer]) -> None:
    first = chain[0].first
    mode, x, weight = first.attrs["mode"], first.inputs[0], first.inputs[2]
    hidden = int(weight.spec.shape[-1])
    reverse = len(chain[0].parts) == 1 and bool(first.attrs["is_reverse"])
    twice = len(chain[0].parts) == 2 or reverse
    parts = [part for layer in chain for part in (layer.parts * 2 if reverse else layer.parts)]
    matrices = [w.name(v) for part in parts for v in part.inputs[1:3]]
    rows = _GATES.get(mode, 1) * hidden
    biases = [
        w.full((rows,), 0, x.dtype) if v is None else w.name(v) for part in parts for v in part.inputs[3:5]
    ]
    state = Spec((len(parts), x.spec.shape[1], hidden), x.dtype)
    states = [_initial(w, parts, 5, state)]
    if mode == "LSTM":
        states.append(_initial(w, parts, 6, state))
    inputs: dict[str, list[str]] = {"Input": [w.name(x)], "PreState": states, "WeightList": matrices + biases}
    lengths = first.inputs[7]
    if lengths is not None:
        inputs["SequenceLength"] = [w.cast(lengths, "int32")]
    out = chain[-1].out
    whole = Spec((*x.spec.shape[:2], hidden * (2 if twice else 1)), x.dtype)
    made = w.new(whole, "rnn") if reverse else w.declare(out)
    ends = [w.new(state, "state") for _ in states]
    dropout = w.new(Spec((), "uint8"), "dropout_state")
    w.put(
        "rnn",
        inputs,
        {"Out": made, "State": ends, "DropoutState": dropout, "Reserve": w.new(Spec((), x.dtype), "reserve")},
        dropout_prob=0.0,
        is_bidirec=twice,
        input_size=int(x.spec.shape[-1]),
        hidden_size=hidden,
        num_layers=len(chain),
        mode=mode,
        seed=0,
        is_test=True,
    )
    if reverse:
        half = w.emit(
            "slice",
            {"Input": made},
            out.spec,
            axes=[2],
            starts=[hidden],
            ends=[2 * hidden],
            infer_flags=[1],
            decrease_axis=[],
        )
        w.give(out, half)
    for n, part in enumerate(parts):
        if reverse and n % 2 == 0:
            continue
        for variable, name in zip(part.outputs[1:], ends, strict=False):
            if isinstance(variable, Variable) and variable.spec.shape[-1] != 0:
                w.give(variable, w.cut(name, 0, n, n + 1, drop=True))


def _initial(w: Writing, parts: list[Operator], place: int, state: Spec) -> str:
    """The first states of all layers and directions: zeros for those that are not given."""
    given = [part.inputs[place] for part in parts]
    x = parts[0].inputs[0]
    if all(v is None for v in given):
        return _zeros(w, x, state)
    each = state.with_shape((1, *state.shape[1:]))
    rows = [_zeros(w, x, each) if v is None else w.unsqueeze(v, [0]) for v in given]
    return w.concat(rows, 0, state)


def _zeros(w: Writing, x: Variable, spec: Spec) -> str:
    """Zeros for each sequence of a batch, whose size is that of x's second axis."""
    return w.emit(
        "fill_constant_batch_size_like",
        {"Input": x},
        spec,
        shape=[spec.shape[0], -1, spec.shape[2]],
        value=0.0,
        str_value="0.0",
        dtype=spec.dtype.number,
        input_dim_idx=1,
        output_dim_idx=1,
    )
