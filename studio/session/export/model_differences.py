"""The differences of two saved models as sections of rows of text, for the command line and the window."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resources.words import marked

if TYPE_CHECKING:
    from engine.jit.saved.compare_models import ModelComparison
    from engine.jit.saved.structure import OperatorChange, Renamed, Structure

_MOST_PLACES = 4  # operators of a row
_MOST_TEXT = 200  # characters of a value
EQUAL = marked("no difference: {0} operators and {1} weights are equal")


Rows = list[tuple[str, ...]]
Tables = list[tuple[str, tuple[str, ...], Rows, int]]


@dataclass(frozen=True)
class Section:
    """A table: its title, in whose ``{0}`` ``compared`` stands, the titles of its columns, its rows.

    ``total`` counts the rows before the section was shortened.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    compared: int
    total: int


def sections_of(found: ModelComparison, most: int) -> list[Section]:
    """The sections that have differences, each with ``most`` rows at most, in the order shown."""
    weights = sorted(found.weights, key=lambda x: -(x.relative or float("inf")))
    values = [*found.inputs, *found.outputs]
    named = ("", "A", "B")
    tables: Tables = [
        (marked("inputs and outputs"), named, [(x.name, _text(x.a), _text(x.b)) for x in values], 0),
        *_operator_tables(found.operators, found.sources, found.layers, found.operators_compared),
        (
            marked("weights ({0} compared)"),
            ("A", "B", marked("shape and dtype"), marked("largest difference"), marked("relative")),
            [
                (_text(x.a), _text(x.b), _form(x.shape, x.dtype), _number(x.largest), _number(x.relative))
                for x in weights
            ],
            found.weights_compared,
        ),
        (marked("information"), named, [(x.name, _text(x.a), _text(x.b)) for x in found.information], 0),
    ]
    return _sections(tables, most)


def program_sections(found: Structure, operators: int, most: int) -> list[Section]:
    """The sections of two Programs without weights, as ``sections_of``."""
    outputs: Rows = [(f"output {x.name}", _text(x.a), _text(x.b)) for x in found.outputs]
    tables = _operator_tables(found.changes, found.sources, found.layers, operators)
    return _sections([(marked("inputs and outputs"), ("", "A", "B"), outputs, 0), *tables], most)


def _operator_tables(
    changes: list[OperatorChange], sources: list[Renamed], layers: list[Renamed], operators: int
) -> Tables:
    columns = (marked("place"), marked("operator"), marked("layer"), marked("change"), "A", "B")
    renamed = ("A", "B", marked("operators"))
    return [
        (marked("operators (of {0})"), columns, operator_rows(changes), operators),
        (marked("source lines"), renamed, _renamed_rows(sources), 0),
        (marked("layers"), renamed, _renamed_rows(layers), 0),
    ]


def _sections(tables: Tables, most: int) -> list[Section]:
    return [
        Section(title, columns, tuple(rows[:most]), compared, len(rows))
        for title, columns, rows, compared in tables
        if rows
    ]


def operator_rows(changes: Iterable[OperatorChange]) -> list[tuple[str, ...]]:
    """One row for the same change of several operators, such as an attribute of all batch norms."""
    places: dict[tuple[str, ...], dict[str, str]] = {}  # the layers by places
    for each in changes:
        place = each.a if each.a == each.b else " → ".join(filter(None, (each.a, each.b)))
        for row in _rows_of(each):
            places.setdefault((each.type, *row), {})[place] = each.layer
    return [
        (_shortened(list(at)), kind, _shortened(list(dict.fromkeys(at.values()))), *row)
        for (kind, *row), at in places.items()
    ]


def _rows_of(change: OperatorChange) -> list[tuple[str, str, str]]:
    """What changed, with the values before and after."""
    rows = [
        (f"{detail.what} {detail.name}".strip(), _text(detail.a), _text(detail.b))
        for detail in change.details
    ]
    if change.kind != "changed":
        inside = f", {change.inside} operators in it" if change.inside else ""
        rows.insert(0, (f"{change.kind}{inside}", "", ""))
    return rows


def _renamed_rows(renamed: Iterable[Renamed]) -> list[tuple[str, ...]]:
    return [(_text(each.a), _text(each.b), str(each.operators)) for each in renamed]


def _shortened(places: list[str]) -> str:
    if len(places) <= _MOST_PLACES:
        return _text(", ".join(places))
    return _text(f"{', '.join(places[: _MOST_PLACES - 1])}, ... ({len(places)} in all)")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _form(shapes: tuple[Any, Any], dtypes: tuple[Any, Any]) -> str:
    given = zip(dtypes, shapes, strict=True)
    texts = [f"{dtype} {shape}" for dtype, shape in given if dtype is not None]
    return " / ".join(dict.fromkeys(texts))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
