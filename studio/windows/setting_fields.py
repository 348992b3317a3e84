"""The fields of a form for declared settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from resources.settings import Setting
from widgets.param_form import Field, ParamForm

_KINDS: dict[str, Any] = {"name": "choice", "device": "choice", "choice": "choice", "path": "path"}


def field_of(
    setting: Setting,
    key: str = "",
    tr: Callable[[str], str] = str,
    more: tuple[tuple[Any, str], ...] = (),
) -> Field:
    """The field that edits ``setting``.

    Args:
        key: its key in the form; the name of the setting unless given.
        tr: translates its words.
        more: further choices, after those that are declared.
    """
    kind = _KINDS.get(setting.kind, setting.kind)
    choices = (*((value, tr(title)) for value, title in setting.choices), *more)
    if setting.kind == "bool" and choices:
        kind = "choice"
    if setting.kind == "name" and not choices:
        kind = "text"
    return Field(
        key or setting.name,
        tr(setting.title),
        kind,
        as_shown(setting.default),
        minimum=setting.minimum,
        maximum=setting.maximum,
        above=setting.above,
        below=setting.below,
        choices=choices,
        help=help_of(setting, tr),
        unit=setting.unit,
        required=setting.kind == "name",
        optional=setting.optional,
        placeholder=tr(setting.empty),
    )


def retranslate_fields(
    form: ParamForm, settings: Mapping[str, Setting], tr: Callable[[str], str], prefix: str = ""
) -> None:
    """Set the words of the fields of ``settings`` anew; their keys are the names after ``prefix``."""
    for name, setting in settings.items():
        key = prefix + name
        form.set_text(key, tr(setting.title), help_of(setting, tr))
        if setting.choices:
            form.set_choices(key, tuple((value, tr(title)) for value, title in setting.choices))
        if setting.empty:
            form.set_placeholder(key, tr(setting.empty))


def help_of(setting: Setting, tr: Callable[[str], str] = str) -> str:
    """The help of a setting with the name that it has on the command line and in files."""
    return f"{tr(setting.help)} ({setting.name})"


def as_shown(value: Any) -> Any:
    """A value of a setting as the form holds it: lists as tuples."""
    return tuple(value) if isinstance(value, list) else value


def as_set(value: Any) -> Any:
    """A value of the form as settings hold it: tuples as lists, which JSON has."""
    return list(value) if isinstance(value, tuple) else value
