"""TensorArray: a list whose length only the running Program knows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from engine.core.containers import nest
from engine.core.errors import ConversionError, DTypeError, ElementError, OutOfRangeError, ShapeError
from engine.core.frames import located, user_frame
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import tensor_array as ops
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.creation import fitting_tensor, to_tensor
from engine.tensor.elements import indexing
from engine.tensor.tensor_like import IntegerLike


class Watch:
    """The arrays that code created and changed while it ran."""

    def __init__(self) -> None:
        self.born: list[TensorArray] = []
        self._before: dict[int, tuple[TensorArray, Any, tuple[Any, ...]]] = {}

    def note(self, array: TensorArray) -> None:
        """Store the elements of an array before its first change."""
        if id(array) not in self._before:
            self._before[id(array)] = (array, array.structure, tuple(array.leaves()))

    def changed(self) -> list[TensorArray]:
        """The arrays from before that hold other elements now."""
        own = {id(array) for array in self.born}
        found = [(array, leaves) for array, _, leaves in self._before.values() if id(array) not in own]
        return [array for array, leaves in found if tuple(map(id, leaves)) != tuple(map(id, array.leaves()))]

    def put_back(self) -> None:
        """Restore their former elements."""
        for array, structure, leaves in self._before.values():
            array._stacked, array._structure = leaves, structure  # no change to those who watch around


_watch: ContextVar[Watch | None] = ContextVar("arrays_watched", default=None)


@contextmanager
def watching() -> Iterator[Watch]:
    """Record the arrays that are created and changed within the block."""
    watch = Watch()
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


class TensorArray:
    """Tensors of one shape and dtype, or equal structures of such Tensors, in a Program.

    It is used like a list: ``append``, ``extend``, ``insert``, ``pop``, ``array[i]``, ``array[i] = x``,
    ``array[a:b]``, ``+``, ``del array[i]``. Its length is a Variable: ``length()``, which ``len()`` becomes
    in converted code. ``stack`` and ``concat`` take it in place of a list.
    """

    # One Variable a leaf of an element, with the elements along its first dimension.
    def __init__(self, structure: object, stacked: Sequence[Any]) -> None:
        self._structure = nest.map_structure(lambda _: None, structure)
        self._stacked = tuple(stacked)
        watch = _watch.get()
        if watch is not None:
            watch.born.append(self)

    @classmethod
    def of(cls, items: Sequence[Any], like: object) -> TensorArray:
        """An array that holds ``items``, for elements like ``like``.

        Raises ShapeError where they have no common structure, shape and dtype.
        """
        for n, item in enumerate(items):
            if not nest.same_structure(item, like):
                raise ShapeError(
                    f"a list of tensors: element {n} is {nest.describe(item)}, another is "
                    f"{nest.describe(like)}; in a list that grows in a Program all have one structure"
                )
        columns = zip(*(nest.flatten(item) for item in items), strict=True) if items else None
        samples = nest.flatten(like)
        for sample in samples:
            if not is_tensor(sample) and not isinstance(sample, bool | int | float):
                raise ShapeError(
                    f"a list of tensors: an element has {type(sample).__name__} in it; in a list that grows "
                    "in a Program there are Tensors and numbers"
                )
        if columns is None:
            made = [_empty(sample) for sample in samples]
        else:
            made = [_stack(column, sample) for column, sample in zip(columns, samples, strict=True)]
        for stacked in made:
            stacked.grows = True  # a loop that carries it through does not count on its length
        return cls(like, made)

    def leaves(self) -> list[Any]:
        """One Variable for every Tensor of an element, the elements along its first dimension."""
        return list(self._stacked)

    def with_leaves(self, leaves: Sequence[Any]) -> TensorArray:
        """An array of the same structure."""
        return TensorArray(self._structure, leaves)

    def elements(self, stacked: Sequence[Any]) -> list[Any]:
        """The list of the array, of the values of its leaves when the Program has run."""
        count = len(stacked[0])
        return [nest.pack(self._structure, [values[n] for values in stacked]) for n in range(count)]

    def length(self) -> Any:
        """The number of elements, an int64 Variable (an int where it is known)."""
        if not self._stacked:
            return 0
        stacked = self._stacked[0]
        if stacked.shape[0] >= 0:
            return stacked.shape[0]
        return _int64(shape.shape(stacked))

    @property
    def structure(self) -> Any:
        """How an element nests, with None for its Tensors."""
        return self._structure

    def element_specs(self) -> list[Spec]:
        """Shape and dtype of the Tensors of an element."""
        return [stacked.spec.with_shape(stacked.spec.shape[1:]) for stacked in self._stacked]

    def become(self, leaves: Sequence[Any], structure: object = ...) -> None:
        """Hold other elements from here on: leaves as `leaves()` gives them."""
        watch = _watch.get()
        if watch is not None:
            watch.note(self)
        self._stacked = tuple(leaves)
        if structure is not ...:
            self._structure = structure

    def begin(self, like: object) -> None:
        """Take the structure of the first element, if the array has none yet."""
        if not self._stacked:
            made = TensorArray.of([], like)
            self.become(made._stacked, made._structure)

    def begin_with(self, structure: object, specs: Sequence[Spec]) -> None:
        """Take a structure, and Tensors of these shapes and dtypes, for elements to come."""
        made = [_empty(spec) for spec in specs]
        for stacked in made:
            stacked.grows = True
        self.become(made, structure)

    def append(self, element: object) -> None:
        """Add an element of the same structure at the end."""
        self.begin(element)
        self.become(self._each(ops.array_append, element))

    def extend(self, elements: Iterable[Any] | TensorArray) -> None:
        """Add elements at the end: a list, or another array."""
        if isinstance(elements, TensorArray):
            pairs = zip(self._stacked, elements._stacked, strict=True)
            self.become([shape.concat(list(pair), axis=0) for pair in pairs])
            return
        for element in elements:
            self.append(element)

    def insert(self, index: IntegerLike, element: object) -> None:
        """Put an element before the one at ``index``, as a list does."""
        rest = self[index:]
        self.become(self[:index]._stacked)
        self.append(element)
        self.extend(rest)

    def pop(self, index: IntegerLike = -1) -> Any:
        """Take the element at ``index`` away."""
        taken = self[index]
        del self[index]
        return taken

    def clear(self) -> None:
        """Take all elements away."""
        self.become(self[:0]._stacked)

    def reverse(self) -> None:
        """Turn the order of the elements round."""
        self.become(self[::-1]._stacked)

    def write(self, i: IntegerLike, element: object) -> None:
        """Put an element at position ``i``, which may be one past the end."""
        self.become(self._each(lambda stacked, x: ops.write_to_array(stacked, x, _position(i)), element))

    def stacked(self, axis: int = 0) -> Any:
        """All elements in one Tensor, along a new dimension."""
        stacked = self._single("stack")
        axis = _axis("stack", axis, stacked.ndim)
        order = list(range(1, stacked.ndim))
        return shape.transpose(stacked, axis=[*order[:axis], 0, *order[axis:]]) if axis else stacked

    def concatenated(self, axis: int = 0) -> Any:
        """All elements in one Tensor, one after another along a dimension of theirs."""
        axis = _axis("concat", axis, self._single("concat").ndim - 1)
        return shape.flatten(self.stacked(axis), start_axis=axis, stop_axis=axis + 1)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.with_leaves([indexing.getitem(stacked, index) for stacked in self._stacked])
        if not self._stacked:
            raise self._refused(
                "an element is read before one was written", "write it first, or give create_array a list"
            )
        return nest.pack(self._structure, [_element(stacked, index) for stacked in self._stacked])

    def __setitem__(self, index: Any, element: Any) -> None:
        plain, tensors = _plain(index)
        self.become(
            self._each(lambda stacked, x: index_ops.setitem(stacked, x, tensors, index=plain), element)
        )

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            raise self._refused("del of a slice", "keep the rest: items = items[n:]")
        ends = isinstance(index, int) and index in (-1, 0)
        if ends:
            self.become((self[:-1] if index else self[1:])._stacked)
            return
        rest = self[index + 1 :]
        self.become(self[:index]._stacked)
        self.extend(rest)

    def __add__(self, other: Any) -> TensorArray:
        made = self.with_leaves(self._stacked)
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> TensorArray:
        first = self[0] if not other else other[0]
        made = TensorArray.of(list(other), first)
        made.extend(self)
        return made

    def __iadd__(self, other: Any) -> TensorArray:
        self.extend(other)
        return self

    def copy(self) -> TensorArray:
        """Another array with the same elements."""
        return self.with_leaves(self._stacked)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorArray:
        return self.with_leaves([copy.deepcopy(stacked, memo) for stacked in self._stacked])

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(list, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise self._refused(f"{name}()", "append, insert, pop, index or slice it, or stack it into a Tensor")

    def __len__(self) -> NoReturn:
        raise self._refused("len()", "ask for its length in code that to_static converts")

    def __bool__(self) -> NoReturn:
        raise self._refused("its truth value", "compare its len() in code that to_static converts")

    def __iter__(self) -> NoReturn:
        raise self._refused("iteration", "write a for loop in code that to_static converts, or index it")

    def __repr__(self) -> str:
        return f"TensorArray({', '.join(str(stacked.spec) for stacked in self._stacked)})"

    def _each(self, function: Any, element: Any) -> tuple[Any, ...]:
        if not nest.same_structure(element, self._structure):
            raise located(
                ElementError(
                    f"a list of tensors: it holds {nest.describe(self._structure)}, this is "
                    f"{nest.describe(element)}; its elements have one structure"
                ),
                user_frame(),
            )
        parts = zip(self._stacked, nest.flatten(element), strict=True)
        try:
            return tuple(function(stacked, _leaf(x, stacked)) for stacked, x in parts)
        except (ShapeError, DTypeError) as error:
            raise located(ElementError(error.message), user_frame()) from None

    def _single(self, what: str) -> Any:
        if len(self._stacked) != 1:
            raise self._refused(f"{what} of elements of several tensors", "keep a list for each of them")
        return self._stacked[0]

    def _refused(self, what: str, remedy: str) -> Exception:
        message = f"a list of tensors whose length is known only when the Program runs: {what}; {remedy}"
        return located(ConversionError(message), user_frame())


def _leaf(value: Any, stacked: Any) -> Any:
    return fitting_tensor(value, stacked.dtype) if isinstance(value, bool | int | float) else value


def _empty(like: Any) -> Any:
    like = _number(like)
    dims = [1 if size < 0 else size for size in like.shape]
    return creation.fill(shape=[0, *dims], value=0, dtype=like.dtype.name)


def _stack(column: Sequence[Any], like: Any) -> Any:
    column = [_number(value) for value in column]
    like = _number(like)
    for value in column:
        if value.dtype is not like.dtype or value.ndim != like.ndim:
            raise ShapeError(
                f"a list of tensors: {value.spec} and {like.spec} in one; in a list that grows in a Program "
                "all have one shape and dtype"
            )
    return shape.stack(column, axis=0)


def _number(value: Any) -> Any:
    return to_tensor(value) if isinstance(value, bool | int | float) else value


def _int64(value: Any) -> Any:
    from engine.ops.elementwise import arithmetic

    first = index_ops.slice_view(value, index=(0,))
    return first if first.dtype.name == "int64" else arithmetic.cast(first, out_dtype="int64")


def _position(i: Any) -> Any:
    return to_tensor(i, dtype="int64") if isinstance(i, int) else i


def _plain(index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    if isinstance(index, int):
        return (index,), []
    return (("tensor", 0),), [shape.reshape(index, shape=[]) if index.ndim else index]


def _element(stacked: Any, index: Any) -> Any:
    plain, tensors = _plain(index)
    if tensors:
        return index_ops.getitem(stacked, tensors, index=plain)
    return index_ops.slice_view(stacked, index=plain)


def _axis(where: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise OutOfRangeError(f"{where}: axis {axis} is out of range; use {-ndim} to {ndim - 1}")
    return axis + ndim if axis < 0 else axis
