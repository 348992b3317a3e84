"""The card of the page Export with what is chosen of a quantization."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit

from studio.session.export.quantization.choices import (
    ALGORITHMS,
    FEWEST_BITS,
    MOST_BITS,
    MOST_EPOCHS,
    MOST_SAMPLES,
    SETTINGS,
    WEIGHT_TYPES,
    QuantizeChoices,
)
from widgets import theme
from widgets.cards import Card
from widgets.labels import mute
from widgets.param_form import Field, ParamForm
from widgets.retranslated import Retranslated

NUMBERS_AND_CHOICES = ("algo", "samples", "epochs", "weight_bits", "activation_bits", "weight_type")


class QuantizeCard(Retranslated, Card):
    """Two forms side by side. ``changed`` carries the name and the value of what was edited (texts as they
    were typed), ``validity_changed`` comes when something is wrong or no longer so."""

    changed = Signal(str, object)
    validity_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        usual = QuantizeChoices()
        bits = {"minimum": FEWEST_BITS, "maximum": MOST_BITS}
        self.how = ParamForm(
            [
                Field("algo", "", "choice", usual.algo, choices=ALGORITHMS),
                Field("samples", "", "int", usual.samples, minimum=1, maximum=MOST_SAMPLES),
                Field("epochs", "", "int", usual.epochs, minimum=1, maximum=MOST_EPOCHS),
                Field("target_drop", "", "text", ""),
            ]
        )
        self.what = ParamForm(
            [
                Field("weight_bits", "", "int", usual.weight_bits, **bits),
                Field("activation_bits", "", "int", usual.activation_bits, **bits),
                Field("weight_type", "", "choice", usual.weight_type, choices=WEIGHT_TYPES),
                Field("skip", "", "text", ""),
            ]
        )
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
        self._choices = usual
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
        return self.how if name in self.how.keys() else self.what  # noqa: SIM118  (a form is no mapping)

    def show_choices(self, choices: QuantizeChoices) -> None:
        """Show what is chosen; what is typed in a line that has the focus stays as it is."""
        values = choices.as_dict()
        for name in NUMBERS_AND_CHOICES:
            self.form_of(name).set_value(name, values[name])
        target = "" if choices.target_drop is None else f"{choices.target_drop:g}"
        for name, text in (("skip", ", ".join(choices.skip)), ("target_drop", target)):
            form = self.form_of(name)
            if not form.control(name).hasFocus() and name not in form.errors():
                form.set_value(name, text)
        self._choices = choices
        for name in SETTINGS:
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
                "The network is trained on with quantized weights and values, which takes "
                "as long as training."
            )
            if self._choices.trains
            else self.tr(
                "Smaller files. What accuracy is lost, and whether they are faster or slower, is measured."
            )
        )

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for name, (title, help_text) in SETTINGS.items():
            self.form_of(name).set_text(name, self.tr(title), self.tr(help_text))
        types = tuple((value, self.tr(word)) for value, word in WEIGHT_TYPES)
        self.what.set_choices("weight_type", types)
        for name, words in (("skip", self.tr("none")), ("target_drop", self.tr("no target"))):
            line = self.form_of(name).control(name)
            assert isinstance(line, QLineEdit)
            line.setPlaceholderText(words)
        self._say()
