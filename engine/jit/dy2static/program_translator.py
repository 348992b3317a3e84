"""ProgramTranslator: the conversion of any function, asked for piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.convert.convert import convert
from engine.jit.program_cache import ProgramCache
from engine.jit.static_function import StaticFunction
from engine.jit.switch import Switch
from engine.nn import Layer
from engine.program.graph.program import Program

__all__ = [
    "ASTStaticFunction",
    "ConcreteProgram",
    "ProgramCache",
    "ProgramTranslator",
    "StaticFunction",
    "SymbolicStaticFunction",
    "convert_to_static",
    "unwrap_decorators",
]

# One class converts source, and runs eagerly what can't be converted.
ASTStaticFunction = SymbolicStaticFunction = StaticFunction


def convert_to_static(function: Callable[..., Any]) -> Callable[..., Any]:
    """The converted form of a function, which adds to the Program that is being built."""
    return convert(function).function


def unwrap_decorators(func: Callable[..., Any]) -> tuple[list[StaticFunction], Callable[..., Any]]:
    """The converted functions around a function, and the function itself."""
    if isinstance(func, StaticFunction):
        return [func], func.dygraph_function
    return [], func


class ProgramTranslator:
    """The one object through which older scripts reach the conversion; every call gives the same object."""

    _instance: ClassVar[ProgramTranslator | None] = None
    _functions: LRU[Any, StaticFunction]  # those asked about last, since they keep their Layers alive

    def __new__(cls) -> ProgramTranslator:
        if cls._instance is None:
            made = super().__new__(cls)
            made._functions = LRU("programs")
            cls._instance = made
        return cls._instance

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        """The one object."""
        return cls()

    @classmethod
    def reset(cls) -> None:
        """Forget the functions asked about, and convert again if that was switched off."""
        cls()._functions.clear()
        Switch.enabled = True

    @property
    def enable_to_static(self) -> bool:
        """Whether converted functions run as Programs."""
        return Switch.enabled

    def enable(self, enable_to_static: bool) -> None:
        """False: converted functions run as they were written, until switched on again."""
        if not isinstance(enable_to_static, bool):
            raise ArgumentError(f"ProgramTranslator.enable: takes True or False: got {enable_to_static!r}")
        Switch.enabled = enable_to_static

    def get_output(self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What the function gives, run as a Program where conversion is on."""
        return self._static("get_output", dygraph_func)(*args, **kwargs)

    def get_func(self, dygraph_func: Callable[..., Any]) -> Callable[..., Any]:
        """The converted function: called while a Program is built, it adds its operators."""
        static = self._static("get_func", dygraph_func)
        return static.converted.function if Switch.enabled else static.dygraph_function

    def get_program(
        self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Program, Program, list[Any], list[Any]]:
        """Main Program, startup Program, inputs and outputs for a call with these arguments."""
        concrete = self._static("get_program", dygraph_func).get_concrete_program(*args, **kwargs)[0]
        return concrete.main_program, concrete.startup_program, concrete.inputs, concrete.outputs

    def get_code(self, dygraph_func: Callable[..., Any]) -> str:
        """The converted source."""
        return self._static("get_code", dygraph_func).code

    def get_program_cache(self) -> ProgramCache:
        """The Programs of all functions that were asked about here."""
        found = ProgramCache()
        for static in self._functions.values():
            for number, concrete in enumerate(static.program_cache):
                found.add((static, number), concrete)
        return found

    def _static(self, where: str, function: Any) -> StaticFunction:
        if isinstance(function, Layer):
            function = function.forward
        if isinstance(function, StaticFunction):
            return function
        if not callable(function):
            raise ArgumentError(
                f"ProgramTranslator.{where}: takes a function: got {type(function).__name__}; "
                "give the function itself, not its result"
            )
        owner = getattr(function, "__self__", None)
        plain = getattr(function, "__func__", function)
        key = (plain, id(owner))
        return self._functions.ensure(key, lambda: StaticFunction(plain, None, owner))
