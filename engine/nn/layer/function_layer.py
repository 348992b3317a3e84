"""FunctionLayer: a function of nn.functional as a layer that stores its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, ClassVar

from engine.nn import functional
from engine.nn.layer.layers import Layer
from engine.tensor.tensor_like import AnyTensor

# By name at each call: a function that a user replaces in nn.functional is found too.
FUNCTIONS: Mapping[str, Any] = vars(functional)


class FunctionLayer(Layer):
    """A function of nn.functional that is applied with options, which are attributes of the layer.

    A layer is its docstring, ``_function`` and the signature of its ``__init__``, which hands its arguments
    on in the same order; the names of the options are read from it. A family of such layers defines
    ``forward`` by ``_applied``. Where that takes too long for a small function, it passes the inputs and
    ``type(self)._values(self)`` itself.
    """

    _function: ClassVar[str]
    """Name of the function in nn.functional."""
    _prefix: ClassVar[str] = ""
    """Before the name of an option in that of its attribute."""
    _stored: ClassVar[Mapping[str, str]] = {}
    """Option -> its attribute, where that has another name."""
    _passed: ClassVar[tuple[str, ...] | None] = None
    """What the function takes after its inputs: all options by default, in the order of the signature."""
    _shown: ClassVar[tuple[str, ...] | None] = None
    """What ``extra_repr`` shows: all options by default."""
    _hidden: ClassVar[Mapping[str, Any]] = {"name": ""}
    """Option -> the value with which it is not shown; a ``name`` of None is not shown either."""

    # Found for each class that names a function.
    _class_name: ClassVar[str]
    _attributes: ClassVar[tuple[str, ...]]
    _values: ClassVar[Callable[[Any], Any]]
    _texts: ClassVar[tuple[tuple[str, str], ...]]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "_function" not in vars(cls):
            return  # a family, or a class of a user, which may have another signature
        code = cls.__init__.__code__
        options = code.co_varnames[1 : code.co_argcount]
        attribute = {option: cls._prefix + option for option in options} | dict(cls._stored)
        passed = options if cls._passed is None else cls._passed
        shown = options if cls._shown is None else cls._shown
        cls._class_name = cls.__name__
        cls._attributes = tuple(attribute[option] for option in options)
        cls._values = _reader([attribute.get(name, name) for name in passed])
        cls._texts = tuple((name, attribute.get(name, name)) for name in shown)

    def __init__(self, *options: Any) -> None:
        super().__init__()
        for attribute, value in zip(type(self)._attributes, options, strict=True):
            setattr(self, attribute, value)

    def _applied(self, *inputs: Any) -> Any:
        """The function of ``inputs`` with the present options."""
        kind = type(self)
        return FUNCTIONS[kind._function](*inputs, *kind._values(self))

    def extra_repr(self) -> str:
        kind = type(self)
        values = [(option, getattr(self, attribute)) for option, attribute in kind._texts]
        return ", ".join(f"{option}={value}" for option, value in values if not kind._hides(option, value))

    @classmethod
    def _hides(cls, option: str, value: Any) -> bool:
        if option == "name" and value is None:
            return True
        return option in cls._hidden and bool(value == cls._hidden[option])


def _reader(attributes: list[str]) -> Callable[[Any], Any]:
    """A function that reads ``attributes`` of a layer as a tuple."""
    read = attrgetter(*attributes)
    return read if len(attributes) > 1 else staticmethod(lambda layer: (read(layer),))


class OfX(FunctionLayer):
    """A family whose only input is called ``x``."""

    def forward(self, x: AnyTensor) -> Any:
        kind = type(self)
        return FUNCTIONS[kind._function](x, *kind._values(self))


class OfInput(FunctionLayer):
    """A family whose only input is called ``input``."""

    def forward(self, input: AnyTensor) -> Any:
        kind = type(self)
        return FUNCTIONS[kind._function](input, *kind._values(self))
