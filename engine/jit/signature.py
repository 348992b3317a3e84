"""Arguments of a converted function: Tensors, plain values, and the cache key made of both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.containers import nest
from engine.core.errors import ArgumentError, ArgumentTypeError, CallError, DTypeError, ShapeError
from engine.core.values.dtype import DType
from engine.eager.tensor import Tensor
from engine.jit.input_spec import InputSpec
from engine.tensor.creation import to_tensor


class Signature:
    """The parameters of a function without ``self``, and the InputSpecs that the user gave for them."""

    def __init__(self, function: Callable[..., Any], input_spec: Sequence[Any] | None, where: str) -> None:
        self.where = where
        self.python = inspect.signature(function)
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise DTypeError(
                f"{where}: input_spec must be a list or tuple with one item a parameter: "
                f"got {type(input_spec).__name__}"
            )
        self.input_spec: Any = None if input_spec is None else list(input_spec)
        kinds = {p.kind for p in self.python.parameters.values()}
        simple = kinds <= {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._names = tuple(self.python.parameters) if simple else None

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter name, defaults filled in. Raises CallError for others than it takes."""
        if not kwargs and self._names is not None and len(args) == len(self._names):
            return dict(zip(self._names, args, strict=True))
        try:
            bound = self.python.bind(*args, **kwargs)
        except TypeError as error:
            raise CallError(
                f"{self.where}: {error}: got {len(args)} positional arguments and {sorted(kwargs)} by name; "
                f"its signature is {self.where}{self.python}"
            ) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def specified(self, whole: bool = True) -> dict[str, Any] | None:
        """InputSpecs and plain values by parameter name, completed by defaults; None without input_spec.

        Raises ArgumentError where the specs do not match the parameters; with ``whole``, where there are too
        few.
        """
        if self.input_spec is None:
            return None
        parameters = list(self.python.parameters.values())
        found: dict[str, Any] = {}
        given = list(self.input_spec)
        for parameter in parameters:
            if parameter.kind is parameter.VAR_POSITIONAL:
                found[parameter.name] = tuple(given)
                given = []
            elif parameter.kind is parameter.VAR_KEYWORD:
                found[parameter.name] = {}
            elif given and parameter.kind is not parameter.KEYWORD_ONLY:
                found[parameter.name] = given.pop(0)
            elif parameter.default is not parameter.empty:
                found[parameter.name] = parameter.default
            elif whole:
                raise ArgumentError(
                    f"{self.where}: input_spec has {len(self.input_spec)} item(s), none for the required "
                    f"parameter {parameter.name!r} of {self.where}{self.python}; add an InputSpec for each"
                )
        if given:
            raise ArgumentError(
                f"{self.where}: input_spec has {len(self.input_spec)} items: {self.where}{self.python} takes "
                f"{len(parameters)}; remove the others"
            )
        return found

    def named(self, values: dict[str, Any]) -> dict[str, Any]:
        """``values`` with a name for every InputSpec: its own, its key in a dict, or the parameter's."""
        taken: set[str] = set()

        def rename(spec: Any, base: str) -> Any:
            name = spec.name or base
            while name in taken:
                name += "_"
            taken.add(name)
            return InputSpec(spec.shape, spec.dtype, name, spec.stop_gradient)

        def walk(value: Any, base: str) -> Any:
            if isinstance(value, InputSpec):
                return rename(value, base)
            if isinstance(value, dict):
                return {k: walk(v, str(k)) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                made = [walk(v, f"{base}_{n}") for n, v in enumerate(value)]
                return type(value)(made) if not hasattr(value, "_fields") else type(value)(*made)
            return value

        return {k: walk(v, k) for k, v in values.items()}


def as_specs(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments with every Tensor and array replaced by the InputSpec of its exact shape."""

    def spec(value: Any) -> Any:
        if isinstance(value, Tensor):
            return InputSpec(list(value.shape), value.dtype)
        if isinstance(value, np.ndarray):
            return InputSpec.from_numpy(value)
        return value

    return {k: nest.map_structure(spec, v) for k, v in values.items()}


def tensors_of(where: str, values: dict[str, Any], specs: dict[str, Any]) -> list[Tensor]:
    """The Tensors among the arguments, in the order of the InputSpecs.

    Raises ShapeError or DTypeError where one does not fit its InputSpec, ArgumentError where the
    structure differs.
    """
    found: list[Tensor] = []
    for name, spec in specs.items():
        if not nest.same_structure(values[name], spec):
            raise ArgumentError(
                f"{where}: argument {name!r} is {nest.describe(values[name])}: "
                f"its input_spec is {nest.describe(spec)}; both must nest alike"
            )
        for value, each in zip(nest.flatten(values[name]), nest.flatten(spec), strict=True):
            if isinstance(each, InputSpec):
                found.append(fit(where, name, value, each))
    return found


def fit(where: str, name: str, value: object, spec: InputSpec) -> Tensor:
    """The Tensor of an argument. Raises ShapeError, DTypeError or ArgumentError where it does not fit."""
    tensor = converted_to(where, name, value, spec.dtype)
    shape = tensor._array.shape
    if len(shape) != len(spec.shape) or any(e not in (-1, d) for d, e in zip(shape, spec.shape, strict=True)):
        raise ShapeError(
            f"{where}: argument {name!r} has shape {list(shape)}: its input_spec says {list(spec.shape)}; "
            "reshape it or change the InputSpec"
        )
    return tensor


def converted_to(where: str, name: str, value: object, dtype: DType, akin: bool = False) -> Tensor:
    """An argument as a Tensor. Raises DTypeError for another dtype, and for other values.

    With ``akin`` a Tensor of another size of floating point or integers stays as it is."""
    if not isinstance(value, Tensor):
        if not isinstance(value, (np.ndarray, int, float, bool)):
            raise ArgumentTypeError(
                f"{where}: argument {name!r} must be a Tensor of {dtype.name}: got {type(value).__name__}"
            )
        made: Tensor = to_tensor(value, dtype=dtype)
        return made
    if value._array.dtype != dtype.np and not (akin and _akin(value.dtype, dtype)):
        raise DTypeError(
            f"{where}: argument {name!r} has dtype {value.dtype.name}: "
            f"its input_spec says {dtype.name}; cast it with astype({dtype.name!r})"
        )
    return value


def _akin(one: DType, other: DType) -> bool:
    if one.is_floating_point:
        return other.is_floating_point
    return "int" in one.name and "int" in other.name


def cache_key(values: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A hashable key: Tensors by shape and dtype, numbers and strings by type and value, others by id."""
    return tuple([(k, _key(v)) for k, v in values.items()])


def _key(value: Any) -> Any:
    if isinstance(value, Tensor):
        return (value._array.shape, value._array.dtype)
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype)
    if isinstance(value, InputSpec):
        return value
    if isinstance(value, dict):
        return ("dict", tuple([(k, _key(v)) for k, v in value.items()]))
    if isinstance(value, (list, tuple)):
        return (type(value), tuple([_key(v) for v in value]))
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return (type(value), value)
    return ("id", id(value))


def merged(spec: object, value: object) -> Any:
    """The InputSpecs of an argument; where the spec is a plain value (a default), the call's value counts."""
    leaves = nest.flatten(spec)
    if any(isinstance(s, InputSpec) for s in leaves):
        return spec
    if any(isinstance(v, Tensor) for v in nest.flatten(value)):
        return as_specs({"value": value})["value"]
    return value
