"""Finds syntax errors in a source text without running it."""

from __future__ import annotations

import warnings

from studio.session.code.code_view import CodeProblem
from studio.session.code.user_models import text_outline, too_large

_MOST_COMPILED, _MOST_SCOPES = 32 << 10, 1000
"""Characters, and classes, functions and comprehensions, of a text that is compiled too: Python compares the
code of each of them with that of all others."""


def syntax_problem(text: str, name: str) -> CodeProblem | None:
    """The first error of syntax, None where there is none. ``name`` is what the file is called.

    What Python finds only when it compiles, such as ``return`` outside a function, is found in texts of
    usual size; in others the dry run finds it.
    """
    if problem := too_large(text):
        return CodeProblem("syntax", 0, problem)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings and the like
            if (error := text_outline(text).error) is not None:
                raise error
            scopes = sum(text.count(word) for word in ("class", "def", "lambda", "for"))
            if len(text) <= _MOST_COMPILED and scopes <= _MOST_SCOPES:
                compile(text, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        end = (error.end_offset or 0) - 1 if error.end_lineno == error.lineno else 0
        return CodeProblem("syntax", error.lineno or 1, error.msg, "", column, max(end, column + 1))
    except (ValueError, RecursionError, MemoryError) as error:
        return CodeProblem("syntax", 0, f"this can't be read as Python: {error or type(error).__name__}")
    return None
