"""Paddle's path to the error of code that can't be converted, and to small tools around source code."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from engine.core.errors import ConversionError as Dygraph2StaticException

__all__ = ["Dygraph2StaticException", "ast_to_source_code", "func_to_source_code", "type_name", "unwrap"]


def unwrap(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function below its decorators."""
    found: Callable[..., Any] = inspect.unwrap(func)
    return found


def func_to_source_code(function: Callable[..., Any], dedent: bool = True) -> str:
    """The source of a function, without its indentation."""
    source = inspect.getsource(function)
    return textwrap.dedent(source) if dedent else source


def ast_to_source_code(ast_node: ast.AST) -> str:
    """A syntax tree as source."""
    return ast.unparse(ast_node)


def type_name(v: object) -> str:
    """The name of the class of a value."""
    return type(v).__name__
