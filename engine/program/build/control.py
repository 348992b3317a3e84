"""Builds branches and loops: ``cond`` and ``while_loop`` with sub-blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.errors import BranchError, ConversionError, LoopError, ShapeError
from engine.core.frames import located, user_frame
from engine.core.layer_calls import layer_call
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.strictness import tolerate
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation
from engine.ops.control import flow as ops
from engine.ops.elementwise import arithmetic
from engine.program.build.buffer_place import BufferPlace
from engine.program.build.builder import Builder, Rebound, current_builder
from engine.program.build.kinds import declared, kinds_of
from engine.program.graph.liveness import outer_reads
from engine.program.graph.program import Block, Variable
from engine.program.graph.region import Region
from engine.program.graph.variable import kind_error


def cond(
    pred: Tensor | Variable | float | np.generic,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of one of two functions, by a bool of one element.

    Both must give the same structure; numbers that differ become Variables. In eager mode, or for a Python
    bool, the chosen function is simply called. Raises ConversionError where the structures differ, ShapeError
    or DTypeError if the values can't replace one another.
    """
    true_fn, false_fn = true_fn or (lambda: None), false_fn or (lambda: None)
    builder = current_builder()
    if builder is None or not isinstance(pred, (Variable, Tensor)):
        return true_fn() if pred else false_fn()
    pred = _condition("cond", builder, pred)
    sides = []
    for function in (true_fn, false_fn):
        block = builder.program.create_block(builder.block)
        with modes.use(builder.in_block(block)):
            value, changes = builder.side(function)
        sides.append((block, value, changes))
    (true_block, true_value, in_true), (false_block, false_value, in_false) = sides
    changed = changed_outside(builder, in_true, in_false)
    flat_true = [_after(builder, v, in_true) for v in nest.flatten(true_value)]
    flat_false = [_after(builder, v, in_false) for v in nest.flatten(false_value)]
    if not nest.same_structure(true_value, false_value):
        raise _error(
            ConversionError(
                f"cond: the branches give different structures: {nest.describe(true_value)} and "
                f"{nest.describe(false_value)}; make both give the same"
            )
        )
    results: list[Any] = []
    pairs: list[tuple[Variable, Variable]] = []
    for a, b in zip(flat_true, flat_false, strict=True):
        if not isinstance(a, (Variable, Tensor)) and not isinstance(b, (Variable, Tensor)) and _same(a, b):
            results.append(a)
            continue
        pair = _pair(builder, true_block, a, false_block, b)
        results.append(None)
        pairs.append(pair)
    for x in changed:
        one, other = (_after(builder, x, side) for side in (in_true, in_false))
        pairs.append(_pair(builder, true_block, one, false_block, other))
    outputs = iter(append_cond(builder, pred, true_block, false_block, pairs))
    merged = [next(outputs) if _is_merged(a, b) else a for a, b in zip(flat_true, flat_false, strict=True)]
    for x, value in zip(changed, outputs, strict=True):
        builder.rebind(x, value)
    return nest.pack(true_value, merged)


def changed_outside(builder: Builder, *changes: Rebound) -> list[Any]:
    """The values from outside that branches or a loop's body changed in place."""
    found = {}
    for side in changes:
        for key, (x, _) in side.items():
            if isinstance(x, (Tensor, BufferPlace)) or any(x.block is b for b in builder.block.lineage()):
                found[key] = x
    return list(found.values())


def _after(builder: Builder, value: Any, changes: Rebound) -> Any:
    """The value of an object at the end of a branch."""
    return changes[id(value)][1] if id(value) in changes else builder.now(value)


def _is_merged(a: Any, b: Any) -> bool:
    return isinstance(a, (Variable, Tensor)) or isinstance(b, (Variable, Tensor)) or not _same(a, b)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (bool, int, float, str, bytes)) and a == b


def _pair(
    builder: Builder, true_block: Block, a: Any, false_block: Block, b: Any
) -> tuple[Variable, Variable]:
    first = _in_block(builder, true_block, a, like=b)
    second = _in_block(builder, false_block, b, like=a)
    try:
        ops.merged("cond", first.spec, second.spec)
    except BranchError as error:
        if builder.startup is not None:
            tolerate(_error(error))
    return first, second


def _in_block(builder: Builder, block: Block, value: Any, like: Any) -> Variable:
    """``value`` as a Variable of ``block``; a number takes the dtype of the other branch's result."""
    if isinstance(value, Variable):
        return value
    with modes.use(builder.in_block(block)):
        if isinstance(value, Tensor):
            return builder.program.capture(value)
        if isinstance(value, (bool, int, float)):
            return _number(block, value, like)
    raise _error(
        ConversionError(
            f"cond: one branch gives {value!r} and the other {like!r}; only tensors and numbers can differ "
            "between branches of a tensor condition: give both branches a tensor, or the same object"
        )
    )


def _number(block: Block, value: Any, like: Any) -> Variable:
    """A number as a Variable in the shape of ``like``; a float stays a float where ``like`` is an integer."""
    if not isinstance(like, (Variable, Tensor)):
        made = creation.fill(shape=[], value=value, dtype=_dtype_of(value, like))
    else:
        fraction = isinstance(value, float) and not like.dtype.is_floating_point
        dtype = "float32" if fraction else like.dtype.name
        if -1 not in like.shape:
            made = creation.fill(shape=list(like.shape), value=value, dtype=dtype)
        elif isinstance(like, Variable) and any(like.block is b for b in block.lineage()):
            made = creation.fill_like(like, value=float(value), dtype=dtype)
        else:
            raise _error(
                ConversionError(
                    f"cond: one branch gives {value!r} and the other {Spec(like.shape, like.dtype)}, whose "
                    "shape is known only when it runs; give a tensor of that shape on both sides, "
                    "e.g. with full_like"
                )
            )
    assert isinstance(made, Variable)
    return made


def _dtype_of(value: Any, like: Any) -> str:
    kinds = {type(value), type(like)}
    return "float32" if float in kinds else "bool" if kinds == {bool} else "int64"


def append_cond(
    builder: Builder,
    pred: Variable,
    true_block: Block,
    false_block: Block,
    pairs: Sequence[tuple[Variable, Variable]],
) -> list[Variable]:
    captured = outer_reads((true_block, false_block), [v for pair in pairs for v in pair])
    specs = [declared(builder, a, b) for a, b in pairs]
    stops = [(a.stop_gradient and b.stop_gradient) or not builder.grad for a, b in pairs]
    regions = [Region(block, (), [p[n] for p in pairs]) for n, block in enumerate((true_block, false_block))]
    inputs = (pred, list(captured))
    outputs = append_operator(builder, ops.cond.opdef, inputs, regions, specs, stops)
    if builder.startup is None:
        for output, pair in zip(outputs, pairs, strict=True):
            output.kinds = kinds_of(*pair)
    return outputs


def append_operator(
    builder: Builder,
    opdef: OpDef,
    inputs: tuple[Any, ...],
    regions: Sequence[Region],
    specs: Sequence[Spec],
    stops: Sequence[bool],
    **attrs: Any,
) -> list[Variable]:
    """Append an operator with ``regions``, whose results are of ``specs``."""
    operator = Operator(opdef, inputs, opdef.with_defaults(attrs))
    operator.regions = tuple(regions)
    operator.set_place(user_frame(), layer_call())
    base = builder.program.unique_name(opdef.name)
    operator.outputs = tuple(
        builder.block.create_var(f"{base}.tmp_{n}", spec, stop_gradient=stop)
        for n, (spec, stop) in enumerate(zip(specs, stops, strict=True))
    )
    builder.block.append(operator)
    return list(operator.outputs)


def _condition(where: str, builder: Builder, pred: Any) -> Variable:
    if isinstance(pred, Tensor):
        pred = builder.program.capture(pred)
    if pred.size not in (1, -1):
        raise _error(
            ShapeError(
                f"{where}: the condition must have one element: got {pred.name!r} {pred.spec}; "
                "use all() or any()"
            )
        )
    if pred.dtype.name != "bool":
        pred = arithmetic.cast(pred, out_dtype="bool")
    assert isinstance(pred, Variable)
    return pred


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Calls ``body(*loop_vars)`` while ``cond(*loop_vars)``; returns the last values.

    Numbers among the loop's values become Variables. ``body`` must give values of the same structure and
    dtypes; a dimension that changes becomes unknown. In eager mode it is a Python loop.
    """
    builder = current_builder()
    if builder is None:
        values = list(loop_vars)
        while cond(*values):
            given = body(*values)
            values = list(given) if isinstance(given, (list, tuple)) else [given]
        return values
    from engine.program.build.repeated import RepeatedCalls

    changed: list[Any] = []
    blocks, operators = len(builder.program.blocks), len(builder.block.ops)
    tests, bodies = RepeatedCalls("while_loop: the condition"), RepeatedCalls("while_loop: the body")
    cond, body = tests.calls(cond), bodies.calls(body)
    while True:
        try:
            outputs = _append_loop(builder, cond, body, list(loop_vars), changed)
            break
        except _Changes as found:
            changed += found.tensors
            del builder.program.blocks[blocks:]
            del builder.block.ops[operators:]
    own = len(outputs) - len(changed)
    for x, value in zip(changed, outputs[own:], strict=True):
        builder.rebind(x, value)
    packed = nest.pack(list(loop_vars), outputs[:own])
    assert isinstance(packed, list)
    return packed


class _Changes(Exception):
    """A loop's body changed tensors in place: the loop is built again with their values carried through."""

    def __init__(self, tensors: list[Any]) -> None:
        self.tensors = tensors


def _append_loop(
    builder: Builder,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: list[Any],
    changed: list[Any],
) -> list[Variable]:
    """The operator over ``loop_vars`` and the values of ``changed``, which the body changes in place."""
    count = len(loop_vars)

    def begin(values: tuple[Any, ...]) -> tuple[Any, ...]:
        for x, value in zip(changed, values[count:], strict=True):
            builder.rebind(x, value)
        return values[:count]

    def test(*values: Any) -> Any:
        return cond(*begin(values))

    def step(*values: Any) -> list[Any]:
        given = body(*begin(values))
        return [*(given if isinstance(given, (list, tuple)) else [given]), *changed]

    structure = [*loop_vars, *(builder.now(x) for x in changed)]
    flat = [_loop_value(builder, builder.now(v)) for v in nest.flatten(structure)]
    specs = [v.spec.with_shape([-1, *v.spec.shape[1:]]) if v.grows else v.spec for v in flat]
    stops = [v.stop_gradient for v in flat]
    # Dimensions that the body changes become unknown, and values that it computes from trained ones have a
    # gradient, until nothing changes any more.
    for _ in range(4 + len(flat)):
        made = _build_loop(builder, test, step, structure, specs, stops, changed)
        if isinstance(made, _Loop):
            break
        specs, stops = made
    else:
        raise _error(
            ShapeError(
                "while_loop: the number of dimensions of a loop value changes with every iteration; "
                "keep it fixed"
            )
        )
    stops = [stop or not builder.grad for stop in stops]
    return append_operator(
        builder, ops.while_loop.opdef, (flat, made.captured), (made.condition, made.body), specs, stops
    )


class _Loop(NamedTuple):
    """A loop whose regions are built."""

    condition: Region
    body: Region
    captured: list[Variable]


def _loop_value(builder: Builder, value: Any) -> Variable:
    if isinstance(value, Variable):
        if value.kinds is not None:
            raise _error(kind_error("while_loop", value.kinds))
        return value
    if isinstance(value, Tensor):
        return builder.program.capture(value)
    if isinstance(value, (bool, int, float)):
        made = creation.fill(shape=[], value=value, dtype=_dtype_of(value, value))
        assert isinstance(made, Variable)
        return made
    raise _error(
        ConversionError(
            f"while_loop: a loop value is {value!r}; only tensors and numbers can change in "
            f"a loop over a tensor "
            "condition: make it a tensor before the loop, or do not change it in the loop"
        )
    )


def _build_loop(
    builder: Builder,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    structure: Sequence[Any],
    specs: list[Spec],
    stops: list[bool],
    changed: list[Any],
) -> _Loop | tuple[list[Spec], list[bool]]:
    """The loop with values of ``specs``; wider specs and stops to try next where the body changes them."""
    program = builder.program
    blocks_before = len(program.blocks)
    outer = program.create_block(builder.block)
    outer.loops = True
    names = [program.unique_name("while_value") for _ in specs]
    with modes.use(builder.in_block(outer)):
        condition, cond_block = _part(builder, outer, cond, structure, names, specs, stops)
        results, body_block = _part(builder, outer, body, structure, names, specs, stops, changed)
        with modes.use(builder.in_block(cond_block)):
            condition = _condition("while_loop", builder, condition)
    wider = []
    for n, (spec, result) in enumerate(zip(specs, results, strict=True)):
        if result.spec.dtype is not spec.dtype:
            raise _error(
                LoopError(
                    f"while_loop: loop value {n} is {spec} before the loop and "
                    f"{result.spec} after an iteration; "
                    "give it the same dtype before the loop"
                )
            )
        try:
            wider.append(ops.merged(f"while_loop: loop value {n}", spec, result.spec))
        except BranchError as error:
            raise _error(error) from None
    flowing = [stop and result.stop_gradient for stop, result in zip(stops, results, strict=True)]
    if wider != specs or flowing != stops:
        del program.blocks[blocks_before:]
        return wider, flowing
    captured = outer_reads((outer, cond_block, body_block), (*results, condition))
    values = [outer.vars[name] for name in names]
    return _Loop(
        Region(cond_block, values, [condition]),
        Region(body_block, values, results),
        list(captured),
    )


def _part(
    builder: Builder,
    outer: Block,
    function: Callable[..., Any],
    structure: Sequence[Any],
    names: list[str],
    specs: list[Spec],
    stops: list[bool],
    changed: list[Any] | None = None,
) -> tuple[Any, Block]:
    """One block of the loop, with the loop's values as Variables that ``outer`` defines for both.

    It is the condition's where ``changed`` is None, else the body's.
    """
    block = builder.program.create_block(outer)
    values = [
        outer.vars[n] if n in outer.vars else outer.create_var(n, s, stop_gradient=stop, is_data=True)
        for n, s, stop in zip(names, specs, stops, strict=True)
    ]
    with modes.use(builder.in_block(block)):
        given, changes = builder.side(lambda: function(*nest.pack(list(structure), values)))
        if changed is None:
            return _after(builder, given, changes), block
        new = [x for x in changed_outside(builder, changes) if all(x is not known for known in changed)]
        if new:
            raise _Changes(new)
        if not nest.same_structure(given, list(structure)):
            raise _error(
                ConversionError(
                    f"while_loop: the body gives {nest.describe(given)} for loop values "
                    f"{nest.describe(list(structure))}; return one value for each, in the same structure"
                )
            )
        return [_loop_value(builder, _after(builder, v, changes)) for v in nest.flatten(given)], block


def _error(error: Any) -> Any:
    return located(error, user_frame())
