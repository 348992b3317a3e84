"""Which operators and variables a filter text leaves: own index arrays, as a proxy takes seconds. No Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widgets.program_tree.data import BlockData, OperatorData, ProgramData, VariableData

Indices = NDArray[np.int64]


class BlockFilter:
    """The rows of one block that are left; the texts to search in are made at the first search."""

    def __init__(self, block: BlockData) -> None:
        self._block = block
        self._texts: tuple[list[str], list[str]] | None = None
        self.operators: Indices = np.arange(len(block.operators))
        self.variables: Indices = np.arange(len(block.variables))

    def apply(self, words: list[str]) -> None:
        """Leave the rows that contain every word."""
        if not words:
            self.operators = np.arange(len(self._block.operators))
            self.variables = np.arange(len(self._block.variables))
            return
        if self._texts is None:
            self._texts = (
                [_operator_text(operator) for operator in self._block.operators],
                [_variable_text(variable) for variable in self._block.variables],
            )
        operators, variables = self._texts
        self.operators = _matching(operators, words)
        self.variables = _matching(variables, words)


class ProgramFilter:
    """The rows of all blocks that a filter text leaves. Spaces part its words; case doesn't matter."""

    def __init__(self, program: ProgramData) -> None:
        self.blocks = [BlockFilter(block) for block in program.blocks]
        self.text = ""

    def apply(self, text: str) -> None:
        """Leave what contains every word of the text, in its type, names, attributes, dtype or shape."""
        self.text = text.strip()
        words = self.text.lower().split()
        for block in self.blocks:
            block.apply(words)

    @property
    def count(self) -> int:
        """How many operators and variables are left."""
        return sum(len(block.operators) + len(block.variables) for block in self.blocks)


def _matching(texts: list[str], words: list[str]) -> Indices:
    return np.array(
        [i for i, text in enumerate(texts) if all(word in text for word in words)], dtype=np.int64
    )


def _operator_text(operator: OperatorData) -> str:
    names = [
        name for slots in (operator.inputs, operator.outputs) for group in slots.values() for name in group
    ]
    attrs = [f"{key}={value}" for key, value in operator.attrs.items() if not isinstance(value, bytes)]
    return " ".join([operator.type, *names, *attrs]).lower()


def _variable_text(variable: VariableData) -> str:
    kind = "parameter" if variable.parameter else "persistable" if variable.persistable else ""
    return f"{variable.name} {variable.dtype} {list(variable.shape)} {kind}".lower()
