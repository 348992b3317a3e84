"""Rows of tables and sequences on the page Predict: typed, pasted, read from files, or test samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog

from studio.session.predict.model_input import ModelInput
from studio.session.session import Session
from studio.windows.predict.input_editors import NumbersInput
from studio.windows.predict.predict_page import PredictPage
from studio.windows.predict.row_editor import RowInput
from widgets import theme
from widgets.param_form.fields import Field, write

if TYPE_CHECKING:
    from engine.training.raw_inputs import FedInputs, RawInputs
    from engine.training.sources.spec import Column

_CLIPBOARD = Path("clipboard")


class RawInputsController(QObject):
    """Feeds the model what an editor has, by the data that the model was trained on.

    Args:
        predict_all: called with the path of a dropped file that has several rows.
    """

    def __init__(self, session: Session, page: PredictPage, predict_all: Callable[[str], None]) -> None:
        super().__init__(page)
        self._session, self._page, self._predict_all = session, page, predict_all
        self._fed: dict[int, FedInputs] = {}
        page.row_edited.connect(self._row_edited)

    def begin(self, place: int, asked: ModelInput) -> None:
        """An empty row, or a sequence of zeros."""
        raw, editor = _raw_of(asked), self._page.editors[place]
        self._fed.pop(place, None)
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
        found = self._attempt(place, lambda: raw.file(Path(path)), use=False)
        if found is None:
            return
        number = 0
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
            if not sure:
                return
        self._attempt(place, lambda: raw.file(Path(path), number))

    def drop(self, place: int, asked: ModelInput, path: str) -> None:
        """Predict all rows of a dropped file; a single one is shown in the editor."""
        raw = _raw_of(asked)
        found = self._attempt(place, lambda: raw.file(Path(path), 0), use=False)
        if found is not None and _has_second(raw, Path(path)):
            self._predict_all(path)
        elif found is not None:
            self._attempt(place, lambda: found)

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

    def _attempt(
        self, place: int, read: Callable[[], FedInputs], use: bool = True, show: bool = True
    ) -> FedInputs | None:
        """What ``read`` gives, fed and shown; None where it can't be, with the reason in the editor."""
        from engine.core.errors import EngineError

        editor = self._page.editors[place]
        assert isinstance(editor, RowInput | NumbersInput)
        try:
            found = read()
            if use:
                found = found.sound()
        except (EngineError, OSError) as error:
            editor.show_problem(str(error))
            return None
        editor.show_problem("")
        if use:
            self._use(place, found, show)
        return found

    def _use(self, place: int, fed: FedInputs, show: bool = True) -> None:
        """Feed the first sample of ``fed``, and show it in the editor."""
        self._fed[place] = fed
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
        from engine.training.raw_inputs import without_unit

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
