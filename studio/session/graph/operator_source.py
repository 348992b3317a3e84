"""The source of an operator's kernel and gradient rules, which are the engine's own code."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MOST_LINES = 400


class OperatorSource(NamedTuple):
    """A kernel or a rule: its text, and where it begins, as ``engine/ops/tanh.py:12``."""

    text: str
    place: str


def kernel_source(kind: str) -> OperatorSource | None:
    """NumPy's kernel of an operator; None for an unknown one."""
    opdef = _opdef(kind)
    return None if opdef is None else _source(opdef.kernel)


def gradient_sources(kind: str) -> list[OperatorSource]:
    """The gradient rules of an operator, each once; none where it has no gradient."""
    opdef = _opdef(kind)
    if opdef is None:
        return []
    functions = [rule.function for rule in opdef.rules]
    if opdef.region_rule is not None:
        functions.append(opdef.region_rule)
    found = [_source(function) for function in functions]
    # Several rules may be one statement: ``add.grad(x=lambda g: g, y=lambda g: g)``.
    return list(dict.fromkeys(each for each in found if each is not None))


def _opdef(kind: str) -> Any:
    import engine.ops  # noqa: F401  (fills the table)
    from engine.core.operators.opdef import OPS

    # A gradient operator that a file names has the forward operator's rule as its kernel.
    return OPS.get(kind) or OPS.get(kind.removesuffix("_grad"))


def _source(function: Callable[..., Any]) -> OperatorSource | None:
    import engine

    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        file = inspect.getsourcefile(inspect.unwrap(function)) or ""
    except (OSError, TypeError):
        return None
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"# … {len(lines) - MOST_LINES} more lines\n"]
    root = Path(engine.__file__).parents[1]
    path = Path(file)
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return OperatorSource(textwrap.dedent("".join(lines)).rstrip(), f"{shown}:{first}")
