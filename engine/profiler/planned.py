"""What passes and plans did to the steps of a training: the Program after each pass, and what really runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.place import current_place
from engine.kernels.cpu.threads import computing_threads, get_num_threads
from engine.program.run.cuda_graph.replay import WARM
from engine.program.run.explain import WHY, Explained
from engine.program.run.pass_trace import AfterPass, pass_trace
from engine.program.run.report import Report
from engine.training.config import TrainingConfig
from engine.training.kernel_swap import KernelSwap
from engine.training.randomness import random_state, seed_everything, set_random_state

if TYPE_CHECKING:
    from engine.program.graph.program import Program
    from engine.program.run.plan import Plan
    from engine.training.network.given_inputs import Input
    from engine.training.stepper import Stepper


@dataclass(frozen=True)
class Part:
    """One plan: what it runs ("forward", "backward" or "forward and backward"), its operators and the
    memory of a call. ``graph`` is :attr:`Plan.graph`."""

    title: str
    rows: tuple[Explained, ...]
    report: Report
    graph: str = ""

    @classmethod
    def of(cls, title: str, plan: Plan) -> Part:
        """The part that a plan is."""
        return cls(title, tuple(plan.explain()), plan.report(), plan.graph)


@dataclass(frozen=True)
class FlatUpdate:
    """One call that updates parameters which lie side by side: its operator, how many parameters and numbers,
    whose kernel and why; see :class:`Explained`."""

    name: str
    parameters: int
    numbers: int
    kernel: str
    why: str

    def text(self) -> str:
        """In one line."""
        whose = "compiled" if self.kernel == "fast" else "NumPy"
        words = f"{whose}: {WHY[self.why]}" if self.why else whose
        return f"{self.name} over {self.parameters} parameters, {self.numbers:,} numbers: {words}"


@dataclass(frozen=True)
class Planned:
    """The passes over a Program and the plans that run it. ``updates`` are the calls of the optimizer,
    ``alone`` how many parameters it updates one by one."""

    passes: tuple[AfterPass, ...]
    parts: tuple[Part, ...]
    updates: tuple[FlatUpdate, ...] = ()
    alone: int = 0
    threads: int = 1


def planned(
    config: TrainingConfig,
    source_folder: Path | None = None,
    inputs: Sequence[Input] = (),
    watch: Callable[[Program], object] | None = None,
) -> Planned:
    """What a static training of ``config`` runs, after two steps of a network of its own; on a GPU after one
    more, with which its plans are recorded as graphs.

    Arguments, and what it raises, are those of :func:`engine.profiler.training.profile`; compiled kernels are
    waited for. ``watch`` is called with the Program as it was built and after each pass.
    """
    from engine.profiler.training import parts_of

    before = random_state()
    try:
        kernels = KernelSwap(config.kernels, together=True)
        with computing_threads(config.threads), kernels.in_use():
            config = config.changed(out="", workers=1, static=True)
            seed_everything(config.seed)
            made = parts_of(config, source_folder, inputs)
            made.check()
            batch = next(iter(made.batches))
            made.stepper.train(*batch, go_on=True)
            kernels.due(1)
            for _ in range(WARM if current_place().is_gpu_place() else 1):
                made.stepper.train(*batch, go_on=True)
            return planned_step(made.stepper, watch)
    finally:
        set_random_state(before)


def planned_step(stepper: Stepper, watch: Callable[[Program], object] | None = None) -> Planned:
    """What the steps of a Stepper ran so far; no part for an eager one."""
    concrete = stepper.traced()
    optimizer = stepper.optimizer
    calls = [
        FlatUpdate(call.name, count, numbers, call.report(), call.why_numpy())
        for count, numbers, call in optimizer.flat_calls()
    ]
    trained = sum(not p.stop_gradient for p in stepper.network.parameters())
    alone = max(0, trained - sum(call.parameters for call in calls))
    if concrete is None:
        return Planned((), (), tuple(calls), alone, get_num_threads())
    runner = concrete.runner
    return Planned(
        tuple(pass_trace(concrete.main_program, runner.passes, [v.name for v in runner.outputs], watch)),
        tuple([Part.of(title, plan) for title, plan in concrete.plans()]),
        tuple(calls),
        alone,
        get_num_threads(),
    )
