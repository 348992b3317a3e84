"""Reads a source text without running it: syntax errors, and classes that can be models."""

from __future__ import annotations

import warnings

from studio.session.code.code_view import CodeProblem
from studio.session.code.user_models import classes_of


def syntax_problem(text: str, name: str) -> CodeProblem | None:
    """The first error of syntax, None where there is none. ``name`` is what the file is called."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings and the like
            compile(text, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        end = (error.end_offset or 0) - 1 if error.end_lineno == error.lineno else 0
        return CodeProblem("syntax", error.lineno or 1, error.msg, "", column, max(end, column + 1))
    except (ValueError, RecursionError, MemoryError) as error:
        return CodeProblem("syntax", 0, f"this can't be read as Python: {error or type(error).__name__}")
    return None


def model_classes(text: str) -> tuple[str, ...]:
    """The classes of the text that can be models, those that derive from a Layer; the last one first."""
    return tuple(reversed(classes_of(text, layers_only=True))) or classes_of(text)
