"""Which operators and variables a filter text leaves: own index arrays, as a proxy takes seconds. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from widgets.program_tree.data import BlockData, OperatorData, ProgramData, VariableData, shape_text

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
        self.words: list[str] = []

    def apply(self, text: str) -> None:
        """Leave what contains every word of the text, in its type, names, attributes, dtype or shape."""
        self.text = text.strip()
        self.words = self.text.lower().split()
        for block in self.blocks:
            block.apply(self.words)

    @property
    def count(self) -> int:
        """How many operators and variables are left."""
        return sum(len(block.operators) + len(block.variables) for block in self.blocks)


def _matching(texts: list[str], words: list[str]) -> Indices:
    return np.array(
        [i for i, text in enumerate(texts) if all(word in text for word in words)], dtype=np.int64
    )


def _operator_text(operator: OperatorData) -> str:
    return " ".join([operator.type, *(text for _, text in _operator_parts(operator))]).lower()


def _operator_parts(operator: OperatorData) -> Iterator[tuple[str, str]]:
    """The searchable texts besides the type: as searched, and as shown for a hit."""
    for slots in (operator.inputs, operator.outputs):
        for slot, names in slots.items():
            yield from ((f"{slot}: {name}", name) for name in names)
    for key, value in operator.attrs.items():
        if not isinstance(value, bytes):
            yield f"{key}={value}", f"{key}={value}"


def _variable_parts(variable: VariableData) -> list[str]:
    kind = "parameter" if variable.parameter else "persistable" if variable.persistable else ""
    return [variable.dtype, shape_text(variable.shape), str(list(variable.shape)), kind]


def _variable_text(variable: VariableData) -> str:
    return " ".join([variable.name, *_variable_parts(variable)]).lower()


def operator_reasons(operator: OperatorData, words: Sequence[str]) -> list[str]:
    """Which slots and attributes contain the words that its type doesn't: why a filter leaves it."""
    found: dict[str, None] = {}
    for word in words:
        if word not in operator.type.lower():
            hits = (shown for shown, text in _operator_parts(operator) if word in text.lower())
            if (first := next(hits, None)) is not None:
                found[first] = None
    return list(found)


def variable_reasons(variable: VariableData, words: Sequence[str]) -> list[str]:
    """Which of its properties contain the words that its name doesn't."""
    found: dict[str, None] = {}
    for word in words:
        if word not in variable.name.lower():
            hits = (text for text in _variable_parts(variable) if word in text.lower())
            if (first := next(hits, None)) is not None:
                found[first] = None
    return list(found)


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of the words (in lower case) in a text: (start, length), in order, adjoining ones merged."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose small form is two letters
        return []
    marked: list[tuple[int, int]] = []
    hits = []
    for word in words:
        at = lower.find(word)
        while at >= 0:
            hits.append((at, at + len(word)))
            at = lower.find(word, at + len(word))
    for start, end in sorted(hits):
        if marked and start <= sum(marked[-1]):
            first, length = marked[-1]
            marked[-1] = (first, max(first + length, end) - first)
        else:
            marked.append((start, end - start))
    return marked
