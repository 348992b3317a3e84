"""RawInputs: rows of text, CSV files and sequences as the arrays that an exported model is fed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.training.exporting.raw_sequences import as_fed, stored_arrays, stored_labels
from engine.training.sources.spec import Column, DataSpec, spec_from_plain
from engine.training.sources.tables.lines import CsvLines
from engine.training.sources.tables.rows import RowParser
from engine.training.sources.tables.values import as_number, is_missing
from resources.regular_files import open_regular

_SHOWN = 40


@dataclass(frozen=True, eq=False)
class FedInputs:
    """What a model is fed for some samples.

    Args:
        values: float32 [n, ...].
        texts: of a table, the text of each input in the first row.
        unknown, missing: of a table, how many words of a column training never saw, and how many of its
            values are missing, by the column's name; columns without any are absent.
        padded: how many sequences were padded for a model that was trained on sequences of one length.
        problems: why a row can't be fed, by its number from 0; its values are not numbers.
        commas: the texts have decimal commas.
        answers: the true class or numbers of each sample, where the file has them; a NaN for a missing one.
    """

    values: np.ndarray
    texts: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    padded: int = 0
    problems: Mapping[int, str] = field(default_factory=dict)
    commas: bool = False
    answers: Sequence[tuple[str | float, ...]] = ()

    def __len__(self) -> int:
        return len(self.values)

    def chosen(self, only: int | None) -> FedInputs:
        """The same, or the sample of this number alone."""
        if only is None:
            return self
        return replace(self, values=self.values[only : only + 1], answers=self.answers[only : only + 1])

    def sound(self) -> FedInputs:
        """The same. Raises FormatError where a row can't be fed, with the reason of the first."""
        for reason in self.problems.values():
            raise FormatError(reason)
        return self


@dataclass(frozen=True)
class RawInputs:
    """How a model is fed what people have.

    Args:
        spec: of the data that the model was trained on.
        fills: for each column, what stands in for a missing number; empty where a number must be given.
        means: of each column of a table in the training rows, 0 of words; empty where they are not known.
    """

    spec: DataSpec
    fills: tuple[float, ...] = ()
    means: tuple[float, ...] = ()

    @staticmethod
    def of(info: Mapping[str, Any]) -> RawInputs | None:
        """By the information in an exported file; None where it does not say what the data was.

        Raises:
            FormatError: it says other things than an export does.
        """
        plain = info.get("data_spec")
        if plain is None:
            return None
        prepare = info.get("prepare", {})
        try:
            spec = spec_from_plain(plain)
            if spec.columns:
                fills = tuple(float(column.fill) for column in spec.inputs)
                # Without values that stand in, training refused missing numbers.
                fills = fills if "fill" in prepare or "prepare" not in info else ()
            else:
                fills = tuple(float(value) for value in prepare.get("fill", ()))
            means = tuple(float(value) for value in prepare.get("column_mean", ()))
            sound = all(type(size) is int and size > 0 for size in spec.shape) and bool(spec.shape)
            count = math.prod(spec.shape) if sound else 0
            if spec.columns:
                sound = sound and count == len(spec.inputs)
            counts = [len(values) for values in (fills, means) if values]
            if not sound or any(each != count for each in counts) or not np.isfinite((*fills, *means)).all():
                raise ValueError(
                    f"shape {list(spec.shape)}, {len(spec.inputs)} inputs, {counts} fills and means"
                )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(
                f"data_spec: not what an export says of its data: {type(error).__name__}: {error}; export "
                "the model again"
            ) from error
        return RawInputs(spec, fills, means)

    @property
    def is_table(self) -> bool:
        """Whether a sample is one row of named or numbered columns."""
        return bool(self.spec.columns) or self.spec.kind == "table"

    @cached_property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that a sample is made of, also of data that has no names for them."""
        if self.spec.columns:
            return self.spec.inputs
        fills = self.fills or (0.0,) * math.prod(self.spec.shape)
        return tuple(Column(str(place), "input", "number", fill=fill) for place, fill in enumerate(fills))

    @property
    def values_of_a_step(self) -> int:
        """How many values a step of a sequence has, without the mask."""
        return math.prod(self.spec.shape[1:]) - self.spec.masked

    # ----- tables -----

    def named(self, rows: Sequence[Mapping[str, str]], commas: bool = False) -> FedInputs:
        """Rows of text by the names of their columns, which may be in any order.

        Args:
            commas: numbers have decimal commas.

        Raises:
            DataError: a column is missing; lists those that the model takes.
        """
        for row in rows:
            self._check_names("the row", list(row))
        parser = RowParser("input", list(enumerate(self.inputs)), commas)
        return self._joined(
            [self._block(parser, [[row[each.name] for each in self.inputs] for row in rows], 0, None)]
        )

    def listed(self, rows: Sequence[Sequence[object]] | np.ndarray) -> FedInputs:
        """Rows of values in the order of the columns, texts or numbers; [columns] is one row.

        Raises:
            DataError: another number of columns.
        """
        found = np.asarray(rows)
        found = found[None] if found.ndim == 1 else found.reshape(len(found), -1)
        if found.shape[1] != len(self.inputs):
            raise DataError(
                f"{found.shape[1]} values in a row: the model takes {len(self.inputs)}: {self._names()}"
            )
        if found.dtype.kind in "biuf" and not any(column.words for column in self.inputs):
            return self._joined([self._filled(found.astype(np.float32), None, 0, "input")])
        parser = RowParser("input", list(enumerate(self.inputs)), False)
        return self._joined([self._block(parser, [[str(text) for text in row] for row in found], 0, None)])

    def csv(self, path: Path, text: str | None = None, only: int | None = None) -> FedInputs:
        """The rows of a CSV file, with a header in any order, or without one in the order of training.

        Of sequences without columns the file is one sequence, a step in each row.

        Args:
            text: its content where there is no file; ``path`` names it in messages.
            only: the row of this number alone.

        Raises:
            DataError: a column is missing, or there are too many or too few. FormatError: no table.
            OSError.
        """
        names = [column.name for column in self.spec.columns or self.inputs]
        numbered = all(name.isdecimal() for name in names)
        lines, once = _lines_of(path, text, [] if numbered else names)
        if not self.is_table:
            return self.sequences(_numbers(lines, once)).chosen(only)
        places = self._places(lines, numbered)
        parser = RowParser(str(path), list(zip(places, self.inputs, strict=True)), lines.commas)
        targets = [lines.names.index(name) for name in self._target_names() if name in lines.names]
        only = 0 if once else only
        blocks, answers = [], []
        for block in lines.blocks():
            rows, first = block.rows, block.first
            if only is not None:
                if not first <= only < first + len(rows):
                    continue
                rows, first = [rows[only - first]], only
            blocks.append(self._block(parser, rows, first, places))
            answers += [self._answer([row[place] for place in targets], lines.commas) for row in rows]
            if only is not None:
                break
        if not blocks:
            raise FormatError(f"{path}: there are no rows below the header; give some")
        known = lines.header and targets and len(targets) == len(self._target_names())
        return replace(self._joined(blocks), commas=lines.commas, answers=answers if known else ())

    def _target_names(self) -> list[str]:
        """The columns of a table that it has for training, and need not have for a prediction."""
        return [column.name for column in self.spec.columns if column.role == "target"]

    def _answer(self, texts: Sequence[object], commas: bool = False) -> tuple[str | float, ...]:
        """The true class or numbers in a file."""
        if self.spec.task == "classes":
            return tuple(str(text).strip() for text in texts)
        found = []
        for text in texts:
            try:
                found.append(as_number(str(text), commas))
            except ValueError:
                found.append(math.nan)
        return tuple(found)

    def _places(self, lines: CsvLines, numbered: bool) -> list[int]:
        """Where in a row of the file each input is."""
        if lines.header and not numbered:
            self._check_names(str(lines.path), lines.names)
            return [lines.names.index(column.name) for column in self.inputs]
        columns, width = self.spec.columns or self.inputs, len(lines.names)
        for known in (columns, [each for each in columns if each.role != "target"], self.inputs):
            if len(known) == width:
                return [place for place, column in enumerate(known) if column.role == "input"]
        raise DataError(
            f"{lines.path}: {width} values in a row and no names of columns: the model takes "
            f"{len(self.inputs)}: {self._names()}; add a header"
        )

    def _check_names(self, where: str, names: Sequence[str]) -> None:
        absent = [column.name for column in self.inputs if column.name not in names]
        if absent:
            listed = ", ".join(map(repr, absent[:_SHOWN]))
            raise DataError(
                f"{where}: no column {listed}: the model takes {self._names()}; add "
                + ("it" if len(absent) == 1 else "them")
            )

    def _names(self) -> str:
        more = len(self.inputs) - _SHOWN
        listed = ", ".join(column.name for column in self.inputs[:_SHOWN])
        return f"{listed} and {more} more" if more > 0 else listed

    def _block(
        self, parser: RowParser, rows: Sequence[Sequence[str]], first: int, places: Sequence[int] | None
    ) -> FedInputs:
        """Some rows of texts, the first of them with this number."""
        numbers, problems = range(first, first + len(rows)), {}
        try:
            values = parser.parse(rows, numbers)
        except FormatError:
            values = np.full((len(rows), len(self.inputs)), np.nan, np.float32)
            for place, row in enumerate(rows):
                try:
                    values[place] = parser.parse([row], [first + place])[0]
                except FormatError as error:
                    problems[first + place] = str(error)
        chosen = [[row[place] for place in places] for row in rows] if places is not None else rows
        found = self._filled(values, chosen, first, parser.where, problems)
        return replace(
            found,
            texts=dict(zip((each.name for each in self.inputs), chosen[0], strict=True)) if rows else {},
        )

    def _filled(
        self,
        values: np.ndarray,
        texts: Sequence[Sequence[str]] | None,
        first: int,
        where: str,
        problems: Mapping[int, str] | None = None,
    ) -> FedInputs:
        """Values as they were read, with those that are missing filled."""
        problems = dict(problems or {})
        unknown, missing = {}, {}
        sound = np.ones(len(values), bool)
        sound[[number - first for number in problems]] = False
        for place, column in enumerate(self.inputs):
            read = values[:, place]
            if column.words and texts is not None:
                others = np.flatnonzero(read == 0).tolist()
                count = sum(is_missing(texts[row][place]) for row in others)
                unknown[column.name] = len(others) - count
            else:
                absent = np.isnan(read) & sound
                count = int(absent.sum())
                for row in np.flatnonzero(np.isinf(read)).tolist():
                    problems.setdefault(
                        first + row, f"{where}: row {first + row}, column {column.name}: not a finite number"
                    )
                if count and self.fills:
                    read[absent] = self.fills[place]
                elif count:
                    for row in np.flatnonzero(absent).tolist():
                        problems.setdefault(
                            first + row,
                            f"{where}: row {first + row}, column {column.name}: no value, and the model was "
                            "trained without missing ones; give a number",
                        )
            missing[column.name] = count
        return FedInputs(
            values,
            unknown={name: count for name, count in unknown.items() if count},
            missing={name: count for name, count in missing.items() if count},
            problems=dict(sorted(problems.items())),
        )

    def _joined(self, blocks: Sequence[FedInputs]) -> FedInputs:
        """All blocks as one, in the shape of the model's input."""
        values = np.concatenate([block.values for block in blocks])
        unknown: Counter[str] = Counter()
        missing: Counter[str] = Counter()
        for block in blocks:
            unknown.update(block.unknown)
            missing.update(block.missing)
        problems = {number: reason for block in blocks for number, reason in block.problems.items()}
        values = values.reshape(len(values), *self.spec.shape)
        return FedInputs(values, blocks[0].texts, dict(unknown), dict(missing), problems=problems)

    # ----- sequences -----

    def sequences(self, values: np.ndarray, lengths: np.ndarray | None = None) -> FedInputs:
        """One sequence or several, as :func:`engine.training.exporting.raw_sequences.as_fed` takes them."""
        made, padded = as_fed(self.spec, values, lengths)
        return FedInputs(made, padded=0 if self.spec.masked else padded)

    # ----- files -----

    def file(self, path: Path, only: int | None = None) -> FedInputs:
        """All samples in a CSV file, or in the array of an NPY or NPZ file that fits.

        Args:
            only: the sample of this number alone.

        Raises:
            DataError, FormatError: they don't fit; says why. OSError.
        """
        if path.suffix.lower() not in (".npy", ".npz"):
            return self.csv(path, only=only)
        take = self.listed if self.is_table else self.sequences
        problem: DataError | None = None
        for arrays in stored_arrays(path, lengths=not self.is_table):
            try:
                return self._with_labels(take(*arrays), path).chosen(only)
            except DataError as error:
                problem = problem or error
        raise DataError(f"{path}: {problem}")

    def _with_labels(self, found: FedInputs, path: Path) -> FedInputs:
        """With the labels of the file, where it has one for each sample."""
        count = 1 if self.spec.task == "classes" else len(self.spec.targets)
        labels = stored_labels(path)
        if labels is None or labels.size != len(found) * count:
            return found
        rows = labels.reshape(len(found), count).tolist()
        return replace(found, answers=[self._answer(row) for row in rows])

    # ----- what people see -----

    def value_of(self, column: Column, text: str, commas: bool = False) -> str | float | None:
        """The value that a text of a column stands for: a word or date as it is, "" for one that is not
        known, a number; None for a missing one."""
        text = text.strip()
        if column.words:
            return text if text in column.words else ""
        if column.type == "date":
            return text
        value = as_number(text, commas)
        return None if math.isnan(value) else value

    def steps_of(self, values: np.ndarray) -> np.ndarray:
        """The steps [steps, values] of a sequence as it is fed, without mask and padding."""
        steps = values.reshape(self.spec.shape[0], -1)
        return steps[steps[:, -1] == 1, :-1] if self.spec.masked else steps

    def numbers(self, outputs: np.ndarray) -> tuple[tuple[str, float, str], ...]:
        """Of a model that predicts numbers: the name, value and unit of each, of one sample.

        Raises:
            FormatError: the model gives another number of values.
        """
        values = np.asarray(outputs, np.float64).reshape(-1)
        if len(values) != len(self.spec.targets):
            raise FormatError(
                f"the model gives {len(values)} numbers for {len(self.spec.targets)} targets: "
                f"{', '.join(self.spec.targets[:_SHOWN])}; export it again"
            )
        units = {column.name: column.unit for column in self.spec.columns}
        return tuple(
            (name, float(value), units.get(name, ""))
            for name, value in zip(self.spec.targets, values, strict=True)
        )


def without_unit(name: str, unit: str) -> str:
    """The name of a column without its unit in brackets at the end: ``size`` of ``size (m2)``."""
    bare = name.rstrip().removesuffix(f"({unit})").removesuffix(f"[{unit}]").rstrip()
    return bare if unit and bare else name


def _lines_of(path: Path, text: str | None, names: Sequence[str]) -> tuple[CsvLines, bool]:
    """The lines of a file, and whether it has a single row without a header."""
    if text is None:
        with open_regular(path) as file:
            head = file.readline(), file.readline(), file.readline()
            single = not any(line.strip() for line in head[1:]) and not file.read(1)
        alone = head[0].decode("utf-8-sig", "replace") if single else ""
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        alone = lines[0] if len(lines) == 1 else ""
    if alone.strip():
        # Twice: a table has two lines at least.
        doubled = CsvLines(path, False, names, f"{alone.strip()}\n{alone.strip()}\n", narrowest=1)
        if doubled.header:
            raise FormatError(f"{path}: there are no rows below the header; give some")
        return doubled, True
    return CsvLines(path, False, names, text, narrowest=1), False


def _numbers(lines: CsvLines, once: bool) -> np.ndarray:
    """All numbers of a file, float32 [rows, columns]."""
    columns = [(place, Column(name, "input", "number")) for place, name in enumerate(lines.names)]
    parser = RowParser(str(lines.path), columns, lines.commas)
    blocks = [
        parser.parse(block.rows, range(block.first, block.first + len(block.rows)))
        for block in lines.blocks()
    ]
    if not blocks:
        raise FormatError(f"{lines.path}: there are no rows below the header; give some")
    found = np.concatenate(blocks)
    return found[:1] if once else found
