"""Declarations of the functions of higher rooms that methods of Program, Block and Variable call.

Each is defined in the module named next to it; importing ``engine.program`` imports its own modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from engine.core.delegate import delegate
from engine.core.operators.operator import Operator

if TYPE_CHECKING:
    import numpy as np

    from engine.eager.tensor import Numbers, Tensor
    from engine.program.graph.program import Block, Program
    from engine.program.graph.variable import Variable


# -- text --------------------------------------------------------------------------------------------------
@delegate("engine.program.text.printed")
def program_text(program: Program, with_details: bool = False) -> str:
    """The text of a Program."""
    raise NotImplementedError


@delegate("engine.program.text.printed")
def block_text(block: Block, with_details: bool = False) -> str:
    """The text of a Block."""
    raise NotImplementedError


@delegate("engine.program.text.printed")
def variable_text(variable: Variable, name: str | None = None) -> str:
    """The line of a Variable, under its own name or another."""
    raise NotImplementedError


@delegate("engine.program.text.printed")
def variable_details(variable: Variable) -> str:
    """The line of a Variable, with all its fields."""
    raise NotImplementedError


# -- building ----------------------------------------------------------------------------------------------
@delegate("engine.program.build.annotate")
def of_role(role: int) -> AbstractContextManager[None]:
    """Give operators that are appended within the block this role in training."""
    raise NotImplementedError


@delegate("engine.program.build.by_slot")
def append_by_slot(
    block: Block, type: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], attrs: Mapping[str, Any]
) -> Operator:
    """Append an operator whose Variables are given by slot."""
    raise NotImplementedError


@delegate("engine.program.build.builder")
def building_block(program: Program) -> Block | None:
    """The block of ``program`` that operators are appended to now; None where it is not being built."""
    raise NotImplementedError


# -- files -------------------------------------------------------------------------------------------------
@delegate("engine.static.inference_files")
def parse_from_string(data: bytes) -> Program:
    """The Program in the bytes of ``serialize_program`` or of a ``.pdmodel``."""
    raise NotImplementedError


@delegate("engine.static.inference_files")
def program_bytes(program: Program) -> bytes:
    """The Program as the bytes of a ``.pdmodel``."""
    raise NotImplementedError


# -- passes ------------------------------------------------------------------------------------------------
@delegate("engine.program.passes.clone")
def clone(program: Program, for_test: bool = False) -> Program:
    """A copy that shares the values of parameters."""
    raise NotImplementedError


# -- values ------------------------------------------------------------------------------------------------
# What becomes the value of a Variable.
ValueLike: TypeAlias = "Tensor | Numbers"


class ScopeValue(Protocol):
    """What a scope has under a name."""

    tensor: Tensor | None

    def store(self, array: Any) -> None:
        """Make ``array`` itself the value."""


class ScopeValues(Protocol):
    """What these functions use of an ``engine.program.run.scope.Scope``."""

    def var(self, name: str) -> ScopeValue:
        """The value of this name in the scope itself, created where it is absent."""

    def find_var(self, name: str) -> ScopeValue | None:
        """The value of this name in the scope or those around it, else None."""


@delegate("engine.program.run.scope")
def value_of(variable: Variable, scope: ScopeValues | None = None) -> Tensor:
    """The value of a persistable Variable."""
    raise NotImplementedError


@delegate("engine.program.run.scope")
def give_value(variable: Variable, array: np.ndarray[Any, Any], scope: ScopeValues | None = None) -> None:
    """Give a persistable Variable a value."""
    raise NotImplementedError


@delegate("engine.program.run.scope")
def program_state(program: Program, mode: str = "all", scope: ScopeValues | None = None) -> dict[str, Tensor]:
    """The values of a Program's persistable Variables, by name."""
    raise NotImplementedError


@delegate("engine.program.run.scope")
def set_program_state(program: Program, state: Mapping[str, Any], scope: ScopeValues | None = None) -> None:
    """Give persistable Variables of a Program values, by name."""
    raise NotImplementedError
