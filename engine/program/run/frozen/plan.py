"""FrozenPlan: a Program compiled for inference, with weights and shapes that stay."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.core.spans import timed, watch
from engine.core.values.spec import Spec
from engine.program.graph.liveness import has_effect, with_sub_blocks
from engine.program.graph.program import Program, Variable, variables_of
from engine.program.run.frozen import KERNELS
from engine.program.run.frozen.elementwise import ufunc
from engine.program.run.frozen.site import STAGES, Array, Bound, Site
from engine.program.run.kernels import Kernels
from engine.program.run.plan import Plan, track
from engine.program.run.stages.choose import choose
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.place import copied, dying, reusable
from engine.program.run.stages.write import Writer

Run = Callable[[Sequence[Array]], tuple[Array, ...]]


class FrozenPlan(Plan):
    """A plan that takes arrays for ``inputs`` alone: the weights are part of it, laid out for its kernels.

    Small results stay in the same place in every call, so nothing is looked up or checked again. A call that
    comes while another one runs gets its own places, which are retained for the next call; results belong to
    the caller. Who changes a weight makes another plan.
    """

    takes_weights = False

    def __init__(
        self,
        program: Program,
        ops: Sequence[Operator],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        feeds: Mapping[str, Spec],
    ) -> None:
        self._weights = {id(v): v.tensor._array for v in program.bound()}
        self._prepared: dict[tuple[int, str], Array] = {}
        draft = choose(program, ops, inputs, outputs, feeds)
        self._draft = replace(draft, reused=reusable(draft))
        self._describe(self._draft)
        self._parted: Any = None  # the draft whose parts are networks of compiled stages, once it is taken
        self._network: Any = None  # the one network that computes all of it, if it does
        self._runs = itertools.count(1)  # of all places together
        self._free: list[tuple[Run, Kernels]] = [self._made()]
        track(self)

    def _found_whole(self) -> Any:
        """Called in the compiler's thread, which imports the code generator."""
        from engine.program.run.frozen.blocks import Parted, parts_of

        parts = parts_of(self._draft, self._weights)
        return Parted(self._draft, parts) if parts else None

    def _made(self) -> tuple[Run, Kernels]:
        """A run with its own places, and the kernels that are not bound to them."""
        parted = self._parted if watch.recorder is None else None
        draft = self._draft if parted is None else parted.draft
        self.compiled = frozenset(() if parted is None else map(id, parted.operators))
        writer = FrozenWriter(draft, self._weights, self._prepared)
        writer.kernels.runs = self._runs
        if self._parted is None:
            writer.kernels.make_whole(self._found_whole)
        written = writer.written()
        self._take(written)
        self._order, self.bound = writer.order, frozenset(writer.bound)
        return written.function, written.kernels

    def follow_recording(self) -> None:
        """Make the kernels anew, timed ones while a profiler records."""
        self._free = []  # a run in progress returns to the old list

    def kernels(self) -> list[tuple[str, str]]:
        """The operators in the order of the source, and whose kernel each calls: "frozen" for a bound one,
        "fast" for those of a compiled call, others as in :meth:`Plan.kernels`."""
        if self._is_one_call():
            return self.bound_kernels()
        others = iter(super().kernels())
        parts = iter(() if self._parted is None else self._parted.names)
        found: list[tuple[str, str]] = []
        for name in self._order:
            one = next(others) if name is None else (name, "frozen")
            found += [(part, "fast") for part in next(parts)] if one[0] == STAGES else [one]
        return found

    def bound_kernels(self) -> list[tuple[str, str]]:
        """Those of :meth:`kernels` that are bound to their arrays, or part of a compiled call."""
        if self._is_one_call():
            return [(name, "fast") for names in self._parted.names for name in names]
        compiled = [(o.opdef.name, "fast") for o in self.ops if id(o) in self.compiled]
        return [*compiled, *((name, "frozen") for name in self._order if name is not None)]

    def _is_one_call(self) -> bool:
        """Whether a run is the call of a network; a profiler sees the operators one by one."""
        return self._network is not None and watch.recorder is None

    def __call__(self, values: Sequence[Array]) -> tuple[Array, ...]:
        if self._network is not None and watch.recorder is None:
            return tuple(self._network(values))
        free = self._free
        try:
            taken = free.pop()
        except IndexError:
            taken = self._made()
        run, kernels = taken
        try:
            if kernels.due:
                kernels.before_run()
                if kernels.whole is not None and self._parted is None:
                    self._free, self._parted = [], kernels.whole
                    self._network = self._parted.network
                    self.compiled = frozenset(map(id, self._parted.operators))
                    return self(values)
            return run(values)
        except Exception as error:
            raise self.explained(error) from error.__cause__
        finally:
            free.append(taken)


def freezable(program: Program, ops: Sequence[Operator]) -> bool:
    """Whether a Program is one for a frozen plan: nothing of it is metered, written or stored."""
    return not program.foreign and not any(
        has_effect(o) or o.saved_state is not None or o.opdef in traits.opaque for o in with_sub_blocks(ops)
    )


class FrozenWriter(Writer):
    """Writes the source of a frozen plan, binding the kernels of operators outside of branches and loops."""

    def __init__(
        self, draft: Draft, weights: Mapping[int, Array], prepared: dict[tuple[int, str], Array]
    ) -> None:
        """``prepared`` are arrays that all runs of the plan share: weights as the kernels take them."""
        super().__init__(draft)
        self.known, self.reused = {**draft.constants, **weights}, dict(draft.reused)
        self._prepared = prepared
        self._places: dict[int, Array] = {}
        self.bound: dict[int, Bound] = {}
        self.order: list[str | None] = []  # operators that the source calls: bound ones by name
        # The values whose array a caller gets, or that control flow may pass on.
        fresh = draft.live.with_viewed({id(v) for v in draft.outputs} | draft.live.handed_on)
        for operator in draft.ops:
            if any(id(v) in fresh for v in variables_of(operator.outputs)):
                self.reused.pop(id(operator), None)
            made = self._bind(operator, fresh)
            if made is not None:
                self.bound[id(operator)] = made
                if made.result is not None:
                    self._places[id(operator.outputs[0])] = made.result
        self.known |= self._places
        self.dying, self.copied = dying(draft, self.known), copied(draft, self.known)

    def _bind(self, operator: Operator, fresh: set[int]) -> Bound | None:
        opdef, inputs = operator.opdef, operator.inputs
        result = operator.outputs[0] if operator.outputs else None
        if result is None or id(result) in self.known or not opdef.single or opdef.random or operator.regions:
            return None
        if any(v is None or isinstance(v, list) for v in inputs):
            return None
        specs, out = [self.draft.spec_of(v) for v in inputs], self.draft.spec_of(result)
        if not all(s.known for s in (*specs, out)):
            return None
        (target,) = self.reused.get(id(operator), (None,))
        site = Site(
            specs,
            [self.known.get(id(v)) for v in inputs],
            [self._places.get(id(v)) for v in inputs],
            out,
            operator.attrs,
            next((n for n, v in enumerate(inputs) if v is target), None),
            id(result) in fresh,
            lambda what, make: self._once((id(operator), what), make),
        )
        kernel, direct = opdef.kernel_for("cpu")
        if opdef.view:
            made = _view(kernel, site)
        elif opdef.name in KERNELS:
            made = KERNELS[opdef.name](site)
        else:
            made = ufunc(opdef.overrides["cpu"][0], site) if direct else None
        if made is not None and made.call is not None and watch.recorder is not None:
            stand = [np.broadcast_to(np.empty((), s.dtype.np), s.shape) for s in (*specs, out)]
            bound = (stand[:-1], operator.attrs, stand[-1])
            return Bound(timed(opdef.name, made.call, "cpu", bound), made.result)
        return made

    def _once(self, key: tuple[int, str], make: Callable[[], Array]) -> Array:
        if key not in self._prepared:
            self._prepared[key] = make()
        return self._prepared[key]

    def operator(self, depth: int, operator: Operator) -> None:
        made = self.bound.get(id(operator))
        if made is None:
            before = len(self.kernels.calls)
            super().operator(depth, operator)
            call = self.called.get(id(operator))
            if call is not None:
                call.fixed = all(v is None or id(v) in self.known for v in operator.inputs[1:])
            self.order += [None] * (len(self.kernels.calls) - before)
        elif made.call is not None:
            self.order.append(operator.opdef.name)
            name = self.constant(made.call)
            given = [self.slot(v) for v in operator.inputs if id(v) not in self.known]
            target = f"{self.slot(operator.outputs[0])} = " if made.result is None else ""
            self.line(depth, f"{target}{name}({', '.join(given)})", operator)


def _view(kernel: Any, site: Site) -> Bound | None:
    """A view of an array that has a fixed place is created once."""
    place = site.places[0]
    if place is None or site.fresh or len(site.inputs) != 1:
        return None
    made = kernel(np, place, **site.attrs)
    return Bound(None, made) if np.shares_memory(made, place) else None
