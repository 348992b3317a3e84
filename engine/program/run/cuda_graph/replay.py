"""Plans on a GPU as CUDA graphs: run operator by operator at first, then recorded, then replayed.

A plan that can't be recorded runs as before, and the reason is logged; see decision 113.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.core.spans import watch
from engine.kernels import choice
from engine.program.graph.program import Program, variables_of
from engine.program.run.cuda_graph.recorded import Recorded, Refused
from engine.program.run.write_control import CONTROL

if TYPE_CHECKING:
    from engine.program.run.plan import Plan

_log = logging.getLogger(__name__)

# Calls that run operator by operator first: kernels compile, caches fill, parameters move into an arena.
WARM = 2
# How often arrays that a plan changes in place may move; then it permanently runs operator by operator.
MOVES = 8
# The most graphs that are cached, in the whole process: the least recently used ones free their memory.
CACHED = 64


def refusal(plan: Plan, program: Program) -> Refused | None:
    """Why a plan can't be recorded, as far as that is known before; None where nothing speaks against it."""
    if program.foreign:
        return Refused("a model of others runs by its meter")
    for operator in plan.live.everything:
        opdef = operator.opdef
        if opdef in CONTROL:
            return Refused("the host looks at values to choose a branch or to end a loop", operator)
        if opdef in traits.opaque and opdef.name == "py_func":
            return Refused("it calls a Python function", operator)
        if opdef.effect and not opdef.only_writes:
            return Refused("the host takes part in it", operator)
        if opdef in traits.moves:
            return Refused("its result may be on another device", operator)
        if not all(plan.spec_of(v).known for v in variables_of(operator.outputs)):
            return Refused("the shape of its result depends on values", operator)
    return None


class Replay:
    """Runs the function of a plan, and its graph once there is one."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        lines: Mapping[int, Operator],
        function: Callable[[Any], tuple[Any, ...]],
    ) -> None:
        self._lines, self._count = lines, len(plan.ops)
        self._function = function
        self._consumes = plan.consumes
        changed = plan.live.owners(plan.live.written)
        self._draws = sum(o.opdef.random and o.replayed_state is None for o in plan.ops)
        self._changed = [n for n, v in enumerate(plan.inputs) if id(v) in changed]
        self._last: list[Any] = []  # weak references to the arguments of the call before
        self._calls = self._moves = 0
        self._graph: Recorded | None = None
        self._copied: set[int] = set()  # results that a caller still holds
        self.refused = refusal(plan, program)
        self._logged = False

    @property
    def how(self) -> str:
        """ "graph", or "plain" with the reason where there is one."""
        if self.refused is not None:
            return f"plain: {_words(self.refused)}"
        if not choice.wants_graphs():
            return "plain: the setting cuda_graphs is off"
        return "plain" if self._graph is None else "graph"

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        from engine.kernels.cupy.device import graphs  # with the first plan on a GPU

        if self.refused is not None:
            self._tell()
            return self._function(values)
        if watch.recorder is not None or not choice.wants_graphs() or graphs.is_recording():
            return self._function(values)
        graph = self._graph
        if graph is not None:
            found = graph.replay(values)
            if found is not None:
                _used(self)
                if self._consumes:
                    cast("list[Any]", values).clear()
                return found
            if not graph.fits(values):
                self._moves += 1
                if self._moves > MOVES:
                    self.refused = Refused("arrays that it changes in place move again and again")
            held = graph.lent()
            self._copied |= held if not self._copied else set(range(graph.count))
            self.let_go()
        elif self._calls >= WARM:
            return self._record(values)
        self._calls += 1
        self._last = [_weak(value) for value in values]
        return self._function(values)

    def let_go(self) -> None:
        """Give up the graph and its memory; another one is recorded after a call."""
        self._graph = None
        self._calls = min(self._calls, WARM - 1)
        _cached.pop(id(self), None)

    def _record(self, values: Any) -> tuple[Any, ...]:
        fixed = [
            n in self._changed or (last is not None and last() is value)
            for n, (value, last) in enumerate(zip(values, self._last, strict=True))
        ]
        try:
            graph = Recorded(self._function, values, fixed, self._copied, self._draws)
        except Exception as error:
            self.refused = self._refused(error)
            self._tell()
            return self._function(values)
        self._graph = graph
        _cache(self)
        found = graph.replay(values)
        assert found is not None  # nothing has moved since it was recorded
        if self._consumes:
            values.clear()
        return found

    def _refused(self, error: Exception) -> Refused:
        """The message of an error within a recording; without its frames, which hold arrays."""
        if isinstance(error, Refused):
            return error
        from engine.program.run.failures import operator_of  # with the first error

        operator = operator_of(self._lines, error)
        line = str(error).strip().split("\n")[0]
        return Refused(f"{type(error).__name__}: {line}", operator)

    def _tell(self) -> None:
        """One line in the log for a plan that is called again and again and can't be recorded."""
        self._calls += 1
        if self._logged or self.refused is None or self._calls <= WARM:
            return
        self._logged = True
        _log.info(
            "cuda graphs: a plan of %d operators runs one by one: %s", self._count, _words(self.refused)
        )


def _words(refused: Refused) -> str:
    operator = refused.operator
    if operator is None:
        return str(refused)
    place = operator.position
    where = f" ({Path(place[0]).name}:{place[1]})" if place is not None else ""
    return f"{operator.opdef.name}{where}: {refused}"


def _weak(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:
        return None


_cached: OrderedDict[int, weakref.ref[Replay]] = OrderedDict()
_cached_lock = threading.Lock()


def _cache(replay: Replay) -> None:
    """Note a graph as used now; free the least recently used one if there are too many."""
    from engine.kernels.cupy.device.out_of_memory import giving_back

    if let_go_of_all not in giving_back:
        giving_back.append(let_go_of_all)
    gone = []
    with _cached_lock:
        _cached[id(replay)] = weakref.ref(replay)
        while len(_cached) > CACHED:
            gone.append(_cached.popitem(last=False)[1])
    for each in gone:
        oldest = each()
        if oldest is not None:
            oldest.let_go()


def _used(replay: Replay) -> None:
    with _cached_lock:
        if id(replay) in _cached:
            _cached.move_to_end(id(replay))


def let_go_of_all() -> None:
    """Give up all graphs and their memory; plans that are called again record others."""
    with _cached_lock:
        found = list(_cached.values())
        _cached.clear()
    for each in found:
        replay = each()
        if replay is not None:
            replay.let_go()
