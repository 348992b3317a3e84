"""Branches and loops of static mode whose functions change tensor arrays, or take and give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.containers import nest
from engine.core.mode import is_symbolic
from engine.core.values.spec import Spec
from engine.program.build import control
from engine.program.build.builder import current_builder
from engine.tensor.arrays.tensor_array import TensorArray, watching


class _Changed(Exception):
    """Arrays from outside that a function changed, with their elements after it.

    The branch or loop is built again and hands them on.
    """

    def __init__(self, arrays: list[tuple[TensorArray, Any, list[Spec]]]) -> None:
        self.arrays = arrays


def cond(
    pred: object,
    true_fn: Callable[[], Any] | None,
    false_fn: Callable[[], Any] | None,
    build: Callable[..., Any] = control.cond,
) -> Any:
    """``build``, a form of ``control.cond``, over functions that may change arrays and give them."""

    if current_builder() is None or not is_symbolic(pred):
        return build(pred, true_fn, false_fn)

    def built(handed: list[TensorArray]) -> tuple[Any, Any]:
        given: list[Any] = []

        def side(function: Callable[[], Any] | None) -> Callable[[], Any]:
            def run() -> Any:
                value, lowered, leaves = _observed(function or (lambda: None), handed)
                given.append(value)
                return [lowered, leaves] if handed else lowered

            return run

        made = build(pred, side(true_fn), side(false_fn))
        value, leaves = made if handed else (made, [])
        return _raised(given[-1], value), leaves

    return _with_arrays([], built)


def while_loop(
    test: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    build: Callable[..., Any] = control.while_loop,
) -> list[Any]:
    """``build``, a form of ``control.while_loop``, over functions that may change arrays.

    An array among the loop's values is the same one all the time: it is written in place.
    """
    if current_builder() is None:
        return list(build(test, body, loop_vars))
    values = list(loop_vars)
    count = len(values)
    arrays = [leaf for leaf in nest.flatten(values) if isinstance(leaf, TensorArray)]

    def built(handed: list[TensorArray]) -> tuple[Any, Any]:
        def started(function: Callable[..., Any], given: Sequence[Any]) -> Callable[[], Any]:
            def run() -> Any:
                for array, leaves in zip(handed, given[count:], strict=True):
                    array.become(leaves)
                return function(*_with(values, list(given[:count])))

            return run

        def run_test(*given: Any) -> Any:
            return _observed(started(test, given), handed)[0]

        def run_body(*given: Any) -> Any:
            def step() -> Any:
                made = started(body, given)()
                made = list(made) if isinstance(made, (list, tuple)) else [made]
                _take(values, made)
                return made

            made, _, leaves = _observed(step, handed)
            return [*_without(made), *leaves]

        result = build(run_test, run_body, [*_without(values), *(array.leaves() for array in handed)])
        return _with(values, list(result[:count])), result[count:]

    made: list[Any] = _with_arrays(arrays, built)
    return made


def _with_arrays(arrays: list[TensorArray], built: Callable[[list[TensorArray]], tuple[Any, Any]]) -> Any:
    """The result of ``built`` when it passes on all arrays that its functions change."""
    builder = current_builder()
    assert builder is not None
    handed = list(arrays)
    while True:
        blocks, operators = len(builder.program.blocks), len(builder.block.ops)
        try:
            result, leaves = built(handed)
            break
        except _Changed as changed:
            del builder.program.blocks[blocks:]
            del builder.block.ops[operators:]
            for array, structure, specs in changed.arrays:
                if not array.leaves():
                    array.begin_with(structure, specs)
                if all(array is not known for known in handed):
                    handed.append(array)
    for array, new in zip(handed, leaves, strict=True):
        array.become(new)
    return result


def _observed(function: Callable[[], Any], handed: list[TensorArray]) -> tuple[Any, Any, list[list[Any]]]:
    """The function's value, the same with leaves in place of arrays, and the leaves of the arrays passed on.

    Its changes are undone. Raises _Changed if it changed other arrays.
    """
    empty = [array for array in handed if not array.leaves()]
    with watching() as watch:
        value = function()
    lowered = nest.map_structure(lambda leaf: leaf.leaves() if isinstance(leaf, TensorArray) else leaf, value)
    leaves = [array.leaves() for array in handed]
    others = [array for array in watch.changed() if all(array is not known for known in handed)]
    others += [array for array in empty if array.leaves()]
    found = [(array, array.structure, array.element_specs()) for array in others]
    watch.put_back()
    if found:
        raise _Changed(found)
    return value, lowered, leaves


def _raised(like: Any, value: Any) -> Any:
    """``value`` with arrays again where ``like`` has them."""
    if isinstance(like, TensorArray):
        return like.with_leaves(value)
    if isinstance(like, dict):
        return {key: _raised(item, value[key]) for key, item in like.items()}
    if isinstance(like, (list, tuple)):
        made = [_raised(item, each) for item, each in zip(like, value, strict=True)]
        return type(like)(*made) if hasattr(like, "_fields") else type(like)(made)
    return value


def _without(values: list[Any]) -> list[Any]:
    """The loop's values with nothing in place of arrays."""
    made = nest.map_structure(lambda leaf: [] if isinstance(leaf, TensorArray) else leaf, values)
    assert isinstance(made, list)
    return made


def _with(values: list[Any], given: list[Any]) -> list[Any]:
    """The arguments for the loop's values, with their arrays."""
    made = _paired(values, given, lambda array, _: array)
    assert isinstance(made, list)
    return made


def _take(values: list[Any], made: list[Any]) -> None:
    """Let the loop's arrays be those that its body gave in their places."""

    def become(array: TensorArray, other: Any) -> TensorArray:
        if isinstance(other, TensorArray) and other is not array:
            array.become(other.leaves(), other.structure)
        return array

    _paired(values, made, become)


def _paired(like: Any, value: Any, function: Callable[[TensorArray, Any], Any]) -> Any:
    if isinstance(like, TensorArray):
        return function(like, value)
    if isinstance(like, dict) and isinstance(value, dict):
        return {key: _paired(item, value.get(key), function) for key, item in like.items()}
    if isinstance(like, (list, tuple)) and isinstance(value, (list, tuple)) and len(like) == len(value):
        made = [_paired(item, each, function) for item, each in zip(like, value, strict=True)]
        return type(like)(*made) if hasattr(like, "_fields") else type(like)(made)
    return value
