"""The pairs that are compared: eager and static, passes off and on, two runs, devices, saved models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.comparison.alignment import aligned
from engine.comparison.by_variable import ByVariable
from engine.comparison.compare import compared, pairs_of
from engine.comparison.layer_step import LayerStep, can_compile
from engine.comparison.program_step import BUILT, ProgramStep, computing_on, require_comparable
from engine.comparison.recorded import Side
from engine.comparison.result import Cause, Comparison
from engine.comparison.values import EQUAL, Difference, Value, ValueStore, rounding_of, tolerance_for
from engine.comparison.verdict import finished
from engine.core.errors import DeviceError
from engine.jit.run_program import ProgramRunner
from engine.program.graph.program import Program
from engine.program.passes.clone import clone
from engine.program.passes.pipeline import EXACT, copied, passes_over
from engine.program.passes.rewriter import noting_substitutions

_PLAN_ROUNDING = 100.0
"""So many times the usual tolerance may results of a plan differ: sums in another order add up."""


def eager_and_static(step: LayerStep, store: ValueStore, tolerance: float | None = None) -> Comparison:
    """The step as written, and as the Program that a static training runs.

    The Program as it was built comes first: what differs there is the conversion's. Then the one after the
    passes, by the Variables that both have; a pass that changes a value is found and named.
    """
    eager, built = step.eager(store), step.static(store, "static")
    made = two_sides(eager, built, store, tolerance)
    if not made.equal:
        return made
    static = step.static(store, "static", EXACT)
    passed = after_passes(step, eager, built, static, store, tolerance)
    if not passed.equal:
        return passed
    made.notes.append(f"After the passes: {passed.verdict}")
    made.bitwise = made.bitwise and passed.bitwise
    _note_plans(made, step, static, store, tolerance)
    return made


def _note_plans(
    made: Comparison, step: LayerStep, static: Side, store: ValueStore, tolerance: float | None
) -> None:
    """Compare results and gradients with those of the plan, fused and then with compiled kernels, which round
    otherwise: note how far they are apart, and make it the verdict where that is more than rounding.

    A gradient may be far off where another rounding lets a relu give 0: with compiled kernels the results
    alone decide.
    """
    for compiled in (False, True) if can_compile() else (False,):
        plan = step.planned(store, compiled)
        pairs = _at_the_end(static, plan)
        name, difference = _farthest(pairs, store)
        with_kernels = "with compiled kernels" if compiled else "with NumPy's kernels"
        if difference.bitwise:
            made.notes.append(f"As one plan {with_kernels}: results and gradients bitwise identical")
            continue
        made.bitwise = False
        count = len(plan.results) if compiled else len(pairs)
        note = f"As one plan {with_kernels}: {name} differs by {difference.relative:.1g}"
        if _is_far(pairs[:count], store, tolerance):
            disturbed = _at_the_end(static, step.disturbed(store))
            if _is_far(pairs[:count], store, tolerance, disturbed):
                made.equal = False
                made.cause = Cause("plan", "a compiled kernel" if compiled else "fusion")
                made.verdict = (
                    f"All operators agree one by one, but as one plan {with_kernels} {name} differs by "
                    f"{difference.relative:.1g}; {made.cause.text} computes otherwise"
                )
                return
            note += "; rounding of the inputs alone moves it as far, larger batches may help"
        made.notes.append(note)


def _at_the_end(static: Side, plan: Side) -> list[tuple[Value, Value]]:
    """The results of both sides, then the gradients of weights."""
    gradients = {each.name: each.gradient for each in plan.updates}
    pairs = [
        *zip(static.results, plan.results, strict=False),
        *((each.gradient, gradients.get(each.name)) for each in static.updates),
    ]
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def _farthest(pairs: Sequence[tuple[Value, Value]], store: ValueStore) -> tuple[str, Difference]:
    """The name of the value with the largest absolute difference, and that difference."""
    worst, name = EQUAL, ""
    for one, other in pairs:
        found = store.difference(one, other)
        if not found.bitwise and (worst.bitwise or found.absolute > worst.absolute):
            worst, name = found, "the loss" if one.name == "result 0" else f"`{one.name}`"
    return name, worst


def _is_far(
    pairs: Sequence[tuple[Value, Value]],
    store: ValueStore,
    tolerance: float | None,
    disturbed: Sequence[tuple[Value, Value]] = (),
) -> bool:
    """Whether a value differs by more than sums in another order do, and than in the same pairs of
    ``disturbed``, whose inputs were rounded otherwise."""
    scale = max((store.largest(one) for one, _ in pairs), default=0.0)
    moved = {one.name: store.difference(one, other).absolute for one, other in disturbed}
    for one, other in pairs:
        far = moved.get(one.name, 0.0)
        floor = _PLAN_ROUNDING * max(rounding_of(one.dtype, scale), far if math.isfinite(far) else 0.0)
        limit = _PLAN_ROUNDING * tolerance_for((one, other), tolerance)
        if not store.difference(one, other).within(limit, floor):
            return True
    return False


def two_sides(a: Side, b: Side, store: ValueStore, tolerance: float | None = None) -> Comparison:
    """Two sides, aligned by layer call, operator and shape."""
    found = compared(a, b, pairs_of(a, b), store, tolerance)
    return finished(a, b, found, tolerance)


def two_steps(
    a: ProgramStep, b: ProgramStep, store: ValueStore, tolerance: float | None = None
) -> Comparison:
    """Two Programs as they were built. Raises ArgumentError, before anything runs, where they have nothing
    to compare."""
    require_comparable(a, b)
    return two_sides(a.static(store), b.static(store), store, tolerance)


def passes_off_and_on(step: ProgramStep, store: ValueStore, tolerance: float | None = None) -> Comparison:
    """The Program of the step as it was built, and after the passes with which it runs."""
    built = step.static(store, "passes off")
    return after_passes(step, built, built, step.static(store, "passes on", step.level), store, tolerance)


def two_devices(
    step: ProgramStep, devices: tuple[str, str], store: ValueStore, tolerance: float | None = None
) -> Comparison:
    """The Program of the step on two devices. Raises DeviceError for one that can't be used."""
    for device in devices:
        try:
            with computing_on(device):
                pass
        except DeviceError as error:
            remedy = error.remedy or "give two devices of this machine"
            raise type(error)(f"compare: device {device}: {error.why or error}; {remedy}") from error
    a = step.static(store, devices[0], device=devices[0])
    drawn = [each for each in a.operators if each.random]
    b = step.static(store, devices[1], device=devices[1], drawn=drawn)
    made = two_sides(a, b, store, tolerance)
    if made.cause is not None and made.cause.kind == "unknown":
        made.cause = Cause("device", f"the kernels of {devices[0]} and {devices[1]} compute differently")
        made.verdict += f"; {made.cause.text}"
    return made


def after_passes(
    step: ProgramStep, a: Side, built: Side, b: Side, store: ValueStore, tolerance: float | None
) -> Comparison:
    """Side ``a``, whose operators are those of the Program as it was ``built``, and the Program ``b``."""
    made = _through(a, built, b, store, tolerance)
    if not made.equal and (guilty := _guilty_pass(step, a, built, store, tolerance)):
        cause = Cause("pass", f"the pass `{guilty}` changes it")
        return _through(a, built, b, store, tolerance, cause)
    return made


def _through(
    a: Side, built: Side, b: Side, store: ValueStore, tolerance: float | None, cause: Cause | None = None
) -> Comparison:
    found = [(n, n) for n in range(len(a.operators))] if a is built else aligned(a.operators, built.operators)
    pairs, within = ByVariable(a, built, found).pairs(b)
    rows = compared(a, b, pairs, store, tolerance, within)
    return finished(a, b, rows, tolerance, cause)


def _guilty_pass(step: ProgramStep, a: Side, built: Side, store: ValueStore, tolerance: float | None) -> str:
    """The first pass after which the Program computes something else; empty where none does."""
    runner = step.runner(BUILT)
    made = copied(runner.program, step.level, [v.name for v in runner.outputs])
    steps = passes_over(made, step.level)
    aliases: dict[str, str] = {}
    while True:
        with noting_substitutions() as found:
            each = next(steps, None)
        if each is None:
            return ""
        aliases |= found
        side = step.of_program(store, each.rewrite.__name__, _runner_of(clone(made), runner))
        side.aliases = aliases
        if not _through(a, built, side, store, tolerance).equal:
            return str(each.rewrite.__name__)


def _runner_of(program: Program, like: ProgramRunner) -> ProgramRunner:
    block = program.global_block()
    inputs, outputs = ([block.var(v.name) for v in side] for side in (like.inputs, like.outputs))
    return ProgramRunner(program, inputs, outputs, passes=BUILT)
