"""NPZ files: arrays that NumPy saved; those that are not compressed are read in place, row by row."""

from __future__ import annotations

import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.files.data.npy import read_header
from engine.files.data.stored_file import StoredFile
from engine.files.data.stored_rows import StoredRows
from engine.files.reading import read_error
from resources.regular_files import open_regular

UNPACKED = 512 << 20
"""Bytes of a compressed array that are unpacked into memory; larger ones must be saved as they are."""
MOST_MEMBERS = 10_000
_RATIO, _SLACK = 1032, 4096  # deflate can't do better
_CHUNK = 1 << 20
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Member:
    """An array in the file: its shape and type, and where its bytes begin in what is unpacked."""

    entry: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    header: int

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


class NpzFile:
    """The arrays in an NPZ file; nothing of it is unpickled.

    Raises:
        DataError: it can't be opened. FormatError: no NPZ file, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.members: dict[str, Member] = {}
        try:
            self._file = StoredFile(path)
            with open_regular(path) as file, zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
                if len(entries) > MOST_MEMBERS:
                    raise FormatError(
                        f"{path}: too many arrays: {len(entries)}, over {MOST_MEMBERS}; split it"
                    )
                for entry in entries:
                    if entry.filename.endswith(".npy"):
                        self.members[entry.filename[:-4]] = self._member(archive, entry)
        except OSError as error:
            raise read_error(path, error) from error
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            NotImplementedError,
            RuntimeError,
            EOFError,
            SyntaxError,
            struct.error,
        ) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{path}: not a sound NPZ file: {_said(error)}; save it again") from error
        if not self.members:
            raise FormatError(f"{path}: there is no array in it: {len(entries)} files; save it with np.savez")

    def _member(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Member:
        if entry.compress_type not in _PACKED:
            raise ValueError(f"{entry.filename} is packed by method {entry.compress_type}, not by deflate")
        with archive.open(entry) as file:
            shape, fortran, dtype = read_header(file)
            header = file.tell()
        name = f"{self.path}: {entry.filename[:-4]}"
        if dtype.hasobject:
            raise FormatError(
                f"{name}: it holds Python objects, which could run code when read: {dtype}; save "
                "numbers or texts"
            )
        member = Member(entry, shape, dtype, fortran, header)
        if min(shape, default=1) < 0 or header + member.bytes != entry.file_size:
            raise FormatError(
                f"{name}: its header does not fit it: {dtype} {list(shape)} in {entry.file_size} bytes; "
                "save it "
                "again"
            )
        if entry.file_size > entry.compress_size * _RATIO + _SLACK:
            raise FormatError(
                f"{name}: it claims more than it holds: {entry.file_size} bytes from "
                f"{entry.compress_size}; get it "
                "again from a source that you trust"
            )
        return member

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A whole array, in memory. Raises as ``stored``."""
        found = self.stored(name)
        return found.whole() if isinstance(found, StoredRows) else found

    def stored(self, name: str) -> StoredRows | np.ndarray[Any, Any]:
        """The rows of an array where it is stored as it is, which are read when they are asked for; else the
        array, unpacked into memory.

        Raises:
            DataError: too large to be unpacked. FormatError: damaged.
        """
        member = self.members[name]
        order: Any = "F" if member.fortran else "C"
        try:
            if member.entry.compress_type == zipfile.ZIP_STORED and member.bytes:
                offset = self._place(member.entry) + member.header
                return StoredRows(self._file, member.dtype, offset, member.shape, order)
            if member.bytes > UNPACKED:
                raise DataError(
                    f"{self.path}: {name} is compressed and too large to be unpacked: "
                    f"{member.bytes >> 20} MB, over "
                    f"{UNPACKED >> 20}; save it with np.savez, which is read in place"
                )
            data = bytearray()
            with (
                open_regular(self.path) as packed,
                zipfile.ZipFile(packed) as archive,
                archive.open(member.entry) as file,
            ):
                while chunk := file.read(_CHUNK):
                    data += chunk
                    if len(data) > member.header + member.bytes:
                        raise FormatError(f"{self.path}: {name} is longer than it says; save it again")
            array = np.frombuffer(data, member.dtype, offset=member.header)
            return array.reshape(member.shape, order=order)
        except OSError as error:
            if isinstance(error, DataError):
                raise
            raise read_error(self.path, error) from error
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError, struct.error) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{self.path}: {name} is damaged: {_said(error)}; save it again") from error

    def _place(self, entry: zipfile.ZipInfo) -> int:
        """Where the bytes of a stored file begin: behind its local header, whose lengths are its own."""
        head = self._file.read(entry.header_offset, 30)
        begin = entry.header_offset + 30 + sum(struct.unpack("<HH", head[26:30]))
        if head[:4] != b"PK\3\4" or begin + entry.file_size > self._file.length:
            raise FormatError(f"{self.path}: {entry.filename} is cut off; get the file again")
        return int(begin)


def _said(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
