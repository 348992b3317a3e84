"""Translates the pages of the guide that are made of lists and tables, one text after the other.

A text is a heading, a paragraph, an item of a list or a cell of a table; code stays as it is. The
translations are in ``docs/listed_pages.LANGUAGE.po``, a text without one stays English.
``python -m docs.guide_pages`` writes the pages and brings the PO file up to date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from resources.help_pages import guide_folder, page_text, stamp, translation
from resources.words.languages import ENGLISH
from resources.words.po_file import Entry, PoFile, po_text, read_po

LISTED = ("exit-codes.md", "paddle-scripts.md")
HEAD = """\
# Translations of the guide's pages that are made of lists and tables, text by text.
# python -m docs.guide_pages brings this file up to date and writes the pages.
#
"""
_BEGIN = re.compile(r"(?P<begin>(?P<heading>#+ )| *- )(?P<text>.*)")
_CELL = re.compile(r"(?<!\\)\|")


def po_path(language: str) -> Path:
    """The file with the translations."""
    return guide_folder().parent / f"listed_pages.{language}.po"


def read(language: str) -> PoFile:
    """The translations, with those of texts that no page has any more."""
    path = po_path(language)
    return read_po(path.read_text(encoding="utf-8")) if path.is_file() else PoFile()


def translated(page: str, tr: Callable[[str], str]) -> str:
    """A page of Markdown with ``tr`` of each of its texts, each in one line."""
    lines: list[str] = []
    text: list[str] = []  # of what the last line of ``lines`` begins
    fenced = False
    for line in [*page.splitlines(), ""]:
        begin = _BEGIN.fullmatch(line)
        if (fenced or not line or begin or line.startswith(("|", "```"))) and text:
            lines[-1] += tr(" ".join(text))
            text = []
        if line.startswith("```"):
            fenced = not fenced
            lines.append(line)
        elif fenced or not line:
            lines.append(line)
        elif line.startswith("|"):
            lines.append(_row(line, tr))
        elif begin and begin["heading"]:
            lines.append(begin["heading"] + tr(begin["text"]))
        elif begin:
            lines.append(begin["begin"])
            text = [begin["text"].strip()]
        elif text:
            text.append(line.strip())
        else:
            lines.append("")
            text = [line.strip()]
    return "\n".join(lines)


def _row(line: str, tr: Callable[[str], str]) -> str:
    cells = [cell.strip() for cell in _CELL.split(line)[1:-1]]
    return (
        "|" + "|".join(f" {tr(cell) if _has_words(cell) else cell} " if cell else " " for cell in cells) + "|"
    )


def _has_words(cell: str) -> bool:
    return re.search("[A-Za-z]", re.sub("`[^`]*`", "", cell)) is not None


def texts(page: str) -> list[str]:
    """The texts of a page, in its order."""
    found: list[str] = []

    def taken(text: str) -> str:
        found.append(text)
        return text

    translated(page, taken)
    return found


def page(file: str, language: str) -> str:
    """A page as it is now, in ``language``."""
    known = {entry.text: entry.forms[0] for entry in read(language).entries if entry.translated}
    english = page_text(file, ENGLISH)
    return f"{stamp(file)}\n{translated(english, lambda text: known.get(text, text))}"


def write(language: str) -> None:
    """Bring the PO file up to date with the texts of the pages, and write the pages."""
    file = read(language)
    known = {entry.text: entry for entry in file.entries}
    for entry in known.values():
        entry.unused, entry.files = True, ()
    for name in LISTED:
        for text in texts(page_text(name, ENGLISH)):
            entry = known.setdefault(text, Entry(text))
            entry.unused, entry.files = False, tuple(sorted({*entry.files, name}))
    entries = [entry for entry in known.values() if entry.translated or not entry.unused]
    header = {"Language": language, "MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8"}
    po_path(language).write_text(po_text(header | file.header, entries, HEAD), encoding="utf-8")
    for name in LISTED:
        translation(name, language).write_text(page(name, language), encoding="utf-8")


def share(language: str) -> tuple[int, int]:
    """How many texts have a translation, and how many there are."""
    entries = [entry for entry in read(language).entries if not entry.unused]
    return sum(entry.translated for entry in entries), len(entries)
