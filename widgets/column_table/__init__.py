"""A table of many rows whose columns are chosen, moved, resized and sorted by several keys."""

from widgets.column_table.cells import Cell, TableColumn
from widgets.column_table.table import ColumnTable

__all__ = ["Cell", "ColumnTable", "TableColumn"]
