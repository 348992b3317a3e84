"""The inputs of the page Predict: what is drawn, dropped, pasted or typed, fitted and shown as it is fed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog

from resources.regular_files import open_regular_text
from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.controllers.graph.graph_controller import shape_text
from studio.controllers.predict.placing_texts import placing_help, placing_words
from studio.controllers.predict.raw_inputs import RawInputsController
from studio.controllers.predict.scaling_text import scaling_text
from studio.session.predict.digit_images import (
    ImageError,
    bright_on_dark,
    read_file,
    read_grey,
)
from studio.session.predict.image_fitting import placed, placings_of, read_for
from studio.session.predict.model_input import ModelInput, first_numbers, numbers_in
from studio.session.problem_view import problem_from_message
from studio.session.project.dropped_files import IMAGE_SUFFIXES
from studio.session.session import Session
from studio.windows.predict.input_editors import ImageInput, NumbersInput, UnsupportedInput
from studio.windows.predict.predict_page import PredictPage
from widgets import theme

IMAGES = "*.png *.jpg *.jpeg *.bmp *.gif *.tif *.tiff *.webp *.ppm *.pgm"
TABLES = "*.csv *.tsv *.txt"
ROW_FILES = (".csv", ".tsv", ".txt", ".npz", ".npy")
ARRAYS = "*.npz *.npy"
MOST_TEXT = 10_000_000  # characters that are pasted or read from a file

T = TypeVar("T")


@dataclass(frozen=True)
class _Given:
    """An image as it was given: fitted to what the model takes, unless it is a ``sample``."""

    values: NDArray[np.float32]
    drawn: bool
    origin: Callable[[], str]
    sample: bool = False


class InputsController(QObject):
    """Makes an editor for each input of the model, and gives what is put into them to the session."""

    def __init__(self, session: Session, page: PredictPage, predict_all: Callable[[str], None]) -> None:
        super().__init__(page)
        self._session, self._page = session, page
        self.raw = RawInputsController(session, page, self._read, predict_all)
        self._view = session.predict
        self._given: dict[int, _Given] = {}
        self._placings: dict[int, str] = {}
        self._bonds = Bindings()
        page.drawn.connect(self._drawn)
        page.file_given.connect(self._open)
        page.data_given.connect(lambda place, data: self._use(place, bytes(data), ""))
        page.open_requested.connect(self._choose_file)
        page.numbers_given.connect(self._numbers_given)
        page.text_given.connect(self._text_given)
        page.numbers_refused.connect(self._numbers_refused)
        page.cleared.connect(self._cleared)
        page.placing_chosen.connect(self._placing_chosen)
        page.input_chosen.connect(lambda _: self._show_fed())
        self._bonds.follow(self._view.events.inputs, self._show_inputs)
        self._show_inputs(self._view.inputs)
        self._bonds.again(self._say_again)
        self._bonds.follow(self._view.events.fed, lambda _: self._show_fed())
        self._bonds.follow(self._view.events.model, lambda _: self._show_fed())
        self._bonds.follow(session.project_opened, self._project_opened)

    def _say_again(self) -> None:
        """Show words in another language; what was put in stays."""
        for place, (editor, asked) in enumerate(zip(self._page.editors, self._view.inputs, strict=True)):
            if isinstance(editor, UnsupportedInput):
                editor.line.setText(shown(asked.why_not))
            elif asked.raw is not None:
                self.raw.say_again(place, asked)
        self._show_fed()

    def _show_inputs(self, inputs: tuple[ModelInput, ...]) -> None:
        """Other editors; what lay on the first pad comes along where the first input is an image again."""
        before = self._given.get(0)
        self._given.clear()
        self._placings.clear()
        self.raw.forget_files()
        self._page.set_inputs(
            [(each.form, shown(each.why_not)) for each in inputs], [each.name for each in inputs]
        )
        # A single image is opened by the window, whatever page is shown.
        images = IMAGE_SUFFIXES if len(inputs) > 1 else ()
        self._page.endings = [ROW_FILES if each.raw is not None else images for each in inputs]
        for place, asked in enumerate(inputs):
            if asked.raw is not None:
                self.raw.begin(place, asked)
            elif asked.form == "numbers":
                self._zeros(place)
        if before is not None and inputs[0].form in ("digit", "picture"):
            before = replace(before, sample=False)
            self._show_on_pad(0, before)
            self._feed(0, before)
        self._show_fed()

    def _project_opened(self) -> None:
        """What was drawn or typed belongs to the project that was open before."""
        self._given.clear()
        for place in range(len(self._view.inputs)):
            self._session.predict_models.clear(place)
        self._show_inputs(self._view.inputs)

    # ----- images -----

    def _asked(self, place: int) -> ModelInput:
        return self._view.inputs[place]

    def _image_input(self, place: int) -> ImageInput:
        editor = self._page.editors[place]
        assert isinstance(editor, ImageInput)
        return editor

    def _drawn(self, place: int, drawing: NDArray[np.float32]) -> None:
        editor = self._image_input(place)
        empty = not drawing.any()
        editor.undo_button.setEnabled(editor.pad.can_undo())
        editor.clear_button.setEnabled(not empty)
        if empty:
            self._given.pop(place, None)
            self._session.predict_models.clear(place)
            return
        self._feed(place, _Given(drawing, drawing.ndim == 2, lambda: self.tr("drawing")))

    def draw(self, drawing: NDArray[np.float32]) -> None:
        """Feed a drawing of another pad to the first image input, and show it on this one's."""
        if self._view.inputs[0].form in ("digit", "picture"):
            self._show_on_pad(0, _Given(drawing, True, str))
            self._drawn(0, drawing)

    def open_image(self, path: str) -> None:
        """Feed an image file to the first image input; errors are shown."""
        place = next(
            (n for n, each in enumerate(self._view.inputs) if each.form in ("digit", "picture")), None
        )
        if place is None:
            self._tell(self.tr("{0}: the model takes no image; load one that does").format(path))
        else:
            self._open(place, path)

    def _open(self, place: int, path: str) -> None:
        if self._asked(place).raw is not None:
            self.raw.drop(place, self._asked(place), path)
            return
        model = self._view.model

        def take(data: bytes) -> None:
            if self._view.model is not model:
                return  # another one was loaded meanwhile
            if model is not None and not model.choice.of_run:
                self._session.script.predicted(model.prefix, str(Path(path).absolute()))
            self._use(place, data, path)

        self._read(lambda: read_file(Path(path)), take, lambda error: self._tell(str(error)))

    def _read(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[Exception], object],
        errors: tuple[type[Exception], ...] = (ImageError, OSError),
    ) -> None:
        """Read a file in a thread, under a busy pointer; the last one that was given counts."""

        def taken(found: T) -> None:
            self._page.unsetCursor()
            then(found)

        def refused(error: Exception) -> None:
            self._page.unsetCursor()
            failed(error)

        reading = self._session.files.reading
        reading.attempt(work, taken, refused, errors, "input")
        if reading.working:
            self._page.setCursor(Qt.CursorShape.BusyCursor)

    def _use(self, place: int, data: bytes, where: str) -> None:
        """Feed the image in ``data``; the pad stays as it is where it can't be used."""
        asked, file = self._asked(place), where
        where = where or self.tr("clipboard")
        try:
            if asked.form == "digit" and self._placing(place) == "digit":
                values = bright_on_dark(read_grey(data, where))
                given = _Given(values, True, str)
            else:
                given = _Given(read_for(asked, data, where), False, str)
            placed(given.values, asked, self._placing(place), given.drawn, where)
        except ImageError as error:
            self._tell(str(error))
            return
        height, width = given.values.shape[:2]

        def origin() -> str:
            name = Path(file).name if file else self.tr("clipboard")
            return self.tr("{0}, {1} \u00d7 {2} pixels").format(name, width, height)

        given = _Given(given.values, given.drawn, origin)
        self._show_on_pad(place, given)
        self._feed(place, given)

    def give_sample(self, inputs: Sequence[NDArray[Any]], origin: Callable[[], str]) -> str:
        """Feed a sample of data as it is, all of its inputs or only the first; says why not."""
        if len(inputs) not in (1, len(self._view.inputs)):
            return self.tr("The samples have {0} inputs, and this model takes {1}").format(
                len(inputs), len(self._view.inputs)
            )
        return next(
            filter(None, (self._give(place, values, origin) for place, values in enumerate(inputs))), ""
        )

    def _give(self, place: int, values: NDArray[Any], origin: Callable[[], str]) -> str:
        asked = self._asked(place)
        if asked.raw is not None:
            return "" if self.raw.take_sample(place, asked, values) else self._other_shape(values)
        if asked.form == "numbers":
            shape = [
                size if size != -1 else found for size, found in zip(asked.shape, values.shape, strict=False)
            ]
            if list(values.shape) != shape:
                return self._other_shape(values)
            self._numbers_editor(place).show_values(values.astype(asked.dtype))
            self._session.predict_models.ask(values.astype(asked.dtype), place)
            return ""
        colours = [asked.channels] if asked.channels > 1 else []
        if not asked.form or list(values.shape) != [asked.height, asked.width, *colours]:
            return self._other_shape(values)
        given = _Given(np.asarray(values, np.float32), True, origin, sample=True)
        self._show_on_pad(place, given)
        self._feed(place, given)
        return ""

    def _other_shape(self, values: NDArray[Any]) -> str:
        return self.tr("The samples are {0}, which this model does not accept").format(
            shape_text(list(values.shape))
        )

    def is_sample(self, place: int) -> bool:
        """Whether the input has a sample of data, as it is."""
        given = self._given.get(place)
        return given is not None and given.sample

    def origin(self, place: int) -> str:
        """Where the image of an input comes from, in words."""
        given = self._given.get(place)
        return given.origin() if given is not None else ""

    def _show_on_pad(self, place: int, given: _Given) -> None:
        editor = self._image_input(place)
        editor.pad.blockSignals(True)
        editor.pad.set_image(given.values)
        editor.pad.blockSignals(False)
        editor.show_state()

    def _feed(self, place: int, given: _Given) -> None:
        self._given[place] = given
        if given.sample:
            self._session.predict_models.ask(given.values, place)
            return
        try:
            asked, where = self._asked(place), given.origin()
            values = placed(given.values, asked, self._placing(place), given.drawn, where)
        except ImageError as error:
            self._tell(str(error))
            return
        self._session.predict_models.ask(values, place)

    def _placing(self, place: int) -> str:
        return self._placings.get(place, placings_of(self._asked(place))[0])

    def _placing_chosen(self, placing: str) -> None:
        place = self._page.current_input()
        self._placings[place] = placing
        given = self._given.get(place)
        if given is not None:
            self._feed(place, replace(given, sample=False))
        self._show_fed()

    # ----- numbers -----

    def _numbers_editor(self, place: int) -> NumbersInput:
        editor = self._page.editors[place]
        assert isinstance(editor, NumbersInput)
        return editor

    def _cleared(self, place: int) -> None:
        asked = self._asked(place)
        if asked.raw is not None:
            self.raw.clear(place, asked)
        else:
            self._zeros(place)

    def _zeros(self, place: int) -> None:
        values = first_numbers(self._asked(place))
        self._numbers_editor(place).show_values(values)
        self._session.predict_models.ask(values, place)

    def _numbers_given(self, place: int, values: NDArray[Any]) -> None:
        asked = self._asked(place)
        if asked.raw is not None:
            self.raw.take_values(place, asked, values)
            return
        self._numbers_editor(place).show_problem("")
        self._session.predict_models.ask(values, place)

    def _numbers_refused(self, place: int, text: str) -> None:
        asked = self._asked(place)
        words = self.tr("Not an integer: {0}") if asked.whole else self.tr("Not a number: {0}")
        self._numbers_editor(place).show_problem(words.format(text[:40]))

    def _text_given(self, place: int, text: str) -> None:
        if self._asked(place).raw is not None:
            self.raw.take_text(place, self._asked(place), text[:MOST_TEXT])
            return
        editor = self._numbers_editor(place)
        try:
            values = numbers_in(text[:MOST_TEXT], self._asked(place))
        except (ValueError, OverflowError) as error:
            editor.show_problem(str(error))
            return
        editor.show_values(values)
        self._session.predict_models.ask(values, place)

    # ----- files -----

    def _choose_file(self, place: int) -> None:
        asked = self._asked(place)
        numbers = asked.form not in ("digit", "picture")
        title = self.tr("Open an image")
        if numbers:
            sequence = asked.form == "sequence"
            title = self.tr("Open a sequence") if sequence else self.tr("Open a row of a table")
        tables = TABLES if asked.raw is None else f"{TABLES} {ARRAYS}"
        kinds = self.tr("Tables ({0})").format(tables) if numbers else self.tr("Images ({0})").format(IMAGES)
        path, _ = QFileDialog.getOpenFileName(self._page.window(), title, "", kinds)
        if path and asked.raw is not None:
            self.raw.take_file(place, asked, path)
        elif path and numbers:
            self.open_numbers(place, path)
        elif path:
            self._open(place, path)

    def open_numbers(self, place: int, path: str) -> None:
        """Take the numbers of a file of text: all, or of the first row where one row is what is taken."""
        model = self._view.model

        def read() -> str:
            with open_regular_text(path, encoding="utf-8-sig", errors="replace") as file:
                return file.read(MOST_TEXT)

        def take(text: str) -> None:
            if self._view.model is model:
                self._take_text(place, text)

        def failed(error: Exception) -> None:
            if self._view.model is model:
                said = error.strerror if isinstance(error, OSError) else ""
                self._numbers_editor(place).show_problem(f"{path}: {said or error}")

        self._read(read, take, failed)

    def _take_text(self, place: int, text: str) -> None:
        asked = self._asked(place)
        try:
            numbers_in(text, asked)
        except ValueError:
            # A file of many samples, one a row: the first of them.
            lines = [line for line in text.splitlines() if line.strip()]
            for line in lines[:2]:
                try:
                    numbers_in(line, asked)
                except ValueError:
                    continue
                text = line
                break
        self._text_given(place, text)

    # ----- what is fed -----

    def _show_fed(self) -> None:
        view, page = self._view, self._page
        place = min(page.current_input(), len(view.inputs) - 1)
        asked, value, given = view.inputs[place], view.fed[place], self._given.get(place)
        is_image = asked.form in ("digit", "picture")
        placings = [(key, placing_words(key, self)) for key in placings_of(asked)] if is_image else []
        page.set_placings(placings, self._placing(place) if is_image else "")
        if not is_image:
            size = f"{asked.dtype} {shape_text(list(asked.shape))}"
            steps = None
            if asked.raw is not None and asked.form == "sequence" and value is not None:
                steps = asked.raw.steps_of(value)
            row = self.raw.values(asked, value) if asked.form == "table" and value is not None else ()
            page.show_fed(None, size, self._value_rows(asked, value), steps, row)
            return
        colour = {1: self.tr("grey"), 3: self.tr("colour"), 4: self.tr("colour with alpha")}[asked.channels]
        size = self.tr("{0} \u00d7 {1}, {2}").format(asked.width, asked.height, colour)
        rows = [
            (self.tr("From"), given.origin() if given is not None and value is not None else ""),
            (self.tr("Placed"), placing_help("" if given and given.sample else self._placing(place), self)),
            *self._value_rows(asked, value),
        ]
        shown = value if value is not None else np.zeros((asked.height, asked.width), np.float32)
        page.show_fed(shown, size, rows)

    def _value_rows(self, asked: ModelInput, value: Any) -> list[tuple[str, str]]:
        rows = []
        if value is not None and np.size(value) and asked.form != "table":
            low, high, mean = (
                theme.format_number(float(part), digits=3)
                for part in (np.min(value), np.max(value), np.mean(value))
            )
            rows.append((self.tr("Values"), self.tr("{0} to {1}, mean {2}").format(low, high, mean)))
        if not asked.form:
            rows.append((self.tr("Not possible"), shown(asked.why_not)))
        if asked.raw is not None:
            rows += self.raw.notes(self._view.inputs.index(asked))
        if asked.batch > 1:
            rows.append((self.tr("Batch"), self.tr("repeated {0} times for the batch").format(asked.batch)))
        if self._view.model is not None:
            if asked.form in ("digit", "picture"):
                rows.append((self.tr("Scaling"), scaling_text(self._view.model.scaling)))
            if len(self._view.inputs) > 1:
                rows.append((self.tr("Input"), asked.name))
        return rows

    def _tell(self, message: str) -> None:
        self._session.problem.emit(problem_from_message(message, self.tr("The image can't be used")))

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
