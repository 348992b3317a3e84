"""Writes docs/api.md from the engine itself: ``python -m docs.api``, in the top folder.

For every name in docs/api_names.txt it looks the name up in the engine and says whether it works, differs
(the paragraph "Differs from Paddle:" of its docstring) or is absent; for the modules in docs/api_public.txt
it says which names differ and which are absent. ``--check`` only checks whether the page is current.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.core.alias import real_name
from engine.core.alias.absent import ABSENT

HERE = Path(__file__).resolve().parent
NAMES, PUBLIC, PAGE = HERE / "api_names.txt", HERE / "api_public.txt", HERE / "api.md"
MARK = "Differs from Paddle:"
HEAD = """\
# Paddle's names here

Made by `python -m docs.api` from the engine and its docstrings; not edited by hand.

A name of Paddle 2.6 is there under the same path: `paddle.X` in a script that `model-studio run` runs,
`engine.X` elsewhere. *works* means Paddle's parameters and behaviour; *differs* says how it deviates on
purpose; an *absent* name is an error that names it. Where a call recorded from Paddle 2.6.2 gives another
result here, `tests/oracle/deviations.py` has the reason.

"""
MOST_USED = """\
## The names that are used most

In order of use in public code.

"""
# Owners of names that are not classes: Paddle calls some modules like functions.
MODULES = frozenset(
    line.partition(":")[0]
    for line in PUBLIC.read_text(encoding="utf-8").splitlines()
    if not re.search(r"\.[A-Z]\w*:", line)
)
ALL = """\
## All public names, by module

"""


@dataclass(frozen=True)
class Row:
    """One name: what Paddle has there (``kind``), and how it is here."""

    name: str
    kind: str
    state: str
    note: str = ""


def names() -> list[tuple[str, str]]:
    """The listed names with their kinds: class, function, module or value."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split()) for line in lines if line and not line.startswith("#")]
    return [(name, kind) for name, kind in pairs]


def find(name: str) -> Any:
    """What the engine has under Paddle's ``name``. Raises LookupError for nothing."""
    first, *rest = real_name(name).split(".")
    found: Any = importlib.import_module(first)
    path = first
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(found, part) and isinstance(found, ModuleType):
            try:
                importlib.import_module(path)
            except ModuleNotFoundError:
                raise LookupError(name) from None
        if not hasattr(found, part):
            raise LookupError(name)
        found = getattr(found, part)
    return found


def kind_of(value: Any) -> str:
    """class, function, module or value."""
    if inspect.ismodule(value):
        return "module"
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "value"


def difference(value: Any) -> str:
    """The paragraph of the docstring that says how ``value`` differs from Paddle's, in one line."""
    if not callable(value) and not inspect.ismodule(value):
        return ""
    text = inspect.getdoc(value) or ""
    found = re.search(rf"{MARK}\s*(.+?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def row(name: str, kind: str) -> Row:
    """How the engine has ``name``."""
    try:
        value = find(name)
    except LookupError:
        return Row(name, kind, "absent")
    note = difference(value)
    return Row(name, kind, "differs" if note else "works", note)


def modules() -> list[tuple[str, list[str]]]:
    """Paddle's public modules and classes, with the names in each."""
    lines = [line for line in PUBLIC.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [(module, text.split()) for module, _, text in (line.partition(":") for line in lines)]


def page() -> str:
    """The text of docs/api.md."""
    rows = [row(name, kind) for name, kind in names()]
    lines = [_counted(rows), "", "| name | here | how it differs |", "|---|---|---|"]
    lines += [f"| `{each.name}` | {each.state} | {_cell(each.note)} |" for each in rows]
    most = MOST_USED + "\n".join(lines) + "\n\n"
    everything: list[Row] = []
    tables = {"module": ["| module | there | absent |"], "class": ["| class | there | absent |"]}
    complete = 0
    for owner, members in modules():
        found = [row(f"{owner}.{name}", "") for name in members]
        everything += found
        there = [each for each in found if each.state != "absent"]
        kind = "module" if owner in MODULES else "class"
        if kind == "class" and len(there) == len(found):
            complete += 1
            continue
        absent = " ".join(f"`{each.name.rpartition('.')[2]}`" for each in found if each.state == "absent")
        tables[kind].append(f"| `{owner}` | {len(there)} of {len(found)} | {absent if there else 'all'} |")
    lines = []
    for title, table in tables.items():
        lines += [table[0], "|---|---|---|", *table[1:], ""]
        if title == "module":
            lines += [f"The methods and properties of {complete} classes are all there. Of the others:", ""]
    differing = [each for each in everything if each.state == "differs"]
    lines.pop()
    lines += ["", "Those that differ:", "", "| name | how |", "|---|---|"]
    lines += [f"| `{each.name}` | {_cell(each.note)} |" for each in differing]
    lines += ["", "Absent on purpose:", "", "| name | why: it |", "|---|---|"]
    for module, reasons in ABSENT.items():
        lines += [f"| `{module}.{name}` | {_cell(why)} |" for name, why in reasons.items()]
    return HEAD + most + ALL + _counted(everything) + "\n\n" + "\n".join(lines) + "\n"


def _counted(rows: list[Row]) -> str:
    counts = Counter(each.state for each in rows)
    said = ", ".join(f"{counts[state]} {state}" for state in ("works", "differs", "absent"))
    return f"{len(rows)} names: {said}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` return 1 if it is not what it would write."""
    text = page()
    if arguments == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join([f"{PAGE}:", *(line for line in text.splitlines() if " names: " in line)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
