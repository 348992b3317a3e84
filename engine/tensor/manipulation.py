"""Shapes: reshaping, joining, splitting, expanding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from engine.core.operators.infer import broadcast_shapes, normal_axis
from engine.core.values.dtype import common_dtype
from engine.ops.arrays import dynamic_shape
from engine.ops.arrays import shape as ops
from engine.ops.elementwise import arithmetic
from engine.program.build.calls import called, named, names_results, starts
from engine.program.graph.unknown import Unknown, known_operand
from engine.program.text.naming import Naming
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import integers, is_later, items, split_later, whole
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.creation import to_tensor
from engine.tensor.elements.cutting import cut_later
from engine.tensor.tensor_like import AnyTensor, IntegerLike, IntegersLike, ShapeLike


def reshape(x: AnyTensor, shape: ShapeLike, name: str | None = None) -> Any:
    """The same elements in another shape: 0 keeps a dimension, one -1 takes the rest."""
    if name:
        return named(name, reshape, x, shape)
    if isinstance(shape, (list, tuple)):
        for d in shape:
            if d.__class__ is not int or d < -1:
                break
        else:
            return ops.reshape(x, shape=list(shape))
    wanted = items("reshape", shape)
    # A dimension of x that is not known yet stays where it is.
    same = [isinstance(d, Unknown) and d.variable is x and d.axis == n for n, d in enumerate(wanted)]
    wanted = [0 if keep else d for keep, d in zip(same, wanted, strict=True)]
    later = [n for n, d in enumerate(wanted) if is_later(d)]
    sizes = [-1 if is_later(d) else whole("reshape", d) for d in wanted]
    if min(sizes, default=0) < -1:
        raise ShapeError(f"reshape: {min(sizes)} in {sizes} is not a dimension; use -1 once for the rest")
    if not later or (len(later) == 1 and sizes.count(-1) == 1 and isinstance(wanted[later[0]], Unknown)):
        return ops.reshape(x, shape=sizes)
    dims = [known_operand(wanted[n]) for n in later]
    return dynamic_shape.reshape(x, dims, shape=sizes, places=later)


def flatten(x: AnyTensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """Dimensions start_axis to stop_axis as one."""
    if name:
        return named(name, flatten, x, start_axis, stop_axis)
    return ops.flatten(x, start_axis=start_axis, stop_axis=stop_axis)


def transpose(x: AnyTensor, perm: IntegersLike, name: str | None = None) -> Any:
    """Dimensions in the order ``perm``. Raises ArgumentError unless it is a list that names each once."""
    if name:
        return named(name, transpose, x, perm)
    if isinstance(perm, int):
        raise ArgumentError(
            f"transpose: perm is a list that names every dimension once: got {perm}; for [1, 0, 2] write "
            "transpose([1, 0, 2])"
        ).set_kind("InvalidArgument")
    return ops.transpose(x, axis=integers("transpose", perm))


_T = Naming("t")


def t(input: AnyTensor, name: str | None = None) -> Any:
    """A matrix transposed; tensors of fewer dimensions as they are. Raises ShapeError for more than 2."""
    if starts(_T):
        return called(_T, name, t, input)
    if input.ndim > 2:
        raise ShapeError(f"t: takes at most 2 dimensions: got {list(input.shape)}; use transpose(x, perm)")
    return input if input.ndim < 2 else ops.transpose(input, axis=[1, 0])


def squeeze(x: AnyTensor, axis: IntegersLike | None = None, name: str | None = None) -> Any:
    """Without dimensions of size 1 (those of ``axis`` only, where given)."""
    if name:
        return named(name, squeeze, x, axis)
    return ops.squeeze(x, axes=[] if axis is None else integers("squeeze", axis))


def unsqueeze(x: AnyTensor, axis: IntegersLike, name: str | None = None) -> Any:
    """With dimensions of size 1 put in at ``axis``."""
    if name:
        return named(name, unsqueeze, x, axis)
    return ops.unsqueeze(x, axes=integers("unsqueeze", axis))


def moveaxis(x: AnyTensor, source: IntegersLike, destination: IntegersLike, name: str | None = None) -> Any:
    """The dimensions ``source`` moved to ``destination``, the others in their order."""
    if name:
        return named(name, moveaxis, x, source, destination)
    places = [
        [normal_axis("moveaxis", a, x.ndim) for a in integers("moveaxis", axes)]
        for axes in (source, destination)
    ]
    if len(places[0]) != len(places[1]) or any(len(set(p)) != len(p) for p in places):
        raise ArgumentError(
            f"moveaxis: source {source} and destination {destination} name equally many dimensions, each once"
        )
    order = [n for n in range(x.ndim) if n not in places[0]]
    for target, axis in sorted(zip(places[1], places[0], strict=True)):
        order.insert(target, axis)
    return ops.transpose(x, axis=order)


def unflatten(x: AnyTensor, axis: int, shape: ShapeLike, name: str | None = None) -> Any:
    """One dimension split into several; one of ``shape`` may be -1."""
    if name:
        return named(name, unflatten, x, axis, shape)
    axis = normal_axis("unflatten", whole("unflatten", axis), x.ndim)
    before, after = list(x.shape[:axis]), list(x.shape[axis + 1 :])
    return reshape(x, [*before, *items("unflatten", shape), *after])


def concat(x: Sequence[AnyTensor] | TensorArray, axis: IntegerLike = 0, name: str | None = None) -> Any:
    """Tensors joined along an existing dimension; different dtypes are promoted."""
    if name:
        return named(name, concat, x, axis)
    if isinstance(x, TensorArray):
        return x.concatenated(whole("concat", axis))
    if not isinstance(x, (list, tuple)):
        raise DTypeError(f"concat: takes a list of tensors: got {type(x).__name__}; write [x, y]")
    tensors = list(x)
    if tensors:
        dtype = tensors[0].dtype
        for tensor in tensors[1:]:
            dtype = common_dtype(dtype, tensor.dtype)
        tensors = [v if v.dtype is dtype else arithmetic.cast(v, out_dtype=dtype.name) for v in tensors]
    return ops.concat(tensors, axis=whole("concat", axis))


def stack(x: Sequence[AnyTensor] | AnyTensor | TensorArray, axis: int = 0, name: str | None = None) -> Any:
    """Tensors of one shape joined along a new dimension."""
    if name:
        return named(name, stack, x, axis)
    if isinstance(x, TensorArray):
        return x.stacked(axis)
    return ops.stack([x] if is_tensor(x) else list(x), axis=whole("stack", axis))


@names_results("unbind")
def unbind(input: AnyTensor, axis: int = 0) -> Any:
    """The parts along a dimension, which is dropped; a tensor array where that dimension is not known yet."""
    if input.ndim == 0:
        raise ShapeError("unbind: a 0-D tensor has no parts; it holds one number")
    axis = whole("unbind", axis)
    if is_later(input.shape[normal_axis("unbind", axis, input.ndim)]):
        return TensorArray(None, (moveaxis(input, axis, 0),))
    return list(ops.unstack(input, axis=axis % input.ndim, num=input.shape[axis]))


@names_results("unstack", outer=True)
def unstack(x: AnyTensor, axis: int = 0, num: int | None = None) -> Any:
    """The parts along a dimension, which is dropped; ``num`` is their number if that is not known."""
    if num is not None and x.ndim and x.shape[normal_axis("unstack", axis, x.ndim)] not in (num, -1):
        raise ArgumentError(f"unstack: num is {num}: dimension {axis} of {list(x.shape)} has another size")
    if num is not None and x.ndim and x.shape[axis] == -1:
        return list(ops.unstack(x, axis=axis % x.ndim, num=whole("unstack", num)))
    return unbind(x, axis)


def split(
    x: AnyTensor, num_or_sections: IntegersLike, axis: IntegerLike = 0, name: str | None = None
) -> list[Any]:
    """Cut into equal parts (an int) or parts of given lengths (one may be -1)."""
    if name:
        return named(name, split, x, num_or_sections, axis)
    along = whole("split", axis)
    if is_tensor(num_or_sections) and num_or_sections.size != 1 and not is_later(num_or_sections):
        raise ArgumentTypeError(
            f"split: num_or_sections is an integer or a list: got a tensor of shape "
            f"{list(num_or_sections.shape)}; use tolist()"
        )
    parts: Any = whole("split", num_or_sections) if is_tensor(num_or_sections) else num_or_sections
    if modes.is_symbolic(along) and isinstance(parts, int):
        return list(ops.split(x, axis=along, sections=parts))
    if _is_split_later(x, along, parts):
        return cut_later(x, along, parts)
    if isinstance(parts, int):
        size = x.shape[along]
        if parts < 1 or size % parts:
            raise ArgumentError(
                f"split: dimension {along} of {list(x.shape)} does not divide into {parts} equal parts"
            )
        sections = [size // parts] * parts
    else:
        sections = integers("split", parts)
        if sections.count(-1) == 1:
            size = x.shape[along]
            rest = sections.index(-1)
            sections[rest] = size - sum(s for n, s in enumerate(sections) if n != rest)
        if any(s < 0 for s in sections):
            raise ArgumentError(
                f"split: sections {parts} of dimension {along} of {list(x.shape)}; one may be -1, the "
                "others add up to at most its size"
            )
    return list(ops.split(x, axis=along, sections=sections))


def _is_split_later(x: Any, axis: int, num_or_sections: Any) -> bool:
    if not isinstance(num_or_sections, (list, tuple)):
        return isinstance(num_or_sections, int) and is_later(x.shape[normal_axis("split", axis, x.ndim)])
    if any(is_later(length) for length in num_or_sections):
        return True
    return -1 in num_or_sections and is_later(x.shape[normal_axis("split", axis, x.ndim)])


def vsplit(x: AnyTensor, num_or_sections: IntegersLike, name: str | None = None) -> list[Any]:
    """Cut along the first dimension. Raises ShapeError for less than 2 dimensions."""
    if name:
        return named(name, vsplit, x, num_or_sections)
    if x.ndim < 2:
        raise ShapeError(f"vsplit: x must have at least 2 dimensions: got {list(x.shape)}; use split(x, n)")
    return split(x, num_or_sections, 0)


def chunk(x: AnyTensor, chunks: int, axis: IntegerLike = 0, name: str | None = None) -> list[Any]:
    """Cut into ``chunks`` equal parts."""
    if name:
        return named(name, chunk, x, chunks, axis)
    return split(x, chunks, axis)


def expand(x: AnyTensor, shape: ShapeLike, name: str | None = None) -> Any:
    """Repeated along dimensions of size 1, to ``shape`` (-1 keeps one)."""
    if name:
        return named(name, expand, x, shape)
    wanted = items("expand", shape)
    known = True
    for d in wanted:
        if d.__class__ is not int:
            known = False
        elif d < 1 and d != -1:
            _require_dimensions(x, wanted)
    return ops.expand(x, shape=wanted) if known else _expanded(x, wanted)


def _expanded(x: Any, wanted: list[Any]) -> Any:
    extra = len(wanted) - x.ndim
    same = [isinstance(d, Unknown) and d.variable is x and d.axis == n - extra for n, d in enumerate(wanted)]
    wanted = [-1 if keep else d for keep, d in zip(same, wanted, strict=True)]
    later = [n for n, d in enumerate(wanted) if is_later(d)]
    sizes = [-1 if n in later else whole("expand", d) for n, d in enumerate(wanted)]
    if not later:
        return ops.expand(x, shape=sizes)
    return dynamic_shape.expand(x, [known_operand(wanted[n]) for n in later], shape=sizes, places=later)


broadcast_to = expand


def _require_dimensions(x: Any, sizes: list[Any]) -> None:
    """Raise ShapeError for a size below -1, or a 0 that would remove elements of x."""
    have = [1] * (len(sizes) - x.ndim) + list(x.shape)
    if len(have) == len(sizes) and any(
        not is_later(size) and (size < -1 or (size == 0 and d != 0))
        for size, d in zip(sizes, have, strict=True)
    ):
        raise ShapeError(
            f"expand: {list(x.shape)} can't become {sizes}; sizes are 1 or more, and -1 keeps a dimension"
        )


_EXPAND_AS = Naming("expand_as")


def expand_as(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """x expanded to the shape of y."""
    if starts(_EXPAND_AS):
        return called(_EXPAND_AS, name, expand_as, x, y)
    return _expanded(x, list(y.shape))


def broadcast_tensors(input: Sequence[AnyTensor], name: str | None = None) -> list[Any]:
    """Each tensor expanded to the shape that all broadcast to."""
    if name:
        return named(name, broadcast_tensors, input)
    tensors = list(input)
    if not tensors:
        raise ArgumentError("broadcast_tensors: got no tensors; pass at least one")
    made: list[Any] = []
    for tensor in tensors:
        shape = tensor.shape
        made = list(shape) if not made else _joined(made, list(shape))
    return [_expanded(tensor, made) for tensor in tensors]


def _joined(x: list[Any], y: list[Any]) -> list[Any]:
    """The broadcast of two shapes, in which unknown sizes keep their Variables."""
    broadcast_shapes("broadcast_tensors", x, y)
    size = max(len(x), len(y))
    x, y = ([1] * (size - len(s)) + s for s in (x, y))
    return [
        b if a == 1 or (is_later(a) and not is_later(b) and b != 1) else a for a, b in zip(x, y, strict=True)
    ]


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that two shapes broadcast to."""
    return list(broadcast_shapes("broadcast_shape", x_shape, y_shape))


def tile(x: AnyTensor, repeat_times: IntegersLike | ShapeLike, name: str | None = None) -> Any:
    """Repeated whole along each dimension."""
    if name:
        return named(name, tile, x, repeat_times)
    times, later = split_later("tile", repeat_times)
    absent = len(later)  # those have -1 here
    for n in times:
        if n < 1:
            absent -= 1
    if absent < 0:
        raise ArgumentError(f"tile: repeat_times are 1 or more: got {times}; omit what is not repeated")
    return dynamic_shape.tile(x, later, repeat_times=times) if later else ops.tile(x, repeat_times=times)


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """The tensors, those of no dimension with one of size 1: a list, or one tensor where one was given."""
    if name:
        return named(name, atleast_1d, *inputs)
    return _atleast("atleast_1d", inputs, 1, (0,))


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """The tensors with at least 2 dimensions, those of one becoming a row."""
    if name:
        return named(name, atleast_2d, *inputs)
    return _atleast("atleast_2d", inputs, 2, (0, 0))


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """The tensors with at least 3 dimensions, a vector becoming [1, n, 1] and a matrix [m, n, 1]."""
    if name:
        return named(name, atleast_3d, *inputs)
    return _atleast("atleast_3d", inputs, 3, (0, 0, -1))


def _atleast(where: str, inputs: tuple[Any, ...], ndim: int, places: tuple[int, ...]) -> Any:
    made = []
    for value in inputs:
        tensor = value if is_tensor(value) else to_tensor(value)
        axes = places[tensor.ndim :] if tensor.ndim < ndim else ()
        made.append(ops.unsqueeze(tensor, axes=list(axes)) if axes else tensor)
    if not made:
        raise ArgumentError(f"{where}: got no tensors; pass at least one")
    return made[0] if len(made) == 1 else made


def shape(input: AnyTensor) -> Any:
    """The dimensions as an int32 tensor (known at run time also where a Program does not know them)."""
    return ops.shape(input)


def rank(input: AnyTensor) -> Any:
    """The number of dimensions, as a 0-D int32 tensor."""
    return to_tensor(input.ndim, dtype="int32")


def numel(x: AnyTensor, name: str | None = None) -> Any:
    """Number of elements, as a 0-D int64 tensor."""
    if name:
        return named(name, numel, x)
    size = x.size
    return size.value() if isinstance(size, Unknown) else to_tensor(size)


def tolist(x: AnyTensor) -> Any:
    """The elements as (nested) lists of Python numbers; a number for no dimensions."""
    return x.tolist()
