"""From Python to static Programs: to_static, save and load."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.jit.api import enable_to_static, ignore_module, not_to_static, to_static
    from engine.jit.concrete_program import ConcreteProgram
    from engine.jit.convert.translator_log import set_code_level, set_verbosity
    from engine.jit.export import load, save
    from engine.jit.static_function import StaticFunction
    from engine.jit.translated_layer import TranslatedLayer

__all__ = [
    "ConcreteProgram",
    "StaticFunction",
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]

__getattr__ = lazy(
    __name__,
    modules=("dy2static",),
    members={
        "engine.jit.api": ("enable_to_static", "ignore_module", "not_to_static", "to_static"),
        "engine.jit.concrete_program": ("ConcreteProgram",),
        "engine.jit.convert.translator_log": ("set_code_level", "set_verbosity"),
        "engine.jit.export": ("load", "save"),
        "engine.jit.static_function": ("StaticFunction",),
        "engine.jit.translated_layer": ("TranslatedLayer",),
    },
)
