"""Models to begin an own one from: the built-in networks, with the arguments that fit the project's data."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import resources
from resources.families import FAMILIES, ModelSpec
from resources.words import marked

DIGITS = ModelSpec("images", (1, 28, 28), 10)


@dataclass(frozen=True)
class Template:
    """A built-in network whose source becomes a file of the user's."""

    id: str
    title: str
    help: str

    def text(self, spec: ModelSpec = DIGITS) -> str:
        """The text of the new file: its class can be built without arguments for data of this ``spec``.

        For data that the network does not take, the arguments are those of the source.
        """
        family = FAMILIES[self.id]
        source = (Path(resources.folder("models")) / f"{family.file}.py").read_text(encoding="utf-8")
        arguments = family.arguments(spec) if spec.kind in family.kinds else _of_cell(self.id)
        return with_defaults(source, family.class_name, arguments)

    def class_name(self) -> str:
        """The name of the model's class in the text."""
        return FAMILIES[self.id].class_name


def _of_cell(name: str) -> dict[str, Any]:
    return {"cell": name} if FAMILIES[name].file == "recurrent" else {}


def with_defaults(source: str, class_name: str, arguments: Mapping[str, Any]) -> str:
    """``source`` with these defaults of the class's arguments in place of its own."""
    tree = ast.parse(source)
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == class_name)
    init = next(node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    names = [argument.arg for argument in init.args.args[-len(init.args.defaults) :]]
    lines = source.encode().splitlines(keepends=True)
    changes = [
        (default, arguments[name])
        for name, default in zip(names, init.args.defaults, strict=True)
        if name in arguments
    ]
    for default, value in sorted(changes, key=lambda change: -change[0].col_offset):
        line = lines[default.lineno - 1]
        written = repr(tuple(value) if isinstance(value, list) else value).encode()
        written = written.replace(b"'", b'"')
        lines[default.lineno - 1] = line[: default.col_offset] + written + line[default.end_col_offset :]
    return b"".join(lines).decode()


_HELP = {
    ("images",): marked("The built-in network for images, for you to change."),
    ("images", "table"): marked("The built-in network for images and tables, for you to change."),
    ("sequences",): marked("The built-in network for sequences, for you to change."),
}


ALL: tuple[Template, ...] = tuple(
    Template(family.name, family.title, _HELP[family.kinds]) for family in FAMILIES.values()
)


def template(name: str) -> Template:
    """The template of that id. Raises KeyError where there is none."""
    return {each.id: each for each in ALL}[name]
