"""The inputs of an exported model as one text: ``image: None,1,28,28; row: None,5 float32``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from resources.settings.export import DTYPES, EXPORT_SETTINGS
from resources.settings.setting import ANY_SIZE_WORDS, Setting


@dataclass(frozen=True)
class ModelInputRow:
    """One input: its name, its shape with the batch, -1 for any size, and its dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"

    @property
    def text(self) -> str:
        """The row as ``parse_inputs`` reads it."""
        return f"{self.name}: {write_shape(self.shape)} {self.dtype}"

    def problem(self) -> str:
        """What is wrong with the name or the dtype; empty where nothing is."""
        if not self.name.isidentifier():
            return (
                f"an input's name must be of letters, digits and underscores: got {self.name!r}; give e.g. x"
            )
        if self.dtype not in DTYPES:
            return f"{self.name}: no such dtype: got {self.dtype!r}; choose {', '.join(DTYPES)}"
        return ""


def write_shape(shape: Iterable[int]) -> str:
    """A shape as people write it: None for any size."""
    return ",".join("None" if size < 0 else str(size) for size in shape)


def read_shape(text: str) -> tuple[int, ...]:
    """The shape that a text stands for. Raises ValueError with what is wrong with it."""
    found = EXPORT_SETTINGS["input_shape"].parse(text)
    if not isinstance(found, list | tuple):
        raise ValueError(f"must be sizes such as None,1,28,28: got {Setting.write(found)!r}; give them")
    return tuple(int(size) for size in found)


def parse_inputs(text: str) -> tuple[ModelInputRow, ...]:
    """The inputs that a text names; none for an empty text.

    Raises:
        ValueError: what is wrong: the value seen; what to do.
    """
    rows = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        name, colon, rest = part.partition(":")
        sizes, _, last = rest.strip().rpartition(" ")
        dtype = last if last.isidentifier() and last.lower() not in ANY_SIZE_WORDS else ""
        if not colon or not rest.strip():
            raise ValueError(f"not an input: got {part!r}; give e.g. image: None,1,28,28 float32")
        try:
            shape = read_shape(sizes if dtype else rest)
        except ValueError as error:
            raise ValueError(f"{name.strip()}: {error}") from None
        row = ModelInputRow(name.strip(), shape, dtype or "float32")
        if problem := row.problem():
            raise ValueError(problem)
        rows.append(row)
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        raise ValueError(f"two inputs have the same name: got {', '.join(names)}; give each another")
    return tuple(rows)


def write_inputs(rows: Iterable[ModelInputRow]) -> str:
    """Inputs as the text that ``parse_inputs`` reads."""
    return "; ".join(row.text for row in rows)
