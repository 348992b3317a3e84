"""The eager Tensor: an array, a version counter shared with its views, and an edge into the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from engine.core import mode as modes
from engine.core import names
from engine.core.attached import Attached
from engine.core.delegate import delegate
from engine.core.errors import (
    ArgumentError,
    ConditionError,
    DTypeError,
    GradientError,
    OutOfRangeError,
    ShapeError,
    UnreadyError,
)
from engine.core.operators.operator import Counter, Leaf, Operator, lock_of
from engine.core.place import (
    Array,
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Place,
    array_module,
    fetched,
    is_cupy,
    is_pinned,
    is_writable,
)
from engine.core.values.bfloat import adopt, converted, plain
from engine.core.values.dtype import DType, bfloat16, from_numpy

if TYPE_CHECKING:
    from engine.autodiff.edges import Edge
    from engine.autodiff.tape import Retained

# What a Tensor is made of: an array, a number, nested lists of numbers.
Numbers: TypeAlias = Array | np.generic | complex | Sequence[Any]

new = object.__new__


@delegate("engine.eager.backward")
def gradient_of(tensor: Tensor) -> Tensor | None:
    """The value of ``tensor.grad``."""
    raise NotImplementedError


@delegate("engine.eager.backward")
def backward(
    tensors: Sequence[Any], grads: Sequence[Any | None] | None = None, retain_graph: bool = False
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of every leaf they depend on."""
    raise NotImplementedError


class Tensor(Attached):
    """A value that is computed immediately.

    ``stop_gradient`` is False where operators on it are recorded for ``backward``. The other methods and the
    Python operators are functions of ``engine.tensor``; the method table of that room attaches them.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_edge",
        "_name",
        "_parked",
        "_persistable",
        "_retained",
        "_version",
    )

    _symbolic = False
    _array: Any  # numpy.ndarray or cupy.ndarray; CuPy may be absent, so what they give has no types
    _version: Counter | None  # None until a view or a change in place needs it
    _edge: Edge | None  # where the gradient flows: None where stop_gradient is True
    _parked: Leaf  # unset until stop_gradient=True is set on a leaf
    _retained: Retained  # unset until retain_grads() is called on the result of an operator
    _name: str  # unset until it is read
    _persistable: bool  # unset means False

    def __init__(
        self, data: Tensor | Numbers | None = None, stop_gradient: bool = True, name: str | None = None
    ) -> None:
        array: Any = data._array if isinstance(data, Tensor) else data
        if array is None:
            array = np.zeros((0,), np.float32)
        if not isinstance(array, np.ndarray) and not is_cupy(array):
            array = np.asarray(array)
        from_numpy(array.dtype)
        self._array = adopt(array)
        self._version = None
        self._edge = None if stop_gradient else Leaf(array.shape)
        if name is not None:
            self._name = name

    # -- properties ------------------------------------------------------------------------------------------
    @property
    def shape(self) -> list[int]:
        """The length of each dimension."""
        return list(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._array.size)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return from_numpy(self._array.dtype)

    @property
    def place(self) -> Place:
        """The device that holds the data."""
        if isinstance(self._array, np.ndarray):
            return CUDAPinnedPlace() if is_pinned(self._array) else CPUPlace()
        return CUDAPlace(int(self._array.device.id))

    @property
    def name(self) -> str:
        """The name of the tensor; a unique one is generated when it is first read."""
        try:
            return self._name
        except AttributeError:
            self._name = names.generate("generated_tensor")
            return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    @property
    def persistable(self) -> bool:
        """True for parameters and buffers, which state dicts and saved models keep."""
        try:
            return self._persistable
        except AttributeError:
            return False

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self._persistable = bool(value)

    # -- gradients -------------------------------------------------------------------------------------------
    @property
    def stop_gradient(self) -> bool:
        """False where operators on the tensor are recorded for ``backward``."""
        return self._edge is None

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if value:
            edge = self._edge
            if edge.__class__ is Leaf:
                self._parked = edge  # graphs recorded before still lead to it
            self._edge = None
        elif self._edge is None:
            parked: Leaf | None = getattr(self, "_parked", None)
            self._edge = parked or Leaf(self._array.shape)

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operator produced it."""
        return self._edge is None or self._edge.__class__ is Leaf

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward accumulated, or None.

        A non-leaf keeps its gradient only after ``retain_grads()``. A held gradient of a leaf sees additions
        of further calls of backward, and is set to zero by ``clear_grad()``.
        """
        return gradient_of(self)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        training = modes.current().training
        if training is not None:
            training.set_gradient(self, value)
            return
        if value is not None:
            if not isinstance(value, Tensor):
                raise ArgumentError(f"grad: takes a Tensor or None: got {type(value).__name__}")
            if value._array.shape != self._array.shape:
                raise ShapeError(
                    f"grad: a gradient has its tensor's shape: got {value.shape} for {self.shape}; reshape it"
                )
        leaf: Edge | None = self._edge or getattr(self, "_parked", None)
        if leaf is None and value is not None:
            leaf = self._parked = Leaf(self._array.shape)
        if leaf.__class__ is not Leaf:
            if value is None:
                return
            raise GradientError(
                f"grad: only a leaf takes a gradient: this tensor of shape {self.shape} is the result of an "
                "operator; set the gradient of a leaf"
            )
        gradient = None if value is None else wrap(value._array.copy())
        with lock_of(leaf):
            leaf.grad, leaf.cleared, leaf.shown = gradient, None, False

    def backward(self, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to the ``grad`` of every leaf that it depends on.

        ``grad_tensor`` has the tensor's shape and is the gradient to start from, ones by default. Raises
        GradientError if nothing was recorded, the graph was freed, or a needed value was changed in place.
        """
        backward([self], [grad_tensor], retain_graph)

    # -- data ------------------------------------------------------------------------------------------------
    def numpy(self, blocking: bool = True) -> np.ndarray[Any, Any]:
        """A copy of the data as a NumPy array of the same shape and dtype, on the CPU.

        It is complete when the call returns, for any value of ``blocking``.
        """
        array = self._array
        on_cpu = isinstance(array, np.ndarray)
        copied: np.ndarray[Any, Any] = plain(array.copy()) if on_cpu else fetched(array)
        return copied

    def _on_host(self, *args: int) -> Any:
        """The array, or the element at one flat index or an index for each dimension, on the CPU."""
        array = self._array
        if args:
            array = (array if len(args) > 1 else array.reshape(-1))[(*args, ...)]
        return array if isinstance(array, np.ndarray) else adopt(fetched(array))

    def item(self, *args: int) -> Any:
        """The value as a Python number.

        ``args`` select an element: one flat index, or one index for each dimension. Raises ArgumentError for
        a tensor of several elements without ``args``, OutOfRangeError for an index outside of the shape.
        """
        if not args and self._array.size != 1:
            raise ConditionError(
                f"item: only a tensor of one element becomes a Python number: got shape {self.shape}; "
                "index it first or use tolist()"
            ).set_kind("InvalidArgument")
        try:
            return self._on_host(*args).item()
        except OutOfRangeError:  # an earlier operator on a GPU reports it now
            raise
        except (IndexError, ValueError):
            raise OutOfRangeError(
                f"item: index {list(args)} is outside of shape {self.shape}; pass one flat index, or one "
                "index for each dimension"
            ).set_kind("InvalidArgument") from None

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; one number for a 0-D tensor."""
        return self._on_host().tolist()

    def set_value(self, value: Tensor | Numbers) -> None:
        """Replace the data in place by ``value``.

        ``value`` is an array or Tensor of the same shape and dtype, or Python numbers in nested lists. Raises
        ShapeError for another shape and DTypeError for another dtype.
        """
        array: Any = value._array if isinstance(value, Tensor) else value
        if not isinstance(value, (Tensor, np.ndarray, np.generic)) and not hasattr(value, "get"):
            try:
                if self.dtype is bfloat16:
                    array = converted(np, np.asarray(value, np.float32), bfloat16)
                else:
                    array = np.asarray(value, self._array.dtype)  # Python numbers, possibly in lists
            except (TypeError, ValueError, OverflowError) as error:
                raise DTypeError(
                    f"set_value: {self.name!r} has dtype {self.dtype.name}: {value!r:.60} does not convert "
                    f"to it ({error}); pass numbers, an array or a Tensor"
                ) from None
        if array.shape != self._array.shape:
            raise ShapeError(
                f"set_value: {self.name!r} has shape {self.shape}: got {list(array.shape)}; "
                "reshape the value first"
            )
        if array.dtype != self._array.dtype:
            raise DTypeError(
                f"set_value: {self.name!r} has dtype {self.dtype.name}: got {array.dtype}; "
                "cast the value first"
            )
        write(self, array)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise DTypeError("len: a 0-D Tensor has no length: it holds one number; use item()")
        return int(self._array.shape[0])

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ConditionError(
                f"bool: the truth value of a Tensor of shape {self.shape} is ambiguous; use any() or all()"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise DTypeError(
                f"index: only integer tensors index: this one is {self.dtype.name}; cast it to int64"
            )
        return int(self.item())

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self._array.size != 1:
            raise DTypeError(
                f"format: {spec!r} fits one number: this tensor has shape {self.shape}; format its items"
            )
        return format(self.item(), spec)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        made = new(type(self))
        memo[id(self)] = made
        self._copy_into(made)
        return made

    def _copy_into(self, made: Tensor) -> None:
        made._array = self._array.copy()
        made._version = None
        made._edge = None if self._edge is None else Leaf(self._array.shape)
        made.persistable = self.persistable
        made.name = names.generate(self.name + "_deepcopy")

    def __reduce__(self) -> tuple[Any, ...]:
        # For multiprocessing between our own processes only; no file is ever pickled.
        return (_rebuild, (self.numpy(), self.stop_gradient, self.name, self.persistable))


def _rebuild(array: Any, stop_gradient: bool, name: str, persistable: bool) -> Tensor:
    made = Tensor(array, stop_gradient, name)
    made.persistable = persistable
    return made


class Parameter(Tensor):
    """A Tensor that a Layer trains: named, persistable, and with a gradient unless ``trainable=False``."""

    __slots__ = ("__dict__", "init_op", "is_distributed", "need_clip", "optimize_attr", "regularizer")

    def __init__(
        self, data: Tensor | Numbers | None, name: str | None = None, trainable: bool = True
    ) -> None:
        super().__init__(data, stop_gradient=not trainable, name=name or names.generate("_eager_param_base"))
        self.persistable = True
        self.optimize_attr: dict[str, float] = {"learning_rate": 1.0}
        self.regularizer: Any = None
        self.need_clip = True
        self.is_distributed = False

    @property
    def trainable(self) -> bool:
        """True if the parameter has a gradient: the opposite of ``stop_gradient``."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def initialize(self) -> None:
        """Give a parameter that was created under ``LazyGuard`` its first values.

        Raises UnreadyError, an AssertionError, for any other, and for one that has them.
        """
        first_values = self.__dict__.pop("first_values", None)
        if first_values is None:
            raise UnreadyError(f"initialize: {self.name} has its values already: LazyGuard did not make it")
        first_values(self)

    def _copy_into(self, made: Tensor) -> None:
        super()._copy_into(made)
        assert isinstance(made, Parameter)
        for field in ("optimize_attr", "regularizer", "need_clip", "is_distributed"):
            setattr(made, field, getattr(self, field))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Parameter, (self.numpy(), self.name, self.trainable))


def wrap(array: Array) -> Tensor:
    """A Tensor that shares ``array``, with stop_gradient=True."""
    made = new(Tensor)
    made._array = array
    made._version = None
    made._edge = None
    return made


def counter_of(tensor: Tensor) -> Counter:
    """The version counter of the tensor's storage, created when a view or in-place change needs it."""
    counter = tensor._version
    if counter is None:
        counter = tensor._version = Counter()
        node = tensor._edge
        if isinstance(node, Operator) and node.opdef.saved_outputs and node.outputs is not None:
            node.counters = ((counter, 0),)
    return counter


def share(base: Tensor, array: Array) -> Counter | None:
    """The version counter that ``array``, a view of ``base``, shares; None where the data was copied."""
    source = base._array
    if array.base is None or (array.base is not source and array.base is not source.base):
        return None
    return counter_of(base)


def write(tensor: Tensor, array: Array) -> None:
    """Copy ``array`` into the tensor's storage.

    Views see the new values; a backward pass that needs the old ones raises GradientError.
    """
    target = tensor._array
    if array is not target:
        if not is_writable(target):
            tensor._array = target = target.copy()
        target[...] = array if target.__class__ is array.__class__ else array_module(target).asarray(array)
    counter_of(tensor).count += 1
