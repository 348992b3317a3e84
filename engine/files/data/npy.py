"""NPY files: the array that NumPy saved in one, row by row; nothing of it is unpickled."""

from __future__ import annotations

import io
import tokenize
import warnings
from typing import IO, Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.files.data.stored_file import StoredFile
from engine.files.data.stored_rows import StoredRows
from engine.files.plain import StrPath
from engine.files.reading import read_error
from resources.regular_files import open_regular

_LONGEST_HEADER = 10_000  # of what NumPy parses


def open_npy(path: StrPath) -> StoredRows:
    """The rows of an NPY file.

    Raises:
        DataError: it can't be read. FormatError: not such a file, or it holds Python objects.
    """
    try:
        with open_regular(path) as file:
            shape, fortran, dtype = read_header(file)
            offset = file.tell()
        if dtype.hasobject or min(shape, default=1) < 0:
            raise ValueError(f"{dtype} {list(shape)} is neither numbers nor texts")
        return StoredRows(StoredFile(path), dtype, offset, shape, "F" if fortran else "C")
    except OSError as error:
        if isinstance(error, DataError):
            raise
        raise read_error(path, error) from error
    except (ValueError, EOFError, SyntaxError) as error:
        raise FormatError(f"{path}: not a sound NPY file: {error}; save it again") from error


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape of the array that follows, whether it is stored by columns, and its dtype.

    Raises:
        ValueError, EOFError, SyntaxError: not a header, or a damaged one.
    """
    version = np.lib.format.read_magic(file)
    size = file.read(2 if version == (1, 0) else 4)
    length = int.from_bytes(size, "little")
    if length > _LONGEST_HEADER:  # NumPy reads 4 GB that are packed into a few before it finds that too long
        raise ValueError(f"a header of {length} bytes")
    header = io.BytesIO(size + file.read(length))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 2 wrote it
            return read(header)
    except (tokenize.TokenError, MemoryError) as error:  # which is how a parser says: nested too deep
        raise ValueError("a header that can't be parsed") from error
