"""Brings a catalogue up to date with the collected texts, and takes translations into it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docs.words.collecting import Key
from resources.words.catalogue import FOLDER, entry_problem
from resources.words.languages import ENGLISH, LANGUAGES
from resources.words.po_file import Entry, PoFile, po_text, read_po

HEAD = """\
# Translations of the texts of Model Studio. CONTRIBUTING.md says how to change them;
# python -m docs.words brings this file up to date.
#
"""
HEADER = {"MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8"}
# Both sides of a conflict in git; between them the common source, where git is asked for it.
_CONFLICT = re.compile(
    r"^<{7} [^\n]*\n(.*?)(?:^\|{7}[^\n]*\n.*?)?^={7}\n(.*?)^>{7} [^\n]*\n", re.MULTILINE | re.DOTALL
)


@dataclass
class Change:
    """What an update does: texts that the catalogue lacked, and those that no source has."""

    absent: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def catalogue_files() -> dict[str, Path]:
    """The file of each language with a catalogue."""
    return {name: FOLDER / f"{name}.po" for name in LANGUAGES if name != ENGLISH}


def updated(
    file: PoFile, texts: Mapping[Key, Collection[str]], messages: Mapping[str, Collection[str]]
) -> Change:
    """Bring the entries of ``file`` up to date.

    Args:
        texts: the texts that the catalogue must have.
        messages: those that it may have; only translated ones stay in it.
    """
    change, known = Change(), {entry.key: entry for entry in file.entries}
    for key, files in texts.items():
        if key not in known or known[key].unused:
            change.absent.append(key[0])
        entry = known.setdefault(key, Entry(key[0], plural=key[1], context=key[2]))
        entry.files, entry.unused = tuple(sorted(files)), False
    for key, entry in known.items():
        if key in texts:
            if key[0] in messages and not any(key[1:]):
                entry.files = tuple(sorted({*entry.files, *messages[key[0]]}))
        elif key[0] in messages and not any(key[1:]) and entry.translated:
            entry.files, entry.unused = tuple(sorted(messages[key[0]])), False
        elif not entry.unused:
            change.unused.append(key[0])
            entry.unused = True
    file.entries = [entry for entry in known.values() if entry.translated or not entry.unused]
    return change


def take(file: PoFile, translations: Mapping[str, str], messages: Mapping[str, Collection[str]]) -> list[str]:
    """Put translations of English texts into ``file``; returns the problems of those that are not taken.

    A text with a context is named ``context|text``.
    """
    problems = []
    known = {(entry.text, entry.context): entry for entry in file.entries if not entry.plural}
    for name, translation in translations.items():
        if not translation:
            continue
        context, bar, text = name.partition("|")
        entry = known.get((name, "")) or (known.get((text, context)) if bar else None)
        if entry is None and name in messages:
            entry = Entry(name)
            file.entries.append(entry)
        if entry is None:
            problems.append(f"no such text: {name}")
            continue
        before, entry.forms = entry.forms, [translation]
        problem = entry_problem(entry)
        if problem:
            entry.forms = before
            problems.append(f"{problem}: {name} -> {translation[:200]}")
    return problems


def translations_of(path: Path) -> dict[str, str]:
    """The translations in a JSON or PO file by their names, as ``take`` takes them."""
    if path.suffix != ".po":
        return dict(json.loads(path.read_text(encoding="utf-8")))
    entries = [entry for entry in read(path).entries if entry.translated and not entry.plural]
    return {f"{each.context}|{each.text}" if each.context else each.text: each.forms[0] for each in entries}


def read(path: Path) -> PoFile:
    """The entries of a catalogue; without a file those of an empty one.

    Where git has left both sides of a conflict in it, those of both.
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not _CONFLICT.search(text):
        return read_po(text)
    ours, theirs = (read_po(_CONFLICT.sub(rf"\{side}", text)) for side in (1, 2))
    known = {entry.key: entry for entry in ours.entries}
    for entry in theirs.entries:
        if not known.setdefault(entry.key, entry).translated:
            known[entry.key].forms = entry.forms
    ours.entries = list(known.values())
    return ours


def text_of(file: PoFile, language: str) -> str:
    """The whole text of a catalogue."""
    header = {"Language": language, "Plural-Forms": "nplurals=1; plural=0;", **HEADER} | file.header
    return po_text(header, file.entries, HEAD)
