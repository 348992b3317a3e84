"""The texts of ``--help`` in the language of the person. Errors stay English: scripts look for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from resources.words import SYSTEM, language, marked, tr, use_language
from resources.words.languages import ENGLISH

HELP_WORDS = frozenset(("-h", "--help"))
# Typer's own words, by the names that its module of help has for them.
_OF_TYPER = {
    "ARGUMENTS_PANEL_TITLE": marked("Arguments"),
    "OPTIONS_PANEL_TITLE": marked("Options"),
    "COMMANDS_PANEL_TITLE": marked("Commands"),
    "DEFAULT_STRING": marked("[default: {}]"),
    "REQUIRED_LONG_STRING": marked("[required]"),
}
_MAKE_TEXT = "_make_rich_text"  # its function for the text of a help
_OF_USAGE = (marked("Usage: "), marked("[OPTIONS]"), marked("COMMAND [ARGS]..."))  # of the first line
_HELP_OPTION = marked("Show this message and exit.")


def choose_language(words: Iterable[str]) -> None:
    """Let the language of the preferences hold, or that of the environment, if ``words`` ask for help."""
    if not HELP_WORDS.isdisjoint(words):
        use_language(_preferred())


def _preferred() -> str:
    """The language of the preferences, read without the library that checks them."""
    from resources.json_documents import DocumentError, parse
    from resources.regular_files import read_regular
    from resources.user_folders import user_folder

    try:
        found = parse(read_regular(user_folder("config", author=True) / "preferences.json"))
    except (OSError, DocumentError):
        return SYSTEM
    wanted = found.get("language") if isinstance(found, dict) else None
    return wanted if isinstance(wanted, str) else SYSTEM


def translate_help(command: Any) -> None:
    """Translate the texts of a command of click, of its options and of the commands below it."""
    if language() == ENGLISH:
        return
    import typer.rich_utils

    for name, text in _OF_TYPER.items():
        if getattr(typer.rich_utils, name, None) == text:
            setattr(typer.rich_utils, name, tr(text))
    if hasattr(typer.rich_utils, _MAKE_TEXT):
        setattr(typer.rich_utils, _MAKE_TEXT, _breaking(getattr(typer.rich_utils, _MAKE_TEXT)))
    style = getattr(typer.rich_utils, "OptionHighlighter", None)
    if style is not None and isinstance(getattr(style, "highlights", None), list):
        style.highlights = [*style.highlights, f"(?P<usage>{re.escape(tr(_OF_USAGE[0]))})"]
    _translate(command)


def _breaking(make: Callable[..., Any]) -> Callable[..., Any]:
    """Let texts without spaces be broken anywhere: rich would cut them off."""

    def made(*args: Any, **kwargs: Any) -> Any:
        text = make(*args, **kwargs)
        if hasattr(text, "overflow"):
            text.overflow = "fold"
        return text

    return made


def _translate(command: Any) -> None:
    for each in (command, *command.params):
        for name in ("help", "short_help", "epilog", "rich_help_panel"):
            text = getattr(each, name, None)
            if isinstance(text, str):
                setattr(each, name, tr(text))
    help_option = command.get_help_option

    def translated_option(context: Any) -> Any:
        option = help_option(context)
        if option is not None and option.help == _HELP_OPTION:
            option.help = tr(_HELP_OPTION)
        return option

    usage, format_help = command.get_usage, command.format_help

    def translated_usage(context: Any) -> str:
        text = str(usage(context))
        for words in _OF_USAGE:
            text = text.replace(words, tr(words), 1)
        return text

    def translated_help(context: Any, formatter: Any) -> None:
        command.get_usage = translated_usage  # only here: errors have that line, too
        try:
            format_help(context, formatter)
        finally:
            command.get_usage = usage

    command.get_help_option, command.format_help = translated_option, translated_help
    for below in getattr(command, "commands", {}).values():
        _translate(below)
