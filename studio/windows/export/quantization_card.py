"""The card of the page Export with what is chosen of a quantization."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout

from resources.settings.quantize import QUANTIZE_FIELDS
from studio.session.export.quantization.choices import QuantizeChoices
from studio.windows.setting_fields import field_of, retranslate_fields
from widgets import theme
from widgets.cards import Card
from widgets.labels import mute
from widgets.param_form import ParamForm
from widgets.retranslated import Retranslated

# The first half of the settings is in the form on the left.
HALF = (len(QUANTIZE_FIELDS) + 1) // 2


class QuantizeCard(Retranslated, Card):
    """Two forms side by side. ``changed`` carries the name and the value of what was edited,
    ``validity_changed`` comes when something is wrong or no longer so."""

    changed = Signal(str, object)
    validity_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        fields = [field_of(setting) for setting in QUANTIZE_FIELDS.values()]
        self.how, self.what = ParamForm(fields[:HALF]), ParamForm(fields[HALF:])
        self._note = mute(wrap=True)
        self._forms = QGridLayout()
        self._forms.setHorizontalSpacing(theme.SPACE_XL)
        self._forms.setVerticalSpacing(0)
        self.body.addLayout(self._forms)
        self.body.addWidget(self._note)
        self.arrange(False)
        for form in (self.how, self.what):
            form.changed.connect(self.changed)
            form.errors_changed.connect(self.validity_changed)
        self._choices = QuantizeChoices()
        self.retranslate()

    def arrange(self, stacked: bool) -> None:
        """The two forms side by side, or one below the other where there is little room."""
        top = Qt.AlignmentFlag.AlignTop
        self._forms.addWidget(self.how, 0, 0, top)
        self._forms.addWidget(self.what, int(stacked), int(not stacked), top)
        for column in range(2):
            self._forms.setColumnStretch(column, int(not (stacked and column)))

    def form_of(self, name: str) -> ParamForm:
        """The form that has this field."""
        return self.how if name in self.how.keys() else self.what  # noqa: SIM118  (a form is not a mapping)

    def show_choices(self, choices: QuantizeChoices) -> None:
        """Show what is chosen; a text that means the same stays as it was typed."""
        values = choices.as_dict()
        for name in QUANTIZE_FIELDS:
            self.form_of(name).set_value(name, values[name])
        self._choices = choices
        for name in QUANTIZE_FIELDS:
            self.form_of(name).set_row_visible(name, choices.asks(name))
        self._say()

    def errors(self) -> dict[str, str]:
        """What is wrong, in words, by name."""
        return {
            name: words
            for name, words in {**self.how.errors(), **self.what.errors()}.items()
            if self._choices.asks(name)
        }

    def _say(self) -> None:
        self.set_title(self.tr("Quantization"), self.tr("integers in place of float32"))
        self._note.setText(
            self.tr(
                "Training continues with quantized weights and activations, which takes as long as training."
            )
            if self._choices.trains
            else self.tr("Smaller files. The export measures the loss of accuracy and the speed.")
        )

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for form in (self.how, self.what):
            retranslate_fields(form, {name: QUANTIZE_FIELDS[name] for name in form.keys()}, self.tr)  # noqa: SIM118
        self._say()
