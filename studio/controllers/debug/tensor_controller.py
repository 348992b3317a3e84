"""The values of the position, and the one that the tensor view shows, with its changes."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.controllers.tensor_values import show_values
from studio.session.debug.breakpoints import ValueRow
from studio.session.debug.debugging import Debugging, Shown
from studio.windows.debug.change_dialog import ChangeDialog
from studio.windows.debug.debug_page import DebugPage


class TensorController(QObject):
    """A click on a value shows it; the view asks for what it needs, and the child answers."""

    def __init__(self, debugging: Debugging, page: DebugPage, window: QWidget) -> None:
        super().__init__(page)
        self._debugging, self._page, self._window = debugging, page, window
        self._view = debugging.view
        self._bonds = Bindings()
        tensor, values = page.tensor, page.values
        values.value_chosen.connect(self.show_value)
        values.watch_requested.connect(debugging.watch)
        values.change_requested.connect(self.change)
        page.all_values_toggled.connect(debugging.list_values)
        self._bonds.follow(self._view.events.all_values, lambda _: self._show_rows())
        ask = debugging.show_value
        tensor.image_wanted.connect(
            lambda sample, first: ask(self._name, "image", sample=sample, first=first)
        )
        tensor.histogram_wanted.connect(lambda: ask(self._name, "histogram"))
        tensor.statistics_wanted.connect(lambda: ask(self._name, "statistics"))
        tensor.block_wanted.connect(
            lambda row, rows, column, columns: ask(
                self._name, "rows", row=row, column=column, count=rows, width=columns
            )
        )
        tensor.cell_entered.connect(
            lambda index, text: debugging.change_value(self._name, "number", text, index)
        )
        self._bonds.follow(debugging.shown, self._take)
        self._bonds.follow(debugging.not_shown, lambda name, why: self._refuse(name, why))
        self._bonds.follow(self._view.events.state, lambda _: self.show_position())
        self._bonds.again(self._show_rows)
        self._bonds.again(self._say_again)
        self.show_position()

    @property
    def _name(self) -> str:
        return self._view.shown_value

    def rows(self) -> list[ValueRow]:
        """The values that are listed: of the operator, those that are watched, or all."""
        stop = self._view.stop
        if not self._view.lists_values:
            return list(stop.rows)
        named = {row.name: row for row in stop.rows}
        return [named.get(each.name, each) for each in self._view.all_values]

    def show_position(self) -> None:
        """Show the values of the position; of those the one that was found, or that was shown before."""
        view = self._view
        if view.state == "standing":
            names = {row.name for row in (*view.stop.rows, *view.all_values)}
            results = [row.name for row in view.stop.rows if row.role == "out"]
            found = view.stop.value if view.stop.reason not in ("step", "begin") else ""
            if found or self._name not in names or self._name in self._followed:
                view.shown_value = found or (results[0] if results else "")
            self._followed = set(results)
        self._show_rows()
        self._show_tensor()

    _followed: frozenset[str] | set[str] = frozenset()

    def _show_rows(self) -> None:
        self._page.values.set_rows(self.rows(), self._name)

    def _row(self, name: str) -> ValueRow | None:
        found = [row for row in (*self._view.stop.rows, *self._view.all_values) if row.name == name]
        return found[-1] if name and found else None

    def show_value(self, name: str) -> None:
        """Show a value in the tensor view, also at the next positions while it is there."""
        self._followed = frozenset()
        self._view.shown_value = name
        self._page.values.choose(name)
        self._show_tensor()

    def _show_tensor(self) -> None:
        view, tensor = self._view, self._page.tensor
        if view.state in ("running", "stopping"):
            return  # what was there stays until the next stop
        self._why = ""
        row = self._row(self._name)
        if row is not None and row.shape is not None and view.state == "standing":
            tensor.set_tensor(row.name, row.shape, row.dtype, editable=True)
        else:
            self._say_again()

    def _say_again(self) -> None:
        """Say why no tensor is shown, where none is."""
        standing, row, tensor = self._view.state == "standing", self._row(self._name), self._page.tensor
        if standing and row is not None and row.shape is None:
            tensor.clear(self.tr("{0} is not a tensor, but {1}.").format(row.name, row.dtype or "None"))
        elif self._why:
            tensor.clear(shown(self._why))
        elif standing and row is None:
            tensor.clear(self.tr("Choose a value to see its numbers."))
        elif not standing and self._view.state not in ("running", "stopping"):
            tensor.clear("")

    _why = ""

    def _refuse(self, name: str, why: str) -> None:
        if name == self._name:
            self._why = why
            self._page.tensor.clear(shown(why))

    def _take(self, found: Shown) -> None:
        self._why = ""
        show_values(self._page.tensor, found.kind, found.values)

    # ----- changes -----

    def change(self, name: str) -> None:
        """Ask how a value is to be changed."""
        row = self._row(name)
        if row is None or row.shape is None or self._view.state != "standing":
            return
        dialog = ChangeDialog(self._window, name, row.shape, row.dtype)
        dialog.chosen.connect(lambda how, text, index: self._debugging.change_value(name, how, text, index))
        dialog.open()

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
