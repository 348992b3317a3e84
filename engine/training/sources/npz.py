"""NPZ files as tables of rows."""

from __future__ import annotations

from engine.files.data import npz
from engine.files.data.stored_rows import StoredRows
from engine.training.sources.rows import ArrayTable


class NpzFile(npz.NpzFile):
    """The arrays in an NPZ file, each a table. Raises as its base."""

    def table(self, name: str) -> StoredRows | ArrayTable:
        """The rows of an array. Raises as ``stored``."""
        found = self.stored(name)
        return found if isinstance(found, StoredRows) else ArrayTable(found)
