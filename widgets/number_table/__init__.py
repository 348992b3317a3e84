"""Numbers in a table that are typed or pasted."""

from widgets.number_table.table import NumberTable

__all__ = ["NumberTable"]
