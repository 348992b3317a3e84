"""Fields of settings that a suggestion chooses: they say what it is, as far as that is known, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject

from resources.settings import RUN_SETTINGS, SUGGESTED
from resources.words import shown
from studio.session.train.run_settings import RunSettings
from studio.session.train.suggest.choice_view import ChoiceView, value_words
from studio.windows.setting_fields import as_shown, help_of
from widgets.param_form import ParamForm


def show_fields(
    form: ParamForm,
    names: Iterable[str],
    settings: RunSettings,
    expected: Sequence[ChoiceView] | None,
    where: QObject,
) -> None:
    """Show settings in their fields: those that are open empty, ``auto: 0.003``, with the reason where the
    pointer rests.

    Args:
        expected: what would be suggested; None while that is not known.
        where: translates.
    """
    choices = {each.setting: each for each in expected or ()}
    for name in names:
        setting, value = RUN_SETTINGS[name], getattr(settings, name)
        if name in SUGGESTED:
            words, help_text = None, help_of(setting, where.tr)
            if settings.network == "auto":
                found = choices.get(name) if settings.is_open(name) else None
                words = where.tr("auto")
                if found is not None:
                    words = where.tr("auto: {0}").format(shown(found.text))
                    reason = where.tr("Suggested: {0}").format(shown(found.reason))
                    help_text = f"{help_text}\n{reason}"
                elif expected is not None and settings.is_open(name):
                    words = where.tr("auto: {0}").format(shown(value_words(name, value)))
            form.set_automatic(name, words, help_text)
            if settings.is_open(name):
                form.set_value(name, None)
                continue
        if setting.kind != "choice" or not setting.problem(value):
            form.set_value(name, as_shown(value))
