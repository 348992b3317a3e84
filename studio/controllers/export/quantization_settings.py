"""What is chosen of a quantization on the page Export: the forms write the view model."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from resources.settings.quantize import METHOD
from studio.controllers.bindings import Bindings
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.session import Session
from studio.windows.export.export_page import FILES, ExportPage


class QuantizeChoicesController(QObject):
    """Joins ``session.export.choices`` to the card Quantization and to the choice that unfolds it."""

    def __init__(self, session: Session, page: ExportPage) -> None:
        super().__init__(page)
        self._view, self._page = session.export, page
        self._bonds = Bindings()
        self._silent = False
        page.form.changed.connect(self._method_edited)
        page.quantize.changed.connect(self._edited)
        self._bonds.show(self._view, "choices", self._show)

    def unfold(self, field: str = "") -> None:
        """Show the choices, with quantization after training where none is chosen, and go to ``field``."""
        self._page.show_view(FILES)
        if field == METHOD.name:
            self._page.form.control("quantize").setFocus()
            return
        if not self._view.choices.wanted:
            self._view.choose(method="post_training")
        control = (
            self._page.quantize.form_of(field).control(field)
            if field
            else self._page.form.control("quantize")
        )
        control.setFocus()

    def _method_edited(self, key: str, value: Any) -> None:
        if key == "quantize" and not self._silent:
            self._view.choose(method=str(value))

    def _edited(self, name: str, value: Any) -> None:
        if not self._silent:
            self._view.choose(**{name: value})

    def _show(self, choices: QuantizeChoices) -> None:
        self._silent = True
        self._page.form.set_value("quantize", choices.method)
        self._page.quantize.show_choices(choices)
        self._page.show_quantizing(choices.wanted)
        self._silent = False

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
