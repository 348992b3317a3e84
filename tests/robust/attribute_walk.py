"""A walk over all operators: each number among attributes and inputs, at sizes no memory holds or infinite.

A base is one row of the operator table (or of ``untabled_bases.py``) as the Program of an untrusted file,
which states no sizes of its results. Each case changes one integer, or all of a list, and then reads and runs
the Program as ``jit.load`` and a call do. The cases run in forked processes with little memory and little
processor time; a process that is killed counts as the failure of the case that it ran, and another continues
behind that case.

``python -m tests.robust.attribute_walk`` walks over everything and prints the counts; ``--few`` takes one row
of each operator, names of operators restrict it.
"""

from __future__ import annotations

import copy
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import engine as paddle
from engine import static
from engine.core.errors import EngineError
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.random.generator import default_generator
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program, variables_of
from engine.program.run.plan import Plan
from engine.program.saved.serialize import from_plain, to_plain
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES
from tests.robust.limited_children import in_limited_children
from tests.robust.untabled_bases import PROGRAMS, UNTABLED

FLOATS = (0.0, -1.0, 1e9, -1e9, 1e30, math.inf, -math.inf, math.nan)
VALUES = (0, -1, -(2**31), 2**16, 2**24, 2**28, 2**31, 2**40, 2**63)

Place = tuple[Any, ...]  # the keys that lead to an integer


@dataclass
class Base:
    """A sound Program of one operator, and the arrays that it runs on."""

    op: str
    plain: Any
    inputs: dict[str, Any]

    def attributes(self) -> Any:
        return self.plain["blocks"][0]["ops"][-1]["attrs"]


@dataclass(frozen=True)
class Step:
    """One case: the base, the integer that is changed, and its value."""

    op: str
    base: int
    kind: str  # attribute, input or whole input
    place: Place
    value: float

    def __str__(self) -> str:
        where = ".".join(map(str, self.place))
        return f"{self.op}[{self.base}] {self.kind} {where} = {self.value}"


def base_of(case: Case, unknown: bool) -> Base | None:
    """The Program of a row; None where the row can't be built so (its effects need more than a Program)."""
    opdef = OPS[case.op]
    program = Program()
    feed: dict[str, Any] = {}
    written = {o.writes for o in opdef.outputs if o.writes}

    def single(value: Any) -> Any:
        return value.astype(np.float32) if value.dtype == np.float64 else value

    def place(name: str, value: Any, key: str) -> Any:
        if isinstance(value, list):
            return [place(name, v, f"{key}_{n}") for n, v in enumerate(value)]
        if value is None:
            return None
        feed[key] = value = single(np.array(value))
        kept = name in written
        shape = [-1] * value.ndim if unknown and not kept else value.shape
        spec = Spec(shape, from_numpy(value.dtype))
        if kept:
            return program.global_block().create_parameter(spec.shape, spec.dtype, key)
        made = variable(program, key, spec)
        made.is_data = True
        return made

    with building(program):
        values = [place(n, v, n) for n, v in zip(opdef.input_names, case.sample.inputs, strict=True)]
        result = OPS[case.op].namespace["__apply__"](*values, **case.sample.attrs)
    made = [v for v in variables_of(result) if v is not None]
    program.inputs = [k for k, v in program.global_block().vars.items() if v.is_data]
    program.outputs = [v.name for v in made]
    plain = to_plain(program)
    for each in plain["blocks"][0]["vars"]:
        if each["name"] in program.outputs and not each["persistable"]:
            each["shape"] = [-1] * len(each["shape"])  # as a forger states it: inference may give any size
    return Base(case.op, plain, feed)


def base_of_program(name: str) -> Base:
    """The Program of a function of ``PROGRAMS``."""
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            x, n = static.data("x", [1, 1, 4, 4], "float32"), static.data("n", [1], "int64")
            made = [v for v in variables_of(PROGRAMS[name](x, n)) if v is not None]
            main.inputs, main.outputs = ["x", "n"], [v.name for v in made]
        plain = to_plain(main)
    finally:
        paddle.disable_static()
    inputs = {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), "n": np.array([1])}
    return Base(name, plain, inputs)


def bases(most: int | None) -> dict[str, list[Base]]:
    """Bases by operator: at most that many rows of each, with known and with unknown shapes in alternation;
    all rows with both for None."""
    found: dict[str, list[Base]] = {}
    rows: dict[str, list[Case]] = {}
    for case in [*UNTABLED, *CASES]:
        if OPS[case.op] not in traits.opaque and all(
            np.size(v) for v in case.sample.inputs if v is not None and not isinstance(v, list)
        ):
            rows.setdefault(case.op, []).append(case)
    for op, cases in rows.items():
        by_hand = sum(c.op == op for c in UNTABLED)
        rest = cases[by_hand:]
        chosen = cases
        if most is not None:
            chosen = cases[:by_hand] + rest[:: max(1, len(rest) // most)][:most]
        for number, case in enumerate(chosen):
            for unknown in (
                (False, True)
                if most is None
                else ((number + len(found)) % 2 == 1,)
                if number >= by_hand
                else (False, True)
            ):
                try:
                    base = base_of(case, unknown and case.unknown)
                    run(base.plain, base.inputs)
                except (EngineError, TypeError):
                    base = base_of(case, False)
                found.setdefault(op, []).append(base)
    return found | {name: [base_of_program(name)] for name in PROGRAMS}


def _numbers(value: Any, kind: type, place: Place = ()) -> Iterator[Place]:
    """Where numbers of a kind are in an attribute, and lists of several; flags count as integers."""
    if isinstance(value, kind):
        yield place
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _numbers(each, kind, (*place, key))
    elif isinstance(value, list):
        if len(value) > 1 and all(isinstance(v, kind) for v in value):
            yield place
        for number, each in enumerate(value[:4]):
            yield from _numbers(each, kind, (*place, number))


def steps(op: str, found: Sequence[Base], values: Sequence[int] = VALUES) -> Iterator[Step]:
    """The cases of an operator."""
    for number, base in enumerate(found):
        for place in _numbers(base.attributes(), int):
            for value in values:
                yield Step(op, number, "attribute", place, value)
        for name, array in base.inputs.items():
            if array.dtype.kind in "iu" and array.size:
                for value in values:
                    limits = np.iinfo(array.dtype)
                    yield Step(op, number, "input", (name,), min(max(value, limits.min), limits.max))


def float_steps(op: str, found: Sequence[Base], values: Sequence[float] = FLOATS) -> Iterator[Step]:
    """Cases of an operator's floating-point attributes and inputs, the latter at one element and at all."""
    for number, base in enumerate(found):
        for place in _numbers(base.attributes(), float):
            for value in values:
                yield Step(op, number, "attribute", place, value)
        for name, array in base.inputs.items():
            if array.dtype.kind in "fc" and array.size:
                for value in values:
                    yield Step(op, number, "input", (name,), value)
                    yield Step(op, number, "whole input", (name,), value)


def changed(base: Base, step: Step) -> Base:
    """The base with the integer of a case."""
    made = copy.deepcopy(base)
    if step.kind != "attribute":
        made.inputs[step.place[0]].reshape(-1)[: 1 if step.kind == "input" else None] = step.value
        return made
    owner = made.attributes()
    for key in step.place[:-1]:
        owner = owner[key]
    last = owner[step.place[-1]]
    owner[step.place[-1]] = [step.value] * len(last) if isinstance(last, list) else step.value
    return made


def run(plain: Any, inputs: dict[str, Any]) -> None:
    """Read a Program as that of an untrusted file, and run it."""
    program = from_plain(plain, "model.pdmodel", training=True)
    block = program.global_block()
    given = [block.vars[name] for name in inputs]
    outputs = [block.vars[name] for name in program.outputs]
    specs = {n: Spec.of(v) for n, v in inputs.items()}
    default_generator().manual_seed(5)
    Plan(program, block.ops, given, outputs, specs)(list(inputs.values()))


def attempt(base: Base, step: Step) -> dict[str, str]:
    """What a case gives: a result, or an error."""
    case = changed(base, step)
    try:
        run(case.plain, case.inputs)
    except EngineError as error:
        return {"kind": type(error).__name__, "said": str(error)[:2000]}
    except BaseException as error:
        return {"kind": f"not ours: {type(error).__name__}", "said": str(error)[:300]}
    return {"kind": "result", "said": ""}


def in_children(todo: Sequence[Step], found: dict[str, list[Base]]) -> Iterator[tuple[Step, dict[str, str]]]:
    """Each case with what it gives, in forked processes with limits."""
    return in_limited_children(todo, lambda step: attempt(found[step.op][step.base], step))


SOUND = (
    "result",
    "FormatError",
    "LimitError",
    "ShapeError",
    "OutOfRangeError",
    "ElementRangeError",
    "ArgumentError",
    "DTypeError",
    "NotFiniteError",
)


def failures(answers: Iterable[tuple[Step, dict[str, str]]]) -> Iterator[str]:
    """The cases that gave neither a result nor an error of the engine."""
    for step, answer in answers:
        if answer["kind"] not in SOUND:
            yield f"{step}: {answer['kind']} {answer['said'][:200]}"


def main(names: Sequence[str]) -> None:
    begun = time.monotonic()
    options = [name for name in names if name.startswith("--")]
    names = [name for name in names if name not in options]
    most = 1 if "--few" in options else None
    found = {op: b for op, b in bases(most).items() if not names or op in names}
    print(f"{len(found)} operators, {sum(map(len, found.values()))} bases", file=sys.stderr)
    walk = float_steps if "--floats" in options else steps
    todo = [step for op, each in found.items() for step in walk(op, each)]
    kinds: Counter[str] = Counter()
    slow: list[tuple[float, str]] = []

    def counted() -> Iterator[tuple[Step, dict[str, str]]]:
        for step, answer in in_children(todo, found):
            kinds[answer["kind"]] += 1
            slow.append((float(answer.get("seconds", 99)), str(step)))
            yield step, answer

    for failure in failures(counted()):
        print(failure, flush=True)
    print(f"{len(todo)} cases: {dict(kinds.most_common())}")
    print(f"the slowest: {sorted(slow)[-12:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of the children, {time.monotonic() - begun:.0f} s in all")


if __name__ == "__main__":
    paddle.set_device("cpu")
    main(sys.argv[1:])
