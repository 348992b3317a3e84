"""Rows of tables and sequences on the page Predict: typed, pasted, read from files, or test samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog

from resources import quantities
from studio.controllers.predict.row_texts import column_texts
from studio.session.predict.model_input import ModelInput
from studio.session.session import Session
from studio.windows.predict.input_editors import NumbersInput
from studio.windows.predict.predict_page import PredictPage
from studio.windows.predict.row_editor import RowInput
from widgets import theme
from widgets.param_form.fields import Field, write

if TYPE_CHECKING:
    from engine.training.exporting.raw_inputs import FedInputs, RawInputs
    from engine.training.sources.spec import Column

_CLIPBOARD = Path("clipboard")
MOST_VALUES = 40  # columns of a row that are shown as they are fed
T = TypeVar("T")


class ReadFile(Protocol):
    """Reads a file in a thread: ``work``, then ``then`` or, with one of ``errors``, ``failed``."""

    def __call__(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[Exception], object],
        errors: tuple[type[Exception], ...],
    ) -> None: ...


class RawInputsController(QObject):
    """Feeds the model what an editor has, by the data that the model was trained on.

    Args:
        read: reads a file.
        predict_all: called with the path of a dropped file that has several rows.
    """

    def __init__(
        self, session: Session, page: PredictPage, read: ReadFile, predict_all: Callable[[str], None]
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._read, self._predict_all = session, page, read, predict_all
        self._fed: dict[int, FedInputs] = {}
        self._reading: dict[int, object] = {}  # a token for the file that each input waits for
        page.row_edited.connect(self._row_edited)

    def forget_files(self) -> None:
        """The inputs are others now: no file is awaited any more."""
        self._reading.clear()

    def begin(self, place: int, asked: ModelInput) -> None:
        """An empty row, or a sequence of zeros."""
        raw, editor = _raw_of(asked), self._page.editors[place]
        self._fed.pop(place, None)
        self._reading.pop(place, None)
        if not asked.form:
            return
        if isinstance(editor, RowInput):
            editor.set_fields([self._field(column, bool(raw.fills)) for column in raw.inputs])
            self._row_edited(place)
        elif raw.is_table:
            self._use(place, raw.listed([[each.fill for each in raw.inputs]]))
        else:
            self._use(place, raw.sequences(np.zeros((raw.spec.shape[0], raw.values_of_a_step))))

    def clear(self, place: int, asked: ModelInput) -> None:
        """As ``begin``, in the editor that is there."""
        editor = self._page.editors[place]
        if isinstance(editor, RowInput):
            self._show_texts(editor, _raw_of(asked), dict.fromkeys(editor.form.keys(), ""))
            self._row_edited(place)
        else:
            self.begin(place, asked)

    def say_again(self, place: int, asked: ModelInput) -> None:
        """The words of the fields in another language; what was typed stays."""
        editor, raw = self._page.editors[place], _raw_of(asked)
        if not isinstance(editor, RowInput):
            return
        for column in raw.inputs:
            field = self._field(column, bool(raw.fills))
            if field.choices:
                editor.form.set_choices(column.name, field.choices)
            else:
                editor.form.set_placeholder(column.name, field.placeholder)

    def take_text(self, place: int, asked: ModelInput, text: str) -> None:
        """Take the first row, or the sequence, of a pasted text."""
        raw = _raw_of(asked)
        self._attempt(place, lambda: raw.csv(_CLIPBOARD, text, 0 if raw.is_table else None))

    def take_values(self, place: int, asked: ModelInput, values: NDArray[Any]) -> None:
        """Feed what was typed into the table of numbers."""
        raw = _raw_of(asked)
        take = raw.listed if raw.is_table else raw.sequences
        self._attempt(place, lambda: take(values), show=False)

    def take_file(self, place: int, asked: ModelInput, path: str) -> None:
        """Take one row or sequence of a file; where it has several, the user chooses which."""
        raw = _raw_of(asked)

        def choose(found: FedInputs) -> None:
            token, number = self._reading[place], 0
            if len(found) > 1:
                number, sure = QInputDialog.getInt(
                    self._page.window(),
                    self.tr("Load row"),
                    self.tr("Row of {0}, from 0 to {1}").format(
                        Path(path).name, theme.format_number(len(found) - 1)
                    ),
                    0,
                    0,
                    len(found) - 1,
                )
                if not sure or self._reading.get(place) is not token:
                    return
            self._read_file(place, lambda: raw.file(Path(path), number), lambda fed: self._take(place, fed))

        self._read_file(place, lambda: raw.file(Path(path)), choose)

    def drop(self, place: int, asked: ModelInput, path: str) -> None:
        """Predict all rows of a dropped file; a single one is shown in the editor."""
        raw = _raw_of(asked)

        def take(found: tuple[FedInputs, bool]) -> None:
            first, has_second = found
            if has_second:
                self._predict_all(path)
            else:
                self._take(place, first)

        self._read_file(place, lambda: (raw.file(Path(path), 0), _has_second(raw, Path(path))), take)

    def _read_file(self, place: int, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Hand on what ``work`` reads, or show why it can't be read, unless the input got something else
        meanwhile."""
        from engine.core.errors import EngineError

        token = self._reading[place] = object()

        def take(found: T) -> None:
            if self._reading.get(place) is token:
                self._editor(place).show_problem("")
                then(found)

        def failed(error: Exception) -> None:
            if self._reading.get(place) is token:
                self._editor(place).show_problem(str(error))

        self._read(work, take, failed, (EngineError, OSError))

    def _take(self, place: int, fed: FedInputs) -> None:
        self._attempt(place, lambda: fed)

    def _editor(self, place: int) -> RowInput | NumbersInput:
        editor = self._page.editors[place]
        assert isinstance(editor, RowInput | NumbersInput)
        return editor

    def take_sample(self, place: int, asked: ModelInput, values: NDArray[Any]) -> bool:
        """Feed a sample of data as it is; False where its shape is another."""
        raw = _raw_of(asked)
        if tuple(values.shape) != raw.spec.shape:
            return False
        if not raw.is_table:
            self._use(place, raw.sequences(values))
            return True
        return self._attempt(place, lambda: raw.listed([_texts_of(raw, values.reshape(-1))])) is not None

    # ----- feeding -----

    def _row_edited(self, place: int) -> None:
        editor, asked = self._page.editors[place], self._session.predict.inputs[place]
        assert isinstance(editor, RowInput)
        self._reading.pop(place, None)
        editor.show_problem("")
        if not editor.form.is_valid():
            self._session.predict_models.clear(place)
            return
        raw = _raw_of(asked)
        # In the words of the form an empty text is a missing value.
        row = {key: "" if value is None else str(value) for key, value in editor.form.values().items()}
        self._fed[place] = fed = raw.named([row])
        if fed.problems and not fed.missing:
            editor.show_problem(next(iter(fed.problems.values())))
        if fed.problems:
            self._session.predict_models.clear(place)
        else:
            self._session.predict_models.ask(fed.values[0], place)

    def _attempt(self, place: int, read: Callable[[], FedInputs], show: bool = True) -> FedInputs | None:
        """What ``read`` gives, fed and shown; None where it can't be, with the reason in the editor."""
        from engine.core.errors import EngineError

        editor = self._editor(place)
        self._reading.pop(place, None)
        try:
            found = read().sound()
        except EngineError as error:
            editor.show_problem(str(error))
            return None
        editor.show_problem("")
        self._use(place, found, show)
        return found

    def _use(self, place: int, fed: FedInputs, show: bool = True) -> None:
        """Feed the first sample of ``fed``, and show it in the editor."""
        self._fed[place] = fed
        self._reading.pop(place, None)
        editor, asked = self._page.editors[place], self._session.predict.inputs[place]
        raw = _raw_of(asked)
        if isinstance(editor, RowInput):
            self._show_texts(editor, raw, fed.texts, fed.commas)
        elif isinstance(editor, NumbersInput) and show:
            editor.show_values(fed.values[0] if raw.is_table else raw.steps_of(fed.values[0]))
        self._session.predict_models.ask(fed.values[0], place)

    def _show_texts(self, editor: RowInput, raw: RawInputs, texts: Any, commas: bool = False) -> None:
        values = {each.name: raw.value_of(each, texts[each.name], commas) for each in raw.inputs}
        editor.show_row(values)

    def _field(self, column: Column, filled: bool) -> Field:
        from engine.training.exporting.raw_inputs import without_unit

        label = without_unit(column.name, column.unit)
        if column.words:
            choices = (("", self.tr("not known")), *((word, word) for word in column.words))
            return Field(column.name, label, "choice", "", choices=choices, help=column.name)
        if column.type == "date":
            return Field(column.name, label, "text", "", placeholder="2026-01-31", help=column.name)
        hint = theme.format_number(column.fill, digits=4) if filled else self.tr("required")
        return Field(
            column.name,
            label,
            "float",
            None,
            unit=column.unit,
            optional=True,
            placeholder=hint,
            help=column.name,
        )

    def values(self, asked: ModelInput, fed: NDArray[Any]) -> list[tuple[str, str]]:
        """The name of each column of a row and the number that the model is fed."""
        inputs = _raw_of(asked).inputs
        rows = column_texts(inputs[:MOST_VALUES], fed)
        more = len(inputs) - len(rows)
        return [*rows, (self.tr("{0} more").format(quantities.count(more)), "\u2026")] if more else rows

    def notes(self, place: int) -> list[tuple[str, str]]:
        """What was unknown, missing or padded in what is fed."""
        fed = self._fed.get(place)
        if fed is None:
            return []
        rows = []
        if fed.unknown:
            rows.append((self.tr("Unknown words"), ", ".join(fed.unknown)))
        if fed.missing:
            raw = _raw_of(self._session.predict.inputs[place])
            fills = {each.name: each.fill for each in raw.inputs if not each.words}
            words = [
                f"{name}: {theme.format_number(fills[name])}" if name in fills and raw.fills else name
                for name in fed.missing
            ]
            rows.append((self.tr("Missing"), ", ".join(words)))
        if fed.padded:
            rows.append((self.tr("Padded"), self.tr("with zeros, to the steps of training")))
        return rows


def _raw_of(asked: ModelInput) -> RawInputs:
    assert asked.raw is not None
    return asked.raw


def _has_second(raw: RawInputs, path: Path) -> bool:
    """Whether a file has more than one row or sequence; a large table is not read to its end."""
    from engine.core.errors import EngineError

    try:
        return len(raw.file(path, 1)) > 0
    except (EngineError, OSError):
        return False


def _texts_of(raw: RawInputs, values: NDArray[Any]) -> list[str]:
    """The values of a sample as a table has them: words instead of their indices."""
    texts = []
    for column, value in zip(raw.inputs, values, strict=True):
        if column.words:
            known = 1 <= value <= len(column.words)
            texts.append(column.words[int(value) - 1] if known else "")
        else:
            texts.append("" if np.isnan(value) else write(value))
    return texts
