"""Frozen plans of few images: parts of them become networks of compiled stages, see ``blocks_reader``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.kernels.fast.compiler import Handle
from engine.kernels.fast.images.channel_blocks.network import Network
from engine.kernels.fast.target import lanes
from engine.program.graph.liveness import Liveness, arguments
from engine.program.graph.program import Variable
from engine.program.run.frozen.blocks_reader import Array, Reader
from engine.program.run.frozen.site import STAGES
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.place import reusable

# Products of a network that is not all of a plan, below which its operators are as fast one by one.
_LEAST = 1 << 14
# Products up to which a network is faster for more samples than a vector has lanes, too, as it is one call.
_ONE_CALL = 1 << 22


def _run(xp: Any, xs: list, *, network: Network) -> list[Array]:  # type: ignore[type-arg]
    return network(xs)


# In no table of operators: only a plan has it, and no file.
_OPDEF = OpDef(
    STAGES, _run, lambda *_, **__: [], ("outs",), {}, {}, view=False, effect=False, output_list="outs"
)


class Part(NamedTuple):
    """Operators, by position, that are one network. It runs in place of the last one."""

    positions: frozenset[int]
    network: Network
    inputs: list[Variable]
    outputs: list[Variable]


def parts_of(draft: Draft, weights: Mapping[int, Array]) -> list[Part]:
    """The networks of a frozen plan, whose code is requested; ``weights`` never change."""
    live = draft.live
    if any(operator.regions for operator in live.ops):
        return []
    kept = {id(v) for v in draft.outputs}
    known = {**draft.constants, **weights}
    found: list[Part] = []
    reader, taken = Reader(live, draft.specs, known, kept), list[int]()

    def close() -> None:
        nonlocal reader, taken
        part = _closed(reader, taken, kept, draft)
        if part is not None:
            found.append(part)
        reader, taken = Reader(live, draft.specs, known, kept), []

    for position, operator in enumerate(live.ops):
        if operator.outputs and id(operator.outputs[0]) in draft.constants:
            continue
        if reader.take(position, operator):
            taken.append(position)
        elif any(id(v) in reader.images or id(v) in reader.flat for v in arguments(operator)):
            close()
    close()
    return found


def _closed(reader: Reader, taken: Sequence[int], kept: set[int], draft: Draft) -> Part | None:
    """The network of the operators that were taken, unless they are too few."""
    network, live = reader.draft, draft.live
    if network is None:
        return None
    inside, products = set(taken), network.products * network.samples
    whole = len(inside) == sum(id(o.outputs[0]) not in draft.constants for o in live.ops if o.outputs)
    if products < (1 if whole else _LEAST) or (network.samples > lanes() and products > _ONE_CALL):
        return None
    outputs = [
        v
        for n in taken
        for v in live.ops[n].outputs[:1]
        if id(v) in kept or not inside.issuperset(live.readers.get(id(v), ()))
    ]
    wanted = [(reader.images[id(v)], draft.spec_of(v).shape) for v in outputs]
    if not wanted:
        return None
    made, inputs = network.finish(wanted)
    return Part(frozenset(taken), made, inputs, outputs)


class _Handles:
    """All code of some networks as one handle."""

    def __init__(self, handles: Sequence[Handle]) -> None:
        self._handles = handles

    @property
    def address(self) -> int | None:
        """None until all of it is compiled."""
        return next((None for h in self._handles if h.address is None), 1)


class Parted:
    """A frozen plan whose parts are networks: its operators, and the handle of all code."""

    def __init__(self, draft: Draft, parts: Sequence[Part]) -> None:
        self.handle = _Handles([h for part in parts for h in part.network.handles])
        self.network: Network | None = None  # which computes all, from the inputs in their order
        if [(part.inputs, part.outputs) for part in parts] == [([*draft.inputs], [*draft.outputs])]:
            self.network = parts[0].network
        self.operators = [draft.ops[n] for part in parts for n in sorted(part.positions)]
        # The names of the operators of each part.
        self.names = [[draft.ops[n].opdef.name for n in sorted(part.positions)] for part in parts]
        last = {max(part.positions): part for part in parts}
        inside = {n for part in parts for n in part.positions}
        made: list[Operator] = []
        for position, operator in enumerate(draft.ops):
            if position in last:
                made.append(_operator(draft, last[position]))
            elif position not in inside:
                made.append(operator)
        shorter = replace(draft, live=Liveness(made))
        self.draft = replace(shorter, reused=reusable(shorter))


def _operator(draft: Draft, part: Part) -> Operator:
    """The operator that calls the network of a part."""
    parts = [draft.ops[n] for n in sorted(part.positions)]
    made = Operator(_OPDEF, (part.inputs,), {"network": part.network})
    made.outputs = tuple(part.outputs)
    made.take_place(*parts)
    made.notes = {"parts": tuple(parts)}
    return made
