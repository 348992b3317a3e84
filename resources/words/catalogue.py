"""A language's texts in memory: one lookup, whatever the class that asks; faulty entries are left out."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from resources.regular_files import read_regular_text
from resources.without_collections import without_collections
from resources.words.checks import problem_of
from resources.words.messages import Messages
from resources.words.po_file import Entry, PoFile, read_po

FOLDER = Path(__file__).parent
MAX_BYTES = 8_000_000
# The files whose texts are recognised with their values in them.
MESSAGE_FOLDERS = ("engine/", "studio/session/", "resources/")
_TEMPLATE = re.compile(r"[^{}]*(?:(?:\{\{|\}\}|\{\d+(?::[^{}]*)?\})[^{}]*)*").fullmatch
_log = logging.getLogger(__name__)
_read: dict[str, tuple[tuple[Path, int, int, int], Catalogue]] = {}  # by language, with the file's state


def read_catalogue(language: str, folder: Path = FOLDER) -> Catalogue | None:
    """The catalogue of a language; None where its file can't be read. Faults are one line in the log.

    It is kept, since a switch back and forth would read it each time; a changed file is read again.
    """
    path = folder / f"{language}.po"
    try:
        state = path.stat()
        key = (path, state.st_ino, state.st_size, state.st_mtime_ns)
        known = _read.get(language)
        if known is not None and known[0] == key:
            return known[1]
        # A damaged byte becomes U+FFFD, for which its entry is refused.
        text = read_regular_text(path, MAX_BYTES, errors="replace")
    except OSError as error:
        _log.warning("%s: no translations: %s", path.name, error)
        return None
    with without_collections():
        catalogue = catalogue_of(read_po(text), path.name)
    _read[language] = key, catalogue
    return catalogue


def catalogue_of(file: PoFile, name: str = "") -> Catalogue:
    """The catalogue of a file's entries; what is wrong with it is logged in one line, with its ``name``."""
    problems = list(file.problems)
    good = []
    for entry in file.entries:
        if entry.translated and not entry.unused:
            problem = entry_problem(entry)
            if problem:
                problems.append(f"line {entry.line}: the translation {problem}")
            else:
                good.append(entry)
    choose, problem = _plural_rule(file.header.get("Plural-Forms", ""))
    problems += [problem] if problem else []
    if problems:
        faults = "1 fault" if len(problems) == 1 else f"{len(problems)} faults"
        _log.warning("%s: %s; English is shown for them; %s", name, faults, problems[0])
    elif not good:
        _log.warning("%s: it has no translation: English is shown", name)
    return Catalogue(good, choose)


def entry_problem(entry: Entry) -> str:
    """What is wrong with the translation of an entry; empty where nothing is."""
    source = entry.plural or entry.text
    for form in entry.forms:
        problem = problem_of(source, form, may_omit=bool(entry.plural))
        if problem:
            return problem
    return ""


class Catalogue:
    """Translations by text, and for the few with two meanings by text and context.

    Args:
        choose: the index of the plural form for a number.
    """

    def __init__(self, entries: Iterable[Entry], choose: Callable[[int], int] = lambda number: 0) -> None:
        self._texts: dict[str, str] = {}
        self._in_context: dict[tuple[str, str], str] = {}
        self._plurals: dict[tuple[str, str, str], list[str]] = {}
        self._choose = choose
        self._templates: list[tuple[str, str]] = []
        for entry in entries:
            if entry.plural:
                self._plurals[entry.key] = entry.forms
            elif entry.context:
                self._in_context[entry.text, entry.context] = entry.forms[0]
            else:
                self._texts[entry.text] = entry.forms[0]
                if "{0" in entry.text and any(file.startswith(MESSAGE_FOLDERS) for file in entry.files):
                    if _TEMPLATE(entry.text):
                        self._templates.append((entry.text, entry.forms[0]))

    def find(self, text: str, context: str = "") -> str | None:
        """The translation of a text; None where there is none. A context that is not known is ignored."""
        if context:
            found = self._in_context.get((text, context))
            if found is not None:
                return found
        return self._texts.get(text)

    def find_plural(self, one: str, many: str, number: int, context: str = "") -> str | None:
        """The translation that fits ``number``; None where there is none."""
        forms = self._plurals.get((one, many, context))
        if forms is None and context:
            forms = self._plurals.get((one, many, ""))
        if forms is None:
            return None
        try:
            index = self._choose(abs(number))
        except ZeroDivisionError:
            return None
        return forms[index] if 0 <= index < len(forms) else None

    def message(self, message: str) -> str:
        """A message with its parts translated, as far as its templates are known; else as it is."""
        return self._messages.shown(message)

    def prepare(self) -> None:
        """Make what the first message needs."""
        self.message("")

    @cached_property
    def _messages(self) -> Messages:
        return Messages(self._texts, self._templates)


def _plural_rule(header: str) -> tuple[Callable[[int], int], str]:
    """The rule of ``nplurals=2; plural=(n != 1);``, and what is wrong with it."""
    rule = header.partition("plural=")[2].strip().rstrip(";").strip()
    if rule in ("", "0"):
        return (lambda number: 0), ""
    from gettext import c2py  # parses the expression and refuses every other

    try:
        return c2py(rule), ""
    except (ValueError, RecursionError, OverflowError) as error:
        return (lambda number: 0), f"Plural-Forms: {error}"
