"""PO files: their entries as values, and their text. A damaged entry is reported and skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_INNER = r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"'
_STRING = re.compile(_INNER).fullmatch
# An entry of one line each, as most are: read five times as fast as line by line.
_SIMPLE = re.compile(rf"((?:#: [^\n]*\n)*)msgid {_INNER}\nmsgstr {_INNER}").fullmatch
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_SPECIAL = re.compile(r'[\\"\n\t\r]')
_WRITTEN = {value: "\\" + key for key, value in _ESCAPED.items()}
_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*")').fullmatch


@dataclass(slots=True)
class Entry:
    """One text: ``forms`` are its translations, one, or one for each plural form; empty where there is none.

    Args:
        plural: the English text for several, where the text counts something.
        files: the files that have the text.
        notes: comments of the translator and flags, as they are in the file.
        unused: kept for the case that the text returns; it translates nothing.
        line: where the entry begins in the file.
    """

    text: str
    forms: list[str] = field(default_factory=list)
    context: str = ""
    plural: str = ""
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unused: bool = False
    line: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes the entry different from all others."""
        return self.text, self.plural, self.context

    @property
    def translated(self) -> bool:
        """Whether all its forms have a text."""
        return bool(self.forms) and all(self.forms)


@dataclass
class PoFile:
    """What a file holds: its header by name, its entries, and what is wrong in it, with line numbers."""

    header: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_po(text: str) -> PoFile:
    """The entries of a PO file. Lines that are none are named in ``problems``; their entry is left out."""
    reader, number = _Reader(), 1
    for block in text.replace("\r\n", "\n").split("\n\n"):
        simple = _SIMPLE(block)
        if simple is not None and simple[2]:
            reader.add_simple(simple[1], simple[2], simple[3], number)
        else:
            for line_number, line in enumerate(block.split("\n"), number):
                reader.take(line.strip(), line_number)
            reader.end_entry()
        number += block.count("\n") + 2
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found = PoFile()
        self._known: dict[tuple[str, str, str], Entry] = {}
        self._begin()

    def _begin(self) -> None:
        self._parts: dict[str, list[str]] = {}
        self._open: list[str] | None = None
        self._files: list[str] = []
        self._notes: list[str] = []
        self._unused = False
        self._problem = ""
        self._line = 0

    def add_simple(self, files: str, text: str, form: str, number: int) -> None:
        """Add an entry of one line each."""
        names = tuple(files.replace("#:", "").split())
        text, form = _text_of(text), _text_of(form)
        self._add(Entry(text, [form] if form else [], files=names, line=number))

    def take(self, line: str, number: int) -> None:
        unused = line.startswith("#~")
        if unused:
            line = line[2:].lstrip()
        if line.startswith("#"):
            self._take_comment(line)
        elif line.startswith('"'):
            self._take_text(line, number)
        elif line:
            self._take_keyword(line, number, unused)
        elif not unused:
            self.end_entry()

    def _take_comment(self, line: str) -> None:
        if "msgstr[0]" in self._parts:
            self.end_entry()
        if line.startswith("#:"):
            self._files += line[2:].split()
        elif not line.startswith("#|"):  # the text before it changed
            self._notes.append(line)

    def _take_keyword(self, line: str, number: int, unused: bool) -> None:
        found = _KEYWORD(line)
        if found is None:
            self._wrong(number, "neither a keyword with its text nor a comment")
            return
        word = "msgstr[0]" if found[1] == "msgstr" else found[1]
        if word in ("msgctxt", "msgid") and "msgstr[0]" in self._parts:
            self.end_entry()
        if word in self._parts:
            self._wrong(number, f"{word} twice")
        self._unused = unused
        self._line = self._line or number
        self._open = self._parts.setdefault(word, [])
        self._take_text(found[2], number)

    def _take_text(self, quoted: str, number: int) -> None:
        found = _STRING(quoted)
        if found is None or self._open is None:
            self._wrong(number, "a text without its keyword" if found else "a text that is not closed")
            return
        self._open.append(_text_of(found[1]))

    def _wrong(self, number: int, what: str) -> None:
        self._problem = self._problem or f"line {number}: {what}"
        self._open = None

    def end_entry(self) -> None:
        parts, problem = self._parts, self._problem
        if not parts and not problem:
            # Comments before an empty line belong to no entry, such as the head of the file.
            if self._files or self._notes:
                self._begin()
            return
        if not problem and ("msgid" not in parts or "msgstr[0]" not in parts):
            problem = f"line {self._line}: an entry without msgid or msgstr"
        if problem:
            self.found.problems.append(problem)
        else:
            self._add_parts()
        self._begin()

    def _add_parts(self) -> None:
        parts = {name: "".join(texts) for name, texts in self._parts.items()}
        forms: list[str] = []
        while (name := f"msgstr[{len(forms)}]") in parts:
            forms.append(parts[name])
        text, context, several = parts["msgid"], parts.get("msgctxt", ""), parts.get("msgid_plural", "")
        if not text and not context:
            for line in forms[0].split("\n"):
                name, colon, value = line.partition(":")
                if colon:
                    self.found.header[name.strip()] = value.strip()
            return
        files, notes = tuple(self._files), tuple(self._notes)
        entry = Entry(
            text, forms if any(forms) else [], context, several, files, notes, self._unused, self._line
        )
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        known = self._known.setdefault(entry.key, entry)
        if known is entry:
            self.found.entries.append(entry)
        else:
            self.found.problems.append(f"line {entry.line}: a text for the second time")


def _text_of(inner: str) -> str:
    return _ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[0])


def po_text(header: dict[str, str], entries: Iterable[Entry], head: str = "") -> str:
    """The text of a PO file: entries sorted by their text, unused ones last, with an empty line between them.

    Args:
        head: comment lines at the top.
    """
    first = ['msgid ""', 'msgstr ""', *(_quoted(f"{name}: {value}\n") for name, value in header.items())]
    blocks = [head + "\n".join(first)]
    for entry in sorted(entries, key=lambda each: (each.unused, *each.key)):
        blocks.append("\n".join(_entry_lines(entry)))
    return "\n\n".join(blocks) + "\n"


def _entry_lines(entry: Entry) -> Iterable[str]:
    yield from entry.notes
    if not entry.unused:
        yield from (f"#: {file}" for file in entry.files)
    mark = "#~ " if entry.unused else ""
    if entry.context:
        yield f"{mark}msgctxt {_quoted(entry.context)}"
    yield f"{mark}msgid {_quoted(entry.text)}"
    if entry.plural:
        yield f"{mark}msgid_plural {_quoted(entry.plural)}"
        for index, form in enumerate(entry.forms or [""]):
            yield f"{mark}msgstr[{index}] {_quoted(form)}"
    else:
        yield f"{mark}msgstr {_quoted(entry.forms[0] if entry.forms else '')}"


def _quoted(text: str) -> str:
    return '"' + _SPECIAL.sub(lambda found: _WRITTEN[found[0]], text) + '"'
