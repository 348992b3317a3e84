"""ParamForm: labels, editors and what is wrong with an entry, right below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from widgets import theme
from widgets.elided import ElidedLabel
from widgets.layouts import grid
from widgets.param_form.editors import ChoiceEditor, Editor, TextEditor, make_editor
from widgets.param_form.fields import Field, Problem, Value
from widgets.retranslated import Retranslated

# Of the grid for each field: its editor, what is wrong with it, and what stands below it.
LINES = 3
LABEL = 124  # pixels that a longer label keeps in a narrow panel
# Larger bounds are written with an exponent.
MOST_IN_FULL = 1e13


@dataclass
class _Row:
    field: Field
    label: QLabel
    editor: Editor
    message: QLabel
    value: Value
    problem: Problem | None = None
    error: str = ""
    depends_on: str = ""
    visible: bool = True


class ParamForm(Retranslated, QWidget):
    """A form made from fields.

    `changed(key, value)` comes when a field holds a new valid value, `validity_changed(bool)` when the form
    as a whole becomes valid or stops being so, `errors_changed` when `errors()` gives other ones. Words of
    the fields belong to the caller, who sets them anew with `set_text`.
    """

    changed = Signal(str, object)
    validity_changed = Signal(bool)
    errors_changed = Signal()

    def __init__(self, fields: Iterable[Field], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[str, _Row] = {}
        self._below: dict[str, QWidget] = {}
        self._grid = grid(self, 0, spacing=None)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        for field in fields:
            self._add(field)
        self._place()
        self._valid, self._emitted = self.is_valid(), self.errors()
        self.retranslate()

    def _add(self, field: Field, depends_on: str = "") -> None:
        if field.key in self._rows:
            raise ValueError(f"ParamForm: two fields have the key {field.key!r}")
        editor, label, message = make_editor(field), ElidedLabel(least=LABEL), QLabel()
        label.setProperty("role", "mute")
        label.setMinimumHeight(theme.CONTROL_HEIGHT)
        label.setBuddy(editor.control)
        message.setProperty("role", "bad")
        message.setFont(theme.font(theme.SECTION_PX))
        message.setWordWrap(True)
        message.setContentsMargins(0, 2, 0, theme.SPACE_S)
        message.hide()
        if depends_on:
            label.setContentsMargins(theme.SPACE_S, 0, 0, 0)
        row = _Row(field, label, editor, message, field.default, depends_on=depends_on)
        self._rows[field.key] = row
        self._check(row)
        editor.edited.connect(lambda: self._edited(row))
        self._name(row, field.label, field.help)

    def _place(self) -> None:
        """Lay the rows out in their order, and let the Tab key follow it."""
        before: QWidget | None = None
        for place, row in enumerate(self._rows.values()):
            line = LINES * place
            self._grid.addWidget(row.label, line, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(row.editor, line, 1)
            self._grid.addWidget(row.message, line + 1, 1)
            # A little room below each row, whether or not there is a message.
            self._grid.setRowMinimumHeight(line + 1, theme.SPACE_S if row.visible else 0)
            if before is not None:
                QWidget.setTabOrder(before, row.editor.control)
            before = row.editor.control
            if row.field.key in self._below:
                self._grid.addWidget(self._below[row.field.key], line + 2, 0, 1, 2)
        for line in range(LINES * len(self._rows), self._grid.rowCount()):
            self._grid.setRowMinimumHeight(line, 0)

    def set_dependents(self, key: str, fields: Iterable[Field]) -> None:
        """Show these fields, indented, right below the row of ``key``, in place of those shown there before.

        Their values begin with the defaults.
        """
        self._row(key)
        for old in [name for name, row in self._rows.items() if row.depends_on == key]:
            row = self._rows.pop(old)
            for widget in (row.label, row.editor, row.message):
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        before = list(self._rows)
        for field in fields:
            self._add(field, depends_on=key)
        added = [name for name in self._rows if name not in before]
        at = before.index(key) + 1
        self._rows = {name: self._rows[name] for name in (*before[:at], *added, *before[at:])}
        self._place()
        self._tell_validity()

    def set_below(self, key: str, widget: QWidget) -> None:
        """Let ``widget`` stand across the form right below the row of ``key``."""
        self._row(key)
        self._below[key] = widget
        self._place()

    def set_unit(self, key: str, unit: str) -> None:
        """Change the unit of a field that has one, where it is a word."""
        row = self._row(key)
        if isinstance(row.editor, TextEditor):
            row.editor.set_unit(unit)
            row.field = row.editor.field

    def _name(self, row: _Row, label: str, help_text: str) -> None:
        row.label.setText(label)
        control = row.editor.control
        control.setAccessibleName(f"{label} ({row.field.unit})" if row.field.unit else label)
        control.setToolTip(help_text)
        row.label.setToolTip(help_text)
        self._describe(row, help_text)

    def _describe(self, row: _Row, help_text: str) -> None:
        message = row.message.text()
        row.editor.control.setAccessibleDescription(f"{message}. {help_text}" if message else help_text)

    # values

    def values(self) -> dict[str, Value]:
        """All values. Raises ValueError while an entry is wrong (see `is_valid`)."""
        for key, row in self._rows.items():
            if row.problem or row.error:
                raise ValueError(f"ParamForm.values: {key}: {row.message.text()}; ask is_valid() first")
        return {key: row.value for key, row in self._rows.items()}

    def value(self, key: str) -> Value:
        """The last valid value of one field."""
        return self._row(key).value

    def set_value(self, key: str, value: Value) -> None:
        """Show a value. An invalid text stays while ``value`` is the one that the form has: what was
        typed is the user's to fix.

        Raises KeyError, and ValueError where it is not one of the choices.
        """
        row = self._row(key)
        if row.problem is None or row.value != value or type(row.value) is not type(value):
            row.editor.set_value(value)

    def drop_entry(self, key: str) -> None:
        """Replace an invalid text by the last valid value."""
        row = self._row(key)
        if row.problem is not None:
            row.editor.set_value(row.value)

    def drop_entries(self) -> None:
        """Replace all invalid texts by their last valid values."""
        for key in self._rows:
            self.drop_entry(key)

    def is_valid(self) -> bool:
        """Whether every entry is a value of its field."""
        return not any(row.problem or row.error for row in self._rows.values())

    def errors(self) -> dict[str, str]:
        """What is wrong, in words, by field."""
        return {key: row.message.text() for key, row in self._rows.items() if row.problem or row.error}

    def set_error(self, key: str, text: str) -> None:
        """Mark a field as wrong for a reason that only the caller knows (a folder without data); "" takes it
        back.

        An edit of the field takes it back as well.
        """
        row = self._row(key)
        row.error = text
        self._show(row)
        self._tell_validity()

    # what the form offers

    def set_enabled_keys(self, keys: Iterable[str]) -> None:
        """Only these fields can be edited."""
        enabled = set(keys)
        unknown = enabled - set(self._rows)
        if unknown:
            raise KeyError(
                f"ParamForm.set_enabled_keys: no such fields: {sorted(unknown)}; there are {list(self._rows)}"
            )
        for key, row in self._rows.items():
            row.editor.setEnabled(key in enabled)
            row.label.setEnabled(key in enabled)

    def set_row_visible(self, key: str, visible: bool) -> None:
        """Show or hide a field that doesn't apply now; its value stays."""
        row = self._row(key)
        row.visible = visible
        row.editor.setVisible(visible)
        row.label.setVisible(visible)
        row.message.setVisible(visible and bool(row.message.text()))
        line = LINES * list(self._rows).index(key)
        self._grid.setRowMinimumHeight(line + 1, theme.SPACE_S if visible else 0)

    def set_choices(
        self, key: str, choices: tuple[tuple[Value, str], ...], reasons: Mapping[Value, str] | None = None
    ) -> None:
        """Offer other choices, or the same in other words; the chosen one stays where it is among them.

        Those with one of the ``reasons`` are grey and say it.
        """
        row = self._row(key)
        if not isinstance(row.editor, ChoiceEditor):
            raise ValueError(f"ParamForm.set_choices: {key} is of kind {row.field.kind!r}, not 'choice'")
        row.editor.set_choices(choices, reasons or {})
        self._edited(row)

    def set_choice_colors(self, key: str, colors: Mapping[Value, int | str]) -> None:
        """Show a dot in a run's colour before some choices."""
        editor = self._row(key).editor
        if isinstance(editor, ChoiceEditor):
            editor.set_colors(colors)

    def set_text(self, key: str, label: str, help_text: str = "") -> None:
        """Change the words of a field (after a change of language)."""
        self._name(self._row(key), label, help_text)

    def set_placeholder(self, key: str, text: str) -> None:
        """Change what an empty line shows."""
        editor = self._row(key).editor
        if not isinstance(editor, TextEditor):
            raise ValueError(f"ParamForm.set_placeholder: {key} is not a line")
        editor.set_placeholder(text)

    def set_path(self, key: str, path: Literal["folder", "file"]) -> None:
        """Let the button of a path choose a folder or a file."""
        editor = self._row(key).editor
        editor.field = replace(editor.field, path=path)

    def set_automatic(self, key: str, words: str | None, help_text: str) -> None:
        """Let a field be left open: its value is then None, and ``words`` say what stands for it, such as
        ``auto: 0.003``. None ends that; the caller then gives the field a value.
        """
        row = self._row(key)
        row.editor.set_automatic(words)
        self._name(row, row.label.text(), help_text)
        self._check(row)

    def label(self, key: str) -> str:
        """The words next to a field."""
        return self._row(key).label.text()

    def keys(self) -> list[str]:
        """The keys of the fields in their order."""
        return list(self._rows)

    def control(self, key: str) -> QWidget:
        """The widget that edits a field, for focus and tests."""
        return self._row(key).editor.control

    def _row(self, key: str) -> _Row:
        if key not in self._rows:
            raise KeyError(f"ParamForm: no such field: {key!r}; there are {list(self._rows)}")
        return self._rows[key]

    # checking

    def _edited(self, row: _Row) -> None:
        row.error = ""
        old = row.value
        self._check(row)
        self._tell_validity()
        if row.problem is None and (row.value != old or type(row.value) is not type(old)):
            self.changed.emit(row.field.key, row.value)

    def _check(self, row: _Row) -> None:
        value = row.editor.value()
        if isinstance(value, Problem):
            row.problem = value
        else:
            row.problem, row.value = None, value
        self._show(row)

    def _show(self, row: _Row) -> None:
        text = self._words(row.problem) if row.problem else row.error
        row.message.setText(text)
        row.message.setVisible(bool(text) and row.visible)
        control = row.editor.control
        if bool(control.property("invalid")) != bool(text):
            control.setProperty("invalid", bool(text))
            control.style().unpolish(control)
            control.style().polish(control)
        self._describe(row, control.toolTip())

    def _tell_validity(self) -> None:
        valid = self.is_valid()
        if valid != self._valid:
            self._valid = valid
            self.validity_changed.emit(valid)
        errors = self.errors()
        if errors != self._emitted:
            self._emitted = errors
            self.errors_changed.emit()

    def _words(self, problem: Problem) -> str:
        if problem.code == "bounds":
            bounds = {name: _bound_text(bound) for name, bound in problem.bounds}
            if bounds.keys() == {"minimum", "maximum"}:
                return self.tr("Enter a number from {0} to {1}").format(bounds["minimum"], bounds["maximum"])
            words = {
                "minimum": self.tr("At least {0}"),
                "above": self.tr("Above {0}"),
                "maximum": self.tr("At most {0}"),
                "below": self.tr("Below {0}"),
            }
            return ", ".join(words[name].format(bound) for name, bound in bounds.items())
        return {
            "whole": self.tr("Enter an integer"),
            "number": self.tr("Enter a number"),
            "empty": self.tr("Must not be empty"),
            "sizes": self.tr("Enter sizes such as None, 1, 28, 28"),
            "bracket": self.tr("A bracket is not closed; enter names or patterns such as fc*"),
        }[problem.code]

    def retranslate(self) -> None:
        """Set the form's own words anew."""
        for row in self._rows.values():
            self._show(row)
            if isinstance(row.editor, TextEditor) and row.editor.browse is not None:
                row.editor.browse.setToolTip(self.tr("Choose…"))
                row.editor.browse.setAccessibleName(self.tr("Choose: {0}").format(row.label.text()))


def _bound_text(bound: float) -> str:
    """A bound as people write it: integers in full, with thin spaces between thousands."""
    whole = float(bound).is_integer() and abs(bound) < MOST_IN_FULL
    return theme.format_number(int(bound)) if whole else f"{bound:g}"
