"""Plans on a GPU as CUDA graphs: run operator by operator at first, then recorded, then replayed.

A graph holds the addresses of everything it reads and writes. What a plan changes in place, and what is the
same array as in the call before, is taken where it lies, and a look at its address comes before each replay;
everything else is copied into an array of the graph. Results are arrays of the graph on loan: as long as
the caller has one, it is not written again. A plan that can't be recorded runs as before, and one line says
why.
"""

from __future__ import annotations

import logging
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.operator import Operator
from engine.core.spans import watch
from engine.kernels import choice
from engine.program.graph.liveness import with_sub_blocks, written
from engine.program.graph.program import Program, variables_of
from engine.program.run.reuse import bases_of

if TYPE_CHECKING:
    from engine.program.run.plan import Plan

_log = logging.getLogger(__name__)

# Calls that run operator by operator first: kernels compile, caches fill, parameters move into an arena.
WARM = 2
# What a plan changes in place may lie elsewhere so often; then it runs operator by operator for good.
MOVES = 8
# Graphs that are kept, in the whole process: those unused for longest give their memory back.
KEPT = 64


class Refused(Exception):
    """A plan can't be recorded; ``operator`` is the one that forbids it, None for none."""

    def __init__(self, reason: str, operator: Operator | None = None) -> None:
        super().__init__(reason)
        self.operator = operator


def refusal(plan: Plan, program: Program) -> Refused | None:
    """Why a plan can't be recorded, as far as that is known before; None where nothing speaks against it."""
    if program.foreign:
        return Refused("a model of others runs by its meter")
    for operator in with_sub_blocks(plan.ops):
        opdef = operator.opdef
        if opdef.plan_rule is not None:
            return Refused("the host looks at values to choose a branch or to end a loop", operator)
        if opdef.opaque and opdef.name == "py_func":
            return Refused("it calls a Python function", operator)
        if opdef.effect and not opdef.only_writes:
            return Refused("the host takes part in it", operator)
        if opdef.moves:
            return Refused("its result may lie on another device", operator)
        if opdef.random:
            return Refused("its random numbers come from the host", operator)
        if not all(plan.spec_of(v).known for v in variables_of(operator.outputs)):
            return Refused("the shape of its result depends on values", operator)
    return None


class Replay:
    """Runs the function of a plan, and its graph once there is one."""

    def __init__(
        self, plan: Plan, program: Program, lines: Mapping[int, Operator], function: Callable[[Any], Any]
    ) -> None:
        self._lines, self._count = lines, len(plan.ops)
        self._function = function
        self._consumes = plan.consumes
        base = bases_of(plan.ops)
        changed = {base.get(id(v), id(v)) for v in written(plan.ops)}
        self._changed = [n for n, v in enumerate(plan.inputs) if id(v) in changed]
        self._last: list[Any] = []  # weak references to the arguments of the call before
        self._calls = self._moves = 0
        self._graph: _Recorded | None = None
        self.refused = refusal(plan, program)
        self._told = False

    @property
    def how(self) -> str:
        """ "graph", or "plain" with the reason where there is one."""
        if self.refused is not None:
            return f"plain: {_words(self.refused)}"
        if not choice.wants_graphs():
            return "plain: the setting cuda_graphs is off"
        return "plain" if self._graph is None else "graph"

    def __call__(self, values: Any) -> Any:
        from engine.kernels.cupy import graphs  # with the first plan on a GPU

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
                    values.clear()
                return found
            if not graph.lies_as_before(values):
                self.let_go()
                self._moves += 1
                if self._moves > MOVES:
                    self.refused = Refused("what it changes in place lies elsewhere again and again")
        elif self._calls >= WARM:
            return self._record(values)
        self._calls += 1
        self._last = [_weak(value) for value in values]
        return self._function(values)

    def let_go(self) -> None:
        """Give up the graph and its memory; another one is recorded after a call."""
        self._graph = None
        self._calls = min(self._calls, WARM - 1)
        _kept.pop(id(self), None)

    def _record(self, values: Any) -> Any:
        fixed = [
            n in self._changed or (last is not None and last() is value)
            for n, (value, last) in enumerate(zip(values, self._last, strict=True))
        ]
        try:
            graph = _Recorded(self._function, values, fixed, self._consumes)
        except Exception as error:
            self.refused = self._refused(error)
            self._tell()
            return self._function(values)
        self._graph = graph
        _keep(self)
        found = graph.replay(values)
        assert found is not None  # nothing has moved since it was recorded
        if self._consumes:
            values.clear()
        return found

    def _refused(self, error: Exception) -> Refused:
        """What an error within a recording says; without its frames, which hold arrays."""
        if isinstance(error, Refused):
            return error
        from engine.program.run.failures import operator_of  # with the first error

        operator = operator_of(self._lines, error)
        said = str(error).strip().split("\n")[0]
        return Refused(f"{type(error).__name__}: {said}", operator)

    def _tell(self) -> None:
        """One line in the log for a plan that is called again and again and can't be recorded."""
        self._calls += 1
        if self._told or self.refused is None or self._calls <= WARM:
            return
        self._told = True
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


class _Recorded:
    """The graph of a plan for arguments that lie where they lie; see the module.

    Raises Refused for other arguments than arrays, and what ``engine.kernels.cupy.graphs.Graph`` raises.
    """

    def __init__(
        self, function: Callable[[Any], Any], values: Sequence[Any], fixed: Sequence[bool], consumes: bool
    ) -> None:
        from engine.kernels.cupy import graphs

        if not all(isinstance(value, graphs.Array) for value in values):
            raise Refused("it draws the random numbers of an earlier call again")
        self._key = graphs.stream_key()
        self._kernels = choice.kernels.get()
        self._memory = graphs.arena()
        with self._memory.lock:
            self._fixed = [(n, v.data.ptr, v.strides) for n, v in enumerate(values) if fixed[n]]
            places = self._memory.like([v for n, v in enumerate(values) if not fixed[n]])
            self._fed = list(zip((n for n, f in enumerate(fixed) if not f), places, strict=True))
            given = list(values)
            for n, place in self._fed:
                given[n] = place
            stays = [v for n, v in enumerate(values) if fixed[n]]
            self._graph = graphs.Graph(self._memory, lambda: function(given), stays)
            self._results = list(self._graph.result)
            self._graph.result = ()
            if not all(isinstance(result, graphs.Array) for result in self._results):
                raise Refused("one of its results is not an array")
            # Of these, and of those that a caller kept, copies are handed out.
            self._copied = {
                n
                for n, result in enumerate(self._results)
                if result.base is not None or _holders(self._results, n) > _NONE
            }

    def lies_as_before(self, values: Sequence[Any]) -> bool:
        """Whether the graph holds for these arguments, on the current stream."""
        from engine.kernels.cupy import graphs

        return (
            graphs.stream_key() == self._key
            and choice.kernels.get() == self._kernels
            and all(values[n].data.ptr == at and values[n].strides == s for n, at, s in self._fixed)
            and all(values[n].shape == place.shape for n, place in self._fed)
        )

    def replay(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results for these arguments; None, and nothing is done, where something lies elsewhere or
        the caller still has an earlier result."""
        with self._memory.lock:
            if not self.lies_as_before(values) or self._lent():
                return None
            for n, place in self._fed:
                value = values[n]
                if value is not place:
                    place[...] = value
            self._graph.launch()
            return tuple(
                [result.copy("K") if n in self._copied else result for n, result in enumerate(self._results)]
            )

    def _lent(self) -> bool:
        """Whether the caller has a result of an earlier call; from then on copies of it are handed out."""
        held = [
            n
            for n in range(len(self._results))
            if n not in self._copied and _holders(self._results, n) > _NONE
        ]
        self._copied.update(held)
        return bool(held)


def _holders(results: list[Any], n: int) -> int:
    return sys.getrefcount(results[n])


# What that counts where only the list holds it, which depends on the version of Python.
_NONE = _holders([object()], 0)

_kept: OrderedDict[int, weakref.ref[Replay]] = OrderedDict()
_kept_lock = threading.Lock()


def _keep(replay: Replay) -> None:
    """Note a graph as used now; the one unused for longest goes where there are too many."""
    from engine.kernels.cupy.out_of_memory import giving_back

    if let_go_of_all not in giving_back:
        giving_back.append(let_go_of_all)
    gone = []
    with _kept_lock:
        _kept[id(replay)] = weakref.ref(replay)
        while len(_kept) > KEPT:
            gone.append(_kept.popitem(last=False)[1])
    for each in gone:
        oldest = each()
        if oldest is not None:
            oldest.let_go()


def _used(replay: Replay) -> None:
    with _kept_lock:
        if id(replay) in _kept:
            _kept.move_to_end(id(replay))


def let_go_of_all() -> None:
    """Give up all graphs and their memory; plans that are called again record others."""
    with _kept_lock:
        found = list(_kept.values())
        _kept.clear()
    for each in found:
        replay = each()
        if replay is not None:
            replay.let_go()
