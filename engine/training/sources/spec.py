"""DataSpec: what the data of a training is, with the reasons of what was detected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from engine.training.sources.several_inputs import Feed, feed_from_plain
from resources.families import DataKind, ModelSpec

Task: TypeAlias = Literal["classes", "numbers"]
Role: TypeAlias = Literal["input", "target", "excluded"]
ColumnType: TypeAlias = Literal["number", "word", "date"]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Args:
        reason: why it has its role, as a person reads it; "" where that is plain.
        words: of an input of words, in the order of their indices from 1; 0 is any other word.
        fill: stands in for a missing number.
        missing, distinct: how many rows have no value, and how many different values there are.
        unit: of the numbers, "" for none: what stands in brackets at the end of the name.
        month_first: of dates: 1/31/2026 is the last of January.
    """

    name: str
    role: Role
    type: ColumnType
    reason: str = ""
    words: tuple[str, ...] = ()
    fill: float = 0.0
    missing: int = 0
    distinct: int = 0
    unit: str = ""
    month_first: bool = False


@dataclass(frozen=True)
class DataSpec:
    """What the data is.

    Args:
        kind, task: never ``auto``; the reasons say how they were found.
        shape: of a sample as the model is fed.
        classes: their names; empty for numbers.
        targets: the names of the numbers to predict; empty for classes.
        columns: of a table with column names, all of them in the file's order.
        masked: of sequences of several lengths: the last value of a step is 1, and 0 where there is padding.
        samples: for training.
        feeds: the inputs of a model that takes several, of which ``kind`` and ``shape`` describe the first;
            empty for one.
    """

    kind: DataKind
    task: Task
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    targets: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    masked: bool = False
    samples: int = 0
    kind_reason: str = ""
    task_reason: str = ""
    feeds: tuple[Feed, ...] = ()

    @property
    def outputs(self) -> int:
        """How many values a network predicts."""
        return len(self.classes) if self.task == "classes" else len(self.targets)

    @property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that the model is fed, in this order."""
        return tuple(column for column in self.columns if column.role == "input")

    def filled(self, values: Sequence[float]) -> DataSpec:
        """The same with these values for missing numbers of the inputs; unchanged where there are none."""
        if not values or not self.columns:
            return self
        fills = dict(zip((column.name for column in self.inputs), values, strict=True))
        columns = (replace(each, fill=fills.get(each.name, each.fill)) for each in self.columns)
        return replace(self, columns=tuple(columns))

    def model_spec(self) -> ModelSpec:
        """What a network is built for."""
        words = tuple(len(column.words) for column in self.inputs)
        return ModelSpec(
            self.kind,
            self.shape,
            self.outputs,
            words if any(words) else (),
            self.masked,
            max(1, len(self.feeds)),
        )

    def as_plain(self) -> dict[str, Any]:
        """As plain values, for a checkpoint, an exported file or an event."""
        plain = asdict(self)
        if not self.feeds:
            del plain["feeds"]  # as earlier versions read it
        return plain


def spec_from_plain(plain: Mapping[str, Any]) -> DataSpec:
    """The spec that ``as_plain`` described."""
    columns = tuple(Column(**{**each, "words": tuple(each["words"])}) for each in plain["columns"])
    lists = {name: tuple(plain[name]) for name in ("shape", "classes", "targets")}
    feeds = tuple(feed_from_plain(each) for each in plain.get("feeds", ()))
    return DataSpec(**{**plain, **lists, "columns": columns, "feeds": feeds})
