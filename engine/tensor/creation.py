"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DeviceMemoryError, DTypeError
from engine.core.frames import located, user_frame
from engine.core.place import PlaceLike, as_place, backend, current_place, page_locked
from engine.core.values import bfloat
from engine.core.values.dtype import DType, as_dtype, common_dtype, default_dtype, from_numpy, require_fitting
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation, dynamic_shape
from engine.ops.arrays import shape as ops
from engine.ops.elementwise import arithmetic, comparison, power
from engine.program.build.builder import current_builder
from engine.program.build.calls import called, names_results, starts, takes_name
from engine.program.graph.unknown import known_operand
from engine.program.text.naming import Naming
from engine.tensor.arguments.sizes import dimensions, is_later, number_of, whole, whole_part, whole_sizes
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor, DTypeLike, IntegerLike, NumberLike, ShapeLike, TensorLike


def to_tensor(
    data: TensorLike,
    dtype: DTypeLike | None = None,
    place: PlaceLike | None = None,
    stop_gradient: bool = True,
) -> Any:
    """A tensor with a copy of ``data``: numbers, nested lists, a NumPy array or a Tensor.

    Python floats become the default dtype, ints int64, bools bool; NumPy arrays keep theirs. Raises
    DTypeError for data that is not numeric (strings, objects), ArgumentError for ragged lists, and
    OutOfRangeError for numbers that no integer of ``dtype`` stands for, DeviceMemoryError where a GPU has no
    memory.

    Numbers that an integer ``dtype`` does not hold wrap around, as in Paddle, with a LeniencyWarning. Differs
    from Paddle: infinite numbers, and floating ones of more than 32 bits, are refused.
    """
    if modes.is_static():
        traced = current_builder()
        if (
            traced is not None
            and traced.startup is None
            and (modes.is_symbolic(data) or isinstance(data, Tensor))
        ):
            made = ops.assign(ops.detach(data))  # as in eager code, a copy without gradient
            if dtype is not None:
                made = arithmetic.cast(made, out_dtype=as_dtype(dtype).name)
            made.stop_gradient = stop_gradient
            return made
        made = _static_constant(data, dtype)
        if made is not data:
            made.stop_gradient = stop_gradient
        return made
    array = _as_array(data, None if dtype is None else as_dtype(dtype))
    where = current_place() if place is None else as_place(place)
    if where.kind != "cpu":
        try:
            array = backend(where).xp.asarray(array)
        except DeviceMemoryError as error:
            raise located(DeviceMemoryError(f"to_tensor: {error.message}"), user_frame()) from error
    elif array is data or array.base is not None or isinstance(data, (np.ndarray, Tensor)):
        array = array.copy()
    if where.is_cuda_pinned_place():
        array = page_locked(array)
    return Tensor(array, stop_gradient)


def fitting_tensor(data: TensorLike, dtype: DType) -> Any:
    """A tensor of numbers, which must fit ``dtype``. Raises OutOfRangeError where they would wrap around."""
    if dtype.is_integer and isinstance(data, (int, float, np.ndarray, np.generic)):
        require_fitting("to_tensor", np.asarray(data), dtype)
    return to_tensor(data, dtype)


def _as_array(data: Any, dtype: DType | None) -> Any:
    """The data as a NumPy array, of ``dtype`` where given, else of the dtype that it has as a tensor."""
    if isinstance(data, Tensor):
        array = data.numpy()
    elif isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
    else:
        array = _from_python(data, dtype is not None)
    if array.dtype.kind not in "biufc":
        raise DTypeError(
            f"to_tensor: data of {array.dtype} can't be held by a tensor: got {_shown(data)}; "
            "convert it to numbers of up to 64 bits first"
        )
    if dtype is not None:
        if array.dtype == dtype.np:
            return array
        require_fitting("to_tensor", array, dtype, wraps=True)
        if array.dtype.kind == "f" and dtype.is_integer:
            array = array.astype(np.int64)  # so that numbers below 0 wrap around on every processor
        return bfloat.converted(np, array, dtype)
    return array.astype(from_numpy(array.dtype).np, copy=False)


def _from_python(data: Any, converted: bool) -> Any:
    """Numbers and nested lists: floats in the default dtype, ints as int64; tensors in them keep theirs.

    ``converted`` means that they get another dtype anyway, so that nothing is lost before.
    """
    tensors = arrays = False
    if isinstance(data, (list, tuple)):
        leaves = list(_leaves(data))
        tensors = any(isinstance(v, Tensor) for v in leaves)
        arrays = any(isinstance(v, (np.ndarray, np.generic)) for v in leaves)
        if tensors:
            data = _untensored(data)
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(
            f"to_tensor: the nested lists are not of equal length, or no numbers: {error}; pad them"
        ) from None
    if tensors or converted:
        return array
    if array.dtype.kind == "f":
        return bfloat.converted(np, array, default_dtype())
    if array.dtype == np.complex128:
        return array.astype(np.complex128 if default_dtype().name == "float64" else np.complex64)
    return array.astype(np.int64) if array.dtype.kind == "i" and not arrays else array


def _shown(data: Any) -> str:
    text = repr(data)
    return f"{type(data).__name__} {text if len(text) < 60 else text[:60] + '...'}"


def _leaves(data: Any) -> Any:
    for value in data:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def _untensored(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_untensored(v) for v in data]
    return data.numpy() if isinstance(data, Tensor) else data


@names_results("assign", device="cpu")
def _static_constant(data: Any, dtype: Any) -> Any:
    data = known_operand(data)
    if modes.is_symbolic(data):
        return data if dtype is None else arithmetic.cast(data, out_dtype=as_dtype(dtype).name)
    if isinstance(data, (list, tuple)) and any(is_later(v) for v in _leaves(data)):
        return _stacked(data, dtype)
    array = _as_array(data, None if dtype is None else as_dtype(dtype))
    return ops.constant(
        shape=list(array.shape), values=array.reshape(-1).tolist(), dtype=from_numpy(array.dtype).name
    )


def _stacked(data: Any, dtype: Any) -> Any:
    """Nested lists in which there are Variables."""
    if not isinstance(data, (list, tuple)):
        return _static_constant(data, dtype)
    parts = [_stacked(v, dtype) for v in data]
    kind = parts[0].dtype
    for part in parts[1:]:
        kind = common_dtype(kind, part.dtype)
    return ops.stack(
        [p if p.dtype is kind else arithmetic.cast(p, out_dtype=kind.name) for p in parts], axis=0
    )


def _name(dtype: Any) -> str:
    return default_dtype().name if dtype is None else as_dtype(dtype).name


@names_results("fill_constant", skip=1)
def full(
    shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """A tensor of one value, of the default dtype unless given."""
    fill_value = known_operand(fill_value)
    kind = _name(dtype)
    if isinstance(fill_value, Tensor) and not modes.is_static():
        fill_value = fill_value.item()
    if isinstance(fill_value, (Tensor,)) or modes.is_symbolic(fill_value):
        value = ops.reshape(arithmetic.cast(fill_value, out_dtype=kind), shape=[])
        return arithmetic.add(creation.fill(value=0.0, dtype=kind, **dimensions("full", shape)), value)
    if isinstance(fill_value, str) or fill_value is None:
        fill_value = float(fill_value)
    require_fitting("full", np.asarray(fill_value), as_dtype(kind))
    return creation.fill(value=fill_value, dtype=kind, **dimensions("full", shape))


@takes_name
def fill_constant(
    shape: ShapeLike,
    dtype: DTypeLike,
    value: TensorLike,
    force_cpu: bool = False,
    out: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """A tensor of one value, written into ``out`` where given (``paddle.tensor.fill_constant``)."""
    made = full(shape, value, dtype)
    if out is None:
        return made
    return replace("fill_constant", out, made)


def create_tensor(dtype: DTypeLike, name: str | None = None, persistable: bool = False) -> Any:
    """A tensor without elements, to be given a value by ``assign(x, output)`` of its shape later."""
    made = creation.fill(shape=[0], value=0.0, dtype=as_dtype(dtype).name)
    if name is not None:
        made.name = name
    made.persistable = persistable
    return made


@names_results("fill_constant", skip=1)
def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Zeros, of the default dtype unless given."""
    return creation.fill(value=0.0, dtype=_name(dtype), **dimensions("zeros", shape))


@names_results("fill_constant", skip=1)
def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Ones, of the default dtype unless given."""
    return creation.fill(value=1.0, dtype=_name(dtype), **dimensions("ones", shape))


@takes_name
def empty(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A tensor whose values the caller will set; they are zeros, so that no run depends on old memory."""
    return zeros(whole_sizes(shape), dtype)


@takes_name
def full_like(
    x: AnyTensor, fill_value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """A tensor of one value in the shape (and dtype, unless given) of x."""
    kind = None if dtype is None else as_dtype(dtype).name
    fill_value = known_operand(fill_value)
    if isinstance(fill_value, Tensor) and not modes.is_static():
        fill_value = fill_value.item()
    if isinstance(fill_value, Tensor) or modes.is_symbolic(fill_value):
        zero = creation.fill_like(x, value=0.0, dtype=kind)
        return arithmetic.add(
            zero, ops.reshape(arithmetic.cast(fill_value, out_dtype=zero.dtype.name), shape=[])
        )
    made = x.dtype if kind is None else as_dtype(kind)
    if made.is_integer:
        require_fitting("full_like", np.asarray(fill_value), made)
    with no_grad():  # it does not depend on the values of x
        return creation.fill_like(x, value=fill_value, dtype=kind)


@takes_name
def zeros_like(x: AnyTensor, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Zeros in the shape (and dtype, unless given) of x."""
    return full_like(x, 0.0, dtype)


@takes_name
def ones_like(x: AnyTensor, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Ones in the shape (and dtype, unless given) of x."""
    return full_like(x, 1.0, dtype)


@takes_name
def empty_like(x: AnyTensor, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Like ``empty`` in the shape (and dtype, unless given) of x."""
    return zeros_like(x, dtype)


def _as_tensor(value: Any) -> Any:
    return value if modes.is_symbolic(value) else to_tensor(value)


def _is_integer(value: Any) -> bool:
    value = known_operand(value)
    if isinstance(value, Tensor) or modes.is_symbolic(value):
        return bool(value.dtype.is_integer)
    return isinstance(value, (int, np.integer))


@takes_name
def arange(
    start: NumberLike = 0,
    end: NumberLike | None = None,
    step: NumberLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Values from start, below end; int64 where all three are integers, else the default dtype.

    An integer ``dtype`` cuts off the fractions of all three. Arrays count as floating, as in Paddle. Differs
    from Paddle: empty if start is beyond end.
    """
    if end is None:
        start, end = 0, start
    if dtype is None:
        dtype = "int64" if all(map(_is_integer, (start, end, step))) else default_dtype()
    values = [number_of(v) for v in (start, end, step)]
    if any(modes.is_symbolic(v) for v in values):
        return dynamic_shape.range_of(*map(_as_tensor, values), dtype=_name(dtype))
    values = _in_kind(values, dtype)
    if values[2] == 0:
        raise ArgumentError("arange: step is 0, so the end is never reached; use another step")
    return creation.arange(start=values[0], end=values[1], step=values[2], dtype=_name(dtype))


def _in_kind(values: list[Any], dtype: DTypeLike | None) -> list[Any]:
    """Numbers of a range as the kernels get them: without fractions where the range has integers."""
    if not as_dtype(_name(dtype)).is_integer:
        return values
    return [int(v) if isinstance(v, (float, np.floating)) and np.isfinite(v) else v for v in values]


@names_results("linspace", outer=True)
def linspace(
    start: NumberLike,
    stop: NumberLike,
    num: IntegerLike | float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """``num`` evenly spaced values from start to stop, both included.

    ``num`` loses its fraction; so do start and stop for an integer ``dtype``.
    """
    num = int(num) if isinstance(num, float) else num
    first, last, count = number_of(start), number_of(stop), whole("linspace", num)
    if any(map(modes.is_symbolic, (first, last, count))):
        return dynamic_shape.linspace_of(*map(_as_tensor, (first, last, count)), dtype=_name(dtype))
    if count < 1:
        raise ArgumentError(f"linspace: num must be at least 1: got {count}")
    first, last = _in_kind([first, last], dtype)
    return fitting_tensor(np.linspace(first, last, count), as_dtype(_name(dtype)))


@takes_name
def logspace(
    start: NumberLike,
    stop: NumberLike,
    num: IntegerLike,
    base: NumberLike = 10.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """``num`` values from base ** start to base ** stop, both included, with evenly spaced logarithms.

    An integer ``dtype`` cuts off the fractions of start, stop and base first.
    """
    first, last, count, root = number_of(start), number_of(stop), whole("logspace", num), number_of(base)
    if any(map(modes.is_symbolic, (first, last, count, root))):
        exponents = dynamic_shape.linspace_of(*map(_as_tensor, (first, last, count)), dtype="float64")
        powers = power.power(arithmetic.cast(_as_tensor(root), out_dtype="float64"), exponents)
        return arithmetic.cast(powers, out_dtype=_name(dtype))
    if count < 1:
        raise ArgumentError(f"logspace: num must be at least 1: got {count}")
    first, last, root = _in_kind([first, last, root], dtype)
    return fitting_tensor(np.logspace(first, last, count, base=root), as_dtype(_name(dtype)))


def _whole_or_later(size: Any) -> Any:
    """A number of rows or columns; only one that a Program computes may be floating."""
    if size.__class__ is int:
        return size
    return whole_part("eye", size) if is_later(size) else whole("eye", size)


@names_results("eye", outer=True)
def eye(
    num_rows: int, num_columns: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    rows = _whole_or_later(num_rows)
    columns = rows if num_columns is None else _whole_or_later(num_columns)
    if is_later(rows) or is_later(columns):
        across, down = arange(columns), arange(rows)
        same = comparison.equal(ops.unsqueeze(down, axes=[1]), ops.unsqueeze(across, axes=[0]))
        return arithmetic.cast(same, out_dtype=_name(dtype))
    if rows < 0 or columns < 0:
        raise DTypeError(f"eye: num_rows and num_columns are non-negative ints: got {rows} and {columns}")
    return to_tensor(bfloat.converted(np, np.eye(rows, columns), as_dtype(_name(dtype))))


@names_results("assign", outer=True)
def assign(x: TensorLike, output: AnyTensor | None = None) -> Any:
    """A copy of x (a tensor, array, list or number), written into ``output`` where given.

    ``output`` takes the shape and dtype of x; only a parameter or other state of a Program keeps its own.
    Numbers become a tensor of shape [1]; arrays of float64 that of float32, as in Paddle.
    """
    value = x
    if isinstance(x, (bool, int, float, complex, np.generic)):
        value = to_tensor([x])
    elif isinstance(x, np.ndarray):
        value = to_tensor(x, dtype="float32" if x.dtype == np.float64 else None)
    elif not isinstance(x, Tensor) and not modes.is_symbolic(x):
        value = to_tensor(x)
    if value is not x and output is None and modes.is_symbolic(value):
        return value  # made for this call
    copied = ops.assign(value)
    if output is None:
        return copied
    return replace("assign", output, copied, becomes="shape and dtype")


_CLONE = Naming(form="{x}_clone")


def clone(x: AnyTensor, name: str | None = None) -> Any:
    """A copy of x that gradients flow through."""
    if starts(_CLONE):
        return called(_CLONE, name, clone, x)
    return ops.assign(x)
