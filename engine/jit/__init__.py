"""From Python to static Programs: to_static, save and load."""

from engine.jit.api import enable_to_static, ignore_module, not_to_static, to_static
from engine.jit.convert.translator_log import set_code_level, set_verbosity
from engine.jit.export import load, save
from engine.jit.static_function import ConcreteProgram, StaticFunction
from engine.jit.translated_layer import TranslatedLayer

__all__ = [
    "ConcreteProgram", "StaticFunction", "TranslatedLayer", "enable_to_static", "ignore_module", "load",
    "not_to_static", "save", "set_code_level", "set_verbosity", "to_static",
]  # fmt: skip
