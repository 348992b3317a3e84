"""The item model of a Program: rows are computed from indices, nothing is built before it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from widgets import theme
from widgets.icons import icon
from widgets.program_tree.colors import OperatorColors
from widgets.program_tree.data import (
    OperatorData,
    Places,
    ProgramData,
    VariableData,
    shape_text,
    value_text,
)
from widgets.program_tree.filtering import ProgramFilter, operator_reasons, variable_reasons

Index = QModelIndex | QPersistentModelIndex

CHUNK = 200
FAR = 2000  # operators that are fetched at most to reach one
COLUMNS = 5
NAME, SHAPE, DTYPE, SOURCE, VALUE = range(COLUMNS)
OPERATORS, VARIABLES = 0, 1
# Why the filter leaves a row, where its own texts don't show it: a slot or an attribute that contains a word.
WHY = Qt.ItemDataRole.UserRole


class Kind(IntEnum):
    """What a row is."""

    PROGRAM = 0
    BLOCK = 1
    SECTION = 2
    OPERATOR = 3
    VARIABLE = 4
    DETAIL = 5


# A row's id packs what it is: kind (3 bits), section (1), block (20), item (the rest). A detail is found by
# the item that it belongs to and its own row.
def _pack(kind: Kind, block: int = 0, section: int = 0, item: int = 0) -> int:
    return int(kind) | section << 3 | block << 4 | item << 24


def _unpack(row_id: int) -> tuple[Kind, int, int, int]:
    return Kind(row_id & 7), row_id >> 4 & 0xFFFFF, row_id >> 3 & 1, row_id >> 24


class ProgramModel(QAbstractItemModel):
    """Program > Block > Operators and Variables > their rows > the slots and attributes of an operator."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.program = ProgramData()
        self.filter = ProgramFilter(self.program)
        self._fetched: dict[tuple[int, int], int] = {}
        self._first: dict[int, int] = {}  # the first operator of a block that is listed
        self._details: dict[tuple[int, int], list[tuple[str, str]]] = {}
        self._section_font, self._mono_font = theme.font(theme.SECTION_PX, bold=True), theme.mono_font()
        self._places: dict[int, Places] = {}
        # Whether a view shows names and shapes alone, in one column: hits elsewhere need a reason then.
        self.compact = False
        self.lit: frozenset[tuple[int, int]] = frozenset()
        # Icons with their colours before the names of operators.
        self.marks: Mapping[tuple[int, int], tuple[str, str]] = {}
        self.colors: OperatorColors | None = None

    # contents

    def set_program(self, program: ProgramData) -> None:
        """Show another Program."""
        self.beginResetModel()
        self.program = program
        text = self.filter.text
        self.filter = ProgramFilter(program)
        self.filter.apply(text)
        self._fetched, self._details, self.lit, self.marks = {}, {}, frozenset(), {}
        self._first = {}
        self._places = {}
        self.colors = None
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only the rows that contain every word of the text."""
        self.beginResetModel()
        self.filter.apply(text)
        self._fetched, self._first = {}, {}
        self.endResetModel()

    def is_far(self, block: int, operator: int) -> bool:
        """Whether very many rows would be fetched to list an operator, or it is before the first one."""
        first = self._first.get(block, 0)
        reached = first + self._count(block, OPERATORS)
        return not self.filter.words and not first <= operator < reached + FAR

    def list_from(self, block: int, first: int) -> None:
        """List the operators of a block from number ``first`` on, until ``list_earlier``."""
        self.beginResetModel()
        self._fetched = {}
        self._first = {block: max(0, first)}
        self.endResetModel()

    def list_earlier(self, block: int) -> int:
        """List a few operators before the first one that is listed; returns how many."""
        first = self._first.get(block, 0)
        more = min(CHUNK, first)
        if more and not self.filter.words:
            parent = self.createIndex(OPERATORS, 0, _pack(Kind.SECTION, block, OPERATORS))
            self.beginInsertRows(parent, 0, more - 1)
            self._first[block] = first - more
            self._fetched[block, OPERATORS] = self._count(block, OPERATORS) + more
            self.endInsertRows()
            return more
        return 0

    @property
    def later_block(self) -> int | None:
        """The block whose first operators are not listed; None where all are."""
        return next((block for block, first in self._first.items() if first), None)

    def retranslate(self) -> None:
        """Say that all words changed."""
        self._details = {}
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, COLUMNS - 1)
        self.layoutChanged.emit()

    def variable(self, block: int, name: str) -> VariableData | None:
        """A variable by its name, in a block or in those around it."""
        seen = set()
        while 0 <= block < len(self.program.blocks) and block not in seen:
            data = self.program.blocks[block]
            if block not in self._places:
                self._places[block] = Places(data.variables)
            place = self._places[block].find(name)
            if place is not None:
                return data.variables[place]
            seen.add(block)
            block = data.parent
        return None

    def operator_at(self, index: Index) -> tuple[int, int] | None:
        """Block and number of the operator that a row shows or belongs to."""
        if not index.isValid():
            return None
        kind, block, _, item = _unpack(index.internalId())
        return (block, item) if kind in (Kind.OPERATOR, Kind.DETAIL) else None

    def variable_at(self, index: Index) -> tuple[int, int] | None:
        """Block and number of the variable that a row shows."""
        if not index.isValid():
            return None
        kind, block, _, item = _unpack(index.internalId())
        return (block, item) if kind == Kind.VARIABLE else None

    def index_of(self, block: int, section: int, item: int) -> QModelIndex:
        """The row of an operator or variable, fetched if need be; invalid where the filter hides it."""
        rows = self._rows(block, section)
        row = int(np.searchsorted(rows, item))
        if row == len(rows) or rows[row] != item:
            return QModelIndex()
        while self._count(block, section) <= row:
            self._fetch(block, section, max(CHUNK, row + 1 - self._count(block, section)))
        kind = Kind.OPERATOR if section == OPERATORS else Kind.VARIABLE
        return self.createIndex(row, 0, _pack(kind, block, section, item))

    def _rows(self, block: int, section: int) -> np.ndarray:
        left = self.filter.blocks[block]
        if section != OPERATORS:
            return left.variables
        return left.operators if self.filter.words else left.operators[self._first.get(block, 0) :]

    def _count(self, block: int, section: int) -> int:
        return self._fetched.get((block, section), 0)

    # structure

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return COLUMNS

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        if not (0 <= column < COLUMNS and 0 <= row < self.rowCount(parent)):
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, column, _pack(Kind.PROGRAM))
        kind, block, section, item = _unpack(parent.internalId())
        if kind == Kind.PROGRAM:
            child = _pack(Kind.BLOCK, row)
        elif kind == Kind.BLOCK:
            child = _pack(Kind.SECTION, block, row)
        elif kind == Kind.SECTION:
            of = Kind.OPERATOR if section == OPERATORS else Kind.VARIABLE
            child = _pack(of, block, section, int(self._rows(block, section)[row]))
        else:
            child = _pack(Kind.DETAIL, block, section, item)
        return self.createIndex(row, column, child)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        if not index.isValid():
            return QModelIndex()
        kind, block, section, item = _unpack(index.internalId())
        if kind == Kind.PROGRAM:
            return QModelIndex()
        if kind == Kind.BLOCK:
            return self.createIndex(0, 0, _pack(Kind.PROGRAM))
        if kind == Kind.SECTION:
            return self.createIndex(block, 0, _pack(Kind.BLOCK, block))
        if kind in (Kind.OPERATOR, Kind.VARIABLE):
            return self.createIndex(section, 0, _pack(Kind.SECTION, block, section))
        row = int(np.searchsorted(self._rows(block, section), item))
        return self.createIndex(row, 0, _pack(Kind.OPERATOR, block, section, item))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return 1 if self.program.blocks else 0
        if parent.column() > 0:
            return 0
        kind, block, section, item = _unpack(parent.internalId())
        if kind == Kind.PROGRAM:
            return len(self.program.blocks)
        if kind == Kind.BLOCK:
            return 2
        if kind == Kind.SECTION:
            return self._count(block, section)
        return len(self._operator_details(block, item)) if kind == Kind.OPERATOR else 0

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        if not parent.isValid():
            return bool(self.program.blocks)
        if parent.column() > 0:
            return False
        kind, block, section, item = _unpack(parent.internalId())
        if kind == Kind.SECTION:
            return len(self._rows(block, section)) > 0
        if kind == Kind.OPERATOR:
            operator = self.program.blocks[block].operators[item]
            return bool(operator.inputs or operator.outputs or operator.attrs or operator.sub_blocks)
        return kind in (Kind.PROGRAM, Kind.BLOCK)

    def canFetchMore(self, parent: Index) -> bool:
        if not parent.isValid() or parent.column() > 0:
            return False
        kind, block, section, _ = _unpack(parent.internalId())
        return kind == Kind.SECTION and self._count(block, section) < len(self._rows(block, section))

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            _, block, section, _ = _unpack(parent.internalId())
            self._fetch(block, section, CHUNK)

    def _fetch(self, block: int, section: int, count: int) -> None:
        have = self._count(block, section)
        more = min(count, len(self._rows(block, section)) - have)
        parent = self.createIndex(section, 0, _pack(Kind.SECTION, block, section))
        self.beginInsertRows(parent, have, have + more - 1)
        self._fetched[block, section] = have + more
        self.endInsertRows()

    # what a row says

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        kind, block, section, item = _unpack(index.internalId())
        column = index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            tip = role == Qt.ItemDataRole.ToolTipRole
            text = self._text(kind, block, section, item, index.row(), column, tip)
            why = self._why(kind, block, item) if tip else ""
            return f"{text}\n{why}" if text and why else text
        if column == NAME and role == WHY:
            return self._why(kind, block, item)
        if (
            column == NAME
            and role == Qt.ItemDataRole.AccessibleTextRole
            and (self.compact or self.filter.words)
        ):
            parts = [self._text(kind, block, section, item, index.row(), NAME, False)]
            if self.compact:
                parts.append(self._text(kind, block, section, item, index.row(), SHAPE, False))
            return ", ".join(part for part in (*parts, self._why(kind, block, item)) if part)
        if role == Qt.ItemDataRole.FontRole:
            if kind == Kind.SECTION:
                return self._section_font
            if (column != NAME and kind >= Kind.OPERATOR) or kind in (Kind.VARIABLE, Kind.DETAIL):
                return self._mono_font
        if role == Qt.ItemDataRole.DecorationRole and kind == Kind.OPERATOR and column == NAME:
            mark = self.marks.get((block, item))
            return icon(*mark) if mark is not None else None
        if column == VALUE and kind == Kind.OPERATOR and self.colors is not None:
            paint = self.colors.paint((block, item))
            if paint is not None and role == Qt.ItemDataRole.BackgroundRole:
                return paint.fill
            if paint is not None and role == Qt.ItemDataRole.ForegroundRole:
                return paint.ink
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.BackgroundRole and kind == Kind.OPERATOR and (block, item) in self.lit:
            return QColor(theme.current().selection)
        if role == Qt.ItemDataRole.ForegroundRole:
            quiet = column == NAME if kind == Kind.DETAIL else column != NAME or kind == Kind.SECTION
            return QColor(theme.current().mute) if quiet else None
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            value = "" if self.colors is None else self.colors.title
            return (self.tr("Name"), self.tr("Shape"), self.tr("Type"), self.tr("Source"), value)[section]
        return None

    def _text(
        self, kind: Kind, block: int, section: int, item: int, row: int, column: int, tip: bool
    ) -> str | None:
        if kind == Kind.PROGRAM:
            return (self.program.name or self.tr("Program")) if column == NAME else None
        if kind == Kind.BLOCK:
            count = theme.format_number(len(self.program.blocks[block].operators))
            words = (self.tr("block {0}").format(block), self.tr("{0} ops").format(count))
            return words[column] if column in (NAME, SHAPE) else None
        if kind == Kind.SECTION:
            count = theme.format_number(len(self._rows(block, section)))
            if section == OPERATORS and self._first.get(block, 0) and not self.filter.words:
                count = theme.format_number(len(self.program.blocks[block].operators))
            name = self.tr("Operators") if section == OPERATORS else self.tr("Variables")
            return (name, count)[column] if column in (NAME, SHAPE) else None
        if kind == Kind.DETAIL:
            name, value = self._operator_details(block, item)[row]
            return (f"{name}: {value}" if tip else (name, value)[column]) if column in (NAME, SHAPE) else None
        if kind == Kind.VARIABLE:
            return self._variable_text(self.program.blocks[block].variables[item], column, tip)
        if column == VALUE and not tip:
            return "" if self.colors is None else self.colors.text((block, item))
        return self._operator_text(block, self.program.blocks[block].operators[item], column, tip)

    def _why(self, kind: Kind, block: int, item: int) -> str:
        """Why the filter leaves a row, where that is not to be seen in the row itself."""
        words = self.filter.words
        if not words:
            return ""
        if kind == Kind.OPERATOR:
            return " \u00b7 ".join(operator_reasons(self.program.blocks[block].operators[item], words))
        if kind == Kind.VARIABLE and self.compact:
            return " \u00b7 ".join(variable_reasons(self.program.blocks[block].variables[item], words))
        return ""

    def _variable_text(self, variable: VariableData, column: int, tip: bool) -> str:
        kinds = []
        if variable.parameter:
            kinds.append(self.tr("parameter"))
        elif variable.persistable:
            kinds.append(self.tr("persistable"))
        if variable.stop_gradient:
            kinds.append(self.tr("no gradient"))
        shape = shape_text(variable.shape)
        if tip:
            return " · ".join([variable.name, shape, variable.dtype, *kinds])
        return (variable.name, shape, variable.dtype, " · ".join(kinds), "")[column]

    def _operator_text(self, block: int, operator: OperatorData, column: int, tip: bool) -> str:
        first = next((names[0] for names in operator.outputs.values() if names), "")
        output = self.variable(block, first)
        shape, dtype = (shape_text(output.shape), output.dtype) if output else ("", "")
        file = operator.file.replace("\\", "/").rsplit("/", 1)[-1]
        source = f"{file}:{operator.line}" if operator.line else ""
        if tip:
            return " · ".join(word for word in (operator.type, shape, dtype, source) if word)
        return (operator.type, shape, dtype, source)[column]

    def _operator_details(self, block: int, item: int) -> list[tuple[str, str]]:
        if (block, item) not in self._details:
            operator = self.program.blocks[block].operators[item]
            rows = []
            for mark, slots in (("\u2190", operator.inputs), ("\u2192", operator.outputs)):
                rows += [(f"{mark} {slot}", ", ".join(names)) for slot, names in slots.items()]
            rows += [(name, value_text(value)) for name, value in operator.attrs.items()]
            rows += [(self.tr("sub-block"), str(index)) for index in operator.sub_blocks]
            self._details[block, item] = rows
        return self._details[block, item]
