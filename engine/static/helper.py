"""Checks of arguments that the functions of ``static`` share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.program.graph.variable import Variable
from engine.program.run.executor import Executor


def require_executor(where: str, executor: object) -> None:
    """Raise DTypeError where ``executor`` is neither an Executor nor None."""
    if executor is not None and not isinstance(executor, Executor):
        raise DTypeError(
            f"{where}: executor must be an Executor: got {type(executor).__name__}; pass static.Executor()"
        )


def require_options(where: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise ArgumentError for a keyword that is not one of ``known``."""
    if unknown := set(given) - set(known):
        raise ArgumentError(f"{where}: unknown option {sorted(unknown)}; it takes {', '.join(sorted(known))}")


def variables_of(where: str, what: str, value: object) -> list[Variable]:
    """The Variables of an argument, one or a list of them. Raises DTypeError for anything else."""
    listed: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in listed:
        if not isinstance(item, Variable):
            raise DTypeError(
                f"{where}: {what} must be a Variable or a list of them: got {type(item).__name__}; take it "
                "from the Program with global_block().var(name)"
            )
    return listed
