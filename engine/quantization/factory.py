"""Factories of quanters: a class with arguments, of which each layer gets an instance of its own."""

from __future__ import annotations

import abc
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from engine.core.errors import ArgumentError
from engine.quantization.base_quanter import BaseQuanter

T = TypeVar("T", bound=type)


class ClassWithArguments(metaclass=abc.ABCMeta):
    """Arguments of a class, kept until an instance is wanted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args = args
        self._kwargs = kwargs

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._kwargs

    @abc.abstractmethod
    def _get_class(self) -> type:
        """The class of which instances are made."""

    def __str__(self) -> str:
        said = [str(each) for each in self.args] + [f"{name}={each}" for name, each in self.kwargs.items()]
        return f"{type(self).__name__}({','.join(said)})"

    def __repr__(self) -> str:
        return str(self)


class QuanterFactory(ClassWithArguments):
    """Makes a quanter for a layer: ``_get_class()(layer, *args, **kwargs)``."""

    def _instance(self, layer: Any) -> BaseQuanter:
        made: BaseQuanter = self._get_class()(layer, *self.args, **self.kwargs)
        return made


ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[[T], T]:
    """A decorator of an own quanter: its factory gets ``class_name``, in the module that is decorated in.

    ``@quanter("CustomQuanter")`` over ``class CustomQuanterLayer(BaseQuanter)``, whose ``__init__`` takes the
    layer first, makes ``CustomQuanter(bit_length=4)`` for a configuration. Raises ArgumentError for an
    invalid name.
    """
    if not isinstance(class_name, str) or not class_name.isidentifier():
        raise ArgumentError(
            f"quanter: the factory's name is a Python name: got {class_name!r}; use @quanter('MyQuanter')"
        )
    module = sys._getframe(1).f_globals

    def decorate(target: T) -> T:
        fields = {"__module__": module.get("__name__"), "_get_class": lambda self: target}
        module[class_name] = type(class_name, (QuanterFactory,), fields)
        if "__all__" in module:
            module["__all__"].append(class_name)
        return target

    return decorate
