"""Text, memory, kernels and errors of a plan. Few ask for them, so their modules are imported then."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.core.operators.operator import Operator

if TYPE_CHECKING:
    from engine.program.graph.liveness import Liveness
    from engine.program.graph.program import Variable
    from engine.program.run.cuda_graph.replay import Replay
    from engine.program.run.explain import Explained
    from engine.program.run.kernels import Call, Kernels
    from engine.program.run.report import Report
    from engine.program.run.stages.draft import Draft
    from engine.program.run.stages.write import Written


class Inspected(ABC):
    """What the stages of a plan gave, and questions about it."""

    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    ops: Sequence[Operator]
    live: Liveness
    constants: Mapping[int, Any]
    specs: Mapping[int, Any]
    reused: Mapping[int, Sequence[Variable | None]]
    spec_of: Callable[[Any], Any]
    source: str
    update_groups: Sequence[Sequence[int]]  # the positions of updates that are one call
    updates: Sequence[Any]  # those calls
    bound: Container[int] = ()  # operators, by id, whose kernels are bound to arrays that stay
    compiled: Container[int] = ()  # operators, by id, that are parts of compiled calls of several
    replay: Replay | None = None  # on a GPU: as a CUDA graph, once it was recorded
    _function: Callable[[Sequence[Any]], tuple[Any, ...]]
    _lines: Mapping[int, Operator]
    _kernels: Kernels
    _called: Mapping[int, Call]

    def _describe(self, draft: Draft) -> None:
        """Keep what the stages decided, for calls and for those who ask."""
        self.inputs, self.outputs, self.consumes = draft.inputs, draft.outputs, draft.consumes
        self.live, self.ops = draft.live, draft.ops
        self.constants, self.specs, self.spec_of = draft.constants, draft.specs, draft.spec_of
        self.reused, self.update_groups = draft.reused, draft.groups

    def _take(self, written: Written) -> None:
        """Keep what was written."""
        self._function = written.function
        self.source, self.updates = written.source, written.updates
        self._lines, self._kernels, self._called = written.lines, written.kernels, written.called

    def text(self) -> str:
        """The operators after all passes, one a line, with the user's lines that they come from."""
        from engine.program.run.listing import listing

        return listing(self.ops)

    def report(self) -> Report:
        """The memory of a call at its peak, by operator and line; see :class:`Report`."""
        from engine.program.run.report import report_of

        return report_of(self)

    def explain(self) -> list[Explained]:
        """Each operator of :meth:`text`: how it runs, whose kernel it calls and why; see
        :mod:`engine.program.run.explain`."""
        from engine.program.run.explain import explain

        return explain(self)

    def kernels(self) -> list[tuple[str, str]]:
        """The operators in the order of the source, then the grouped updates, and whose
        kernel each calls: "numpy", "fast", or "compiling" where NumPy's serves until the plan takes
        the compiled one."""
        return [*self._kernels.report(), *((update.name, update.kernel()[0]) for update in self.updates)]

    def explained(self, error: Exception) -> Exception:
        """The error with the operator and the user's line that created it."""
        from engine.program.run.failures import explained

        return explained(self, self._lines, error)

    @property
    def graph(self) -> str:
        """On a GPU "graph" where calls replay a CUDA graph, else "plain" with the reason where there is one;
        empty on the CPU."""
        return "" if self.replay is None else self.replay.how
