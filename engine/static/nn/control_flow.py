"""Control flow of Programs: cond, case, switch_case, while_loop, and assertions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from engine.core.containers import nest
from engine.core.errors import ArgumentError, DTypeError
from engine.core.frames import located, user_frame
from engine.core.values.dtype import bool_
from engine.eager.tensor import Tensor
from engine.ops.control import flow as control_ops
from engine.program.build import control
from engine.program.build.builder import Builder, current_builder
from engine.program.build.control_names import CondNames, note_loop
from engine.program.graph.variable import Variable
from engine.tensor import creation, logic
from engine.tensor.arrays import control as array_control
from engine.tensor.tensor_like import AnyTensor, TensorLike

# Functions by number, pairs of number and function, or functions that are numbered from 0.
_Function: TypeAlias = Callable[[], Any]
Branches: TypeAlias = dict[int, _Function] | Sequence[tuple[int, _Function] | _Function]


def cond(
    pred: AnyTensor | bool,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """The result of ``true_fn()`` if ``pred``, a bool of one element, is true, else that of ``false_fn()``.

    Both must return the same structure. Where their ranks or dtypes differ, the Variable is declared as what
    ``true_fn`` returns, with a LeniencyWarning, and a run gives what the chosen function returns. In eager
    mode only the chosen function is called. Raises DTypeError for a ``pred`` that is not a bool Variable or a
    function that can't be called, ArgumentError for functions that give different structures.

    Differs from Paddle: where ranks differ, a gradient made for the shape of the true side that does not fit
    the false one is an error when it runs.
    """
    for key, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise DTypeError(f"cond: {key} must be callable: got {type(function).__name__}")
    builder = _static(pred)
    if builder is None:
        return array_control.cond(pred, true_fn, false_fn)
    variable = cast(Variable, pred)
    if variable.dtype is not bool_:
        raise DTypeError(f"cond: pred must be a bool: got {variable.spec}; compare it, as in pred > 0")
    return array_control.cond(pred, true_fn, false_fn, functools.partial(_named_cond, builder))


def _named_cond(
    builder: Builder,
    pred: Any,
    true_fn: Callable[[], Any] | None,
    false_fn: Callable[[], Any] | None,
) -> Any:
    names = CondNames(builder)
    given: list[Any] = []

    def side(key: str, function: Callable[[], Any] | None) -> Callable[[], Any]:
        def built() -> Any:
            if key == "false":
                names.between(pred)
            value = None if function is None else function()
            names.side(key, nest.flatten(value))
            given.append(value)
            if len(given) == 2 and not _alike(*given):
                kinds = " and ".join(nest.describe(v) for v in given)
                raise located(
                    ArgumentError(
                        f"cond: true_fn and false_fn give different structures: {kinds}; "
                        f"make both give the same"
                    ),
                    user_frame(),
                )
            return value

        return built

    before = len(builder.block.ops)
    result = control.cond(pred, side("true", true_fn), side("false", false_fn))
    operator = builder.block.ops[-1]
    if len(builder.block.ops) > before and operator.opdef is control_ops.cond.opdef:
        names.after(pred)
        names.finish(operator)
    return result


def _static(value: Any) -> Builder | None:
    """The Builder of static mode where ``value`` is one of its Variables."""
    builder = current_builder()
    in_static_mode = builder is not None and builder.startup is not None
    return builder if in_static_mode and isinstance(value, Variable) else None


def _alike(a: Any, b: Any) -> bool:
    return nest.same_structure(a, b) and [v is None for v in nest.flatten(a)] == [
        v is None for v in nest.flatten(b)
    ]


def case(
    pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of the function of the first true condition; ``default()`` where none is true.

    Without a default the last function is used. Raises ArgumentError for an empty list, DTypeError for items
    that are not pairs of a condition and a function.
    """
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise DTypeError(
            f"case: pred_fn_pairs must be a list of pairs: got {type(pred_fn_pairs).__name__}; "
            "pass [(condition, function), ...]"
        )
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ArgumentError("case: pred_fn_pairs is empty; pass at least one pair of condition and function")
    for n, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise DTypeError(f"case: pred_fn_pairs[{n}] is not a pair of condition and function: {pair!r}")
    if default is not None and not callable(default):
        raise DTypeError(f"case: default must be callable: got {type(default).__name__}")
    otherwise = default
    if otherwise is None:
        otherwise = pairs.pop()[1]
    for pred, function in reversed(pairs):
        otherwise = _either(pred, function, otherwise)
    return otherwise()


def _either(pred: Any, function: Callable[[], Any], otherwise: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: cond(pred, function, otherwise)


def switch_case(
    branch_index: AnyTensor | int,
    branch_fns: Branches,
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of the function of number ``branch_index``, an integer of one element.

    ``branch_fns``: a dict of functions by number, a list of pairs of number and function, or a list of
    functions, numbered from 0. Other numbers select ``default()``, without one the function of the largest
    number. Raises ArgumentError for a number that appears twice, DTypeError for an index that is not an
    integer.
    """
    if isinstance(branch_index, (Tensor, Variable)) and not branch_index.dtype.is_integer:
        raise DTypeError(
            f"switch_case: branch_index must be int32 or int64: got {branch_index.dtype.name}; cast it"
        )
    pairs = _numbered(branch_fns)
    otherwise = default if default is not None else pairs[-1][1]
    chosen = pairs if default is not None else pairs[:-1]
    if not isinstance(branch_index, (Tensor, Variable)):
        return dict(chosen).get(int(branch_index), otherwise)()
    tests = []
    for number, function in chosen:
        own = creation.full([1], number, dtype=branch_index.dtype)
        tests.append((logic.equal(branch_index, own), function))
    return case(tests[::-1], otherwise) if tests else otherwise()  # Paddle asks for the last one first


def _numbered(branch_fns: Any) -> list[tuple[int, Callable[[], Any]]]:
    if not isinstance(branch_fns, (list, tuple, dict)) or not branch_fns:
        raise DTypeError(
            f"switch_case: branch_fns must be a list or dict of functions: got {type(branch_fns).__name__}; "
            "pass e.g. {0: function, 1: other}"
        )
    items: Any = branch_fns.items() if isinstance(branch_fns, dict) else branch_fns
    pairs = [item if isinstance(item, tuple) else (number, item) for number, item in enumerate(items)]
    for number, function in pairs:
        if not isinstance(number, int) or not callable(function):
            raise DTypeError(f"switch_case: {(number, function)!r} is not a number with a function")
    if len({number for number, _ in pairs}) != len(pairs):
        raise ArgumentError(f"switch_case: a number appears twice: {[n for n, _ in pairs]}; list each once")
    return sorted(pairs, key=lambda pair: pair[0])


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Calls ``body(*loop_vars)`` as long as ``cond(*loop_vars)``, a bool of one element, is true.

    ``body`` returns the next values, in the same number, structure and dtypes. Returns the last ones. In
    eager mode it is a Python loop. Raises DTypeError or ArgumentError for wrong arguments.
    """
    if not callable(cond) or not callable(body):
        raise DTypeError("while_loop: cond and body must be functions of the loop's values")
    if not isinstance(loop_vars, (list, tuple)):
        raise DTypeError(f"while_loop: loop_vars is a list: got {type(loop_vars).__name__}")
    if not loop_vars:
        raise ArgumentError("while_loop: loop_vars is empty; pass the values that the body changes")
    flat = nest.flatten(list(loop_vars))
    builder = next((b for b in map(_static, flat) if b is not None), None)
    if builder is None:
        return array_control.while_loop(cond, body, loop_vars)

    def test(*values: Any) -> Any:
        found = cond(*values)
        if isinstance(found, Variable) and found.dtype is not bool_:
            raise located(
                DTypeError(f"while_loop: cond must give a bool: got {found.spec}; compare it, as in n < 3"),
                user_frame(),
            )
        return found

    def step(*values: Any) -> Any:
        found = body(*values)
        given = list(found) if isinstance(found, (list, tuple)) else [found]
        if not nest.same_structure(given, list(loop_vars)):
            raise located(
                ArgumentError(
                    f"while_loop: body gives {nest.describe(given)} for loop_vars "
                    f"{nest.describe(list(loop_vars))}; give one value for each, in the same structure"
                ),
                user_frame(),
            )
        return found

    result = array_control.while_loop(test, step, loop_vars)
    operator = builder.block.ops[-1]
    note_loop(builder, operator, list(operator.inputs[0]))
    return result


def Assert(
    cond: AnyTensor, data: TensorLike | None = None, summarize: int = 20, name: str | None = None
) -> Any:
    """Stop a run where ``cond``, a bool of one element, is false, with ``data`` in the message.

    ``data`` is a list of Tensors, of which at most ``summarize`` elements are shown (-1: all). Raises
    DTypeError for other arguments; a run raises AssertFailedError.
    """
    if not isinstance(cond, (Tensor, Variable)) or cond.dtype is not bool_:
        raise DTypeError("Assert: cond must be a bool Variable; compare something, as in x > 0")
    if data is not None and not isinstance(data, (list, tuple)):
        raise DTypeError(f"Assert: data must be a list of Tensors: got {type(data).__name__}")
    builder = _static(cond)
    made = control_ops.check(cond, list(data or []), summarize=int(summarize), message="")
    return made if builder is None else builder.block.ops[-1]
