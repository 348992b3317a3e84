"""Untrusted HDF5 files: their datasets are read without libhdf5, which crashes on damaged files.

A child process with limits finds out where the numbers lie
(:mod:`engine.files.untrusted.hdf5_layout_child`); they are then read by rows, or piece by piece and unpacked
here. Numbers and texts of fixed length can be read, stored in one piece or in chunks, plain or with the
filters shuffle, gzip and fletcher32.
"""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.files.data.stored_file import ShorterError, StoredFile, shorter_error
from engine.files.data.stored_rows import StoredRows
from engine.files.plain import StrPath
from engine.files.reading import read_error
from engine.files.untrusted import child as children

CHILD = Path(__file__).with_name("hdf5_layout_child.py")
MOST_OBJECTS, MOST_CHUNKS = 10_000, 500_000
MEMORY, CPU_SECONDS, WALL_SECONDS = 1 << 30, 60, 120.0
CACHE_BYTES = 64 << 20
"""Bytes of unpacked chunks that a dataset keeps."""
LARGEST_BAND = 256 << 20
_MAGIC = b"\x89HDF\r\n\x1a\n"
_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3
_FILTERS = {4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32001: "blosc", 32004: "lz4", 32015: "zstd"}


def open_hdf5(path: StrPath) -> dict[str, Hdf5Table | str]:
    """The datasets of a file by name; of those that can't be read, why not.

    Raises:
        DataError: there is no such file, or it can't be read. FormatError: no HDF5 file, or damaged.
    """
    path = Path(path)
    try:
        file = StoredFile(path)
    except OSError as error:
        raise read_error(path, error) from error
    if file.length < len(_MAGIC) or file.read(0, len(_MAGIC)) != _MAGIC:
        raise FormatError(f"{path}: not an HDF5 file, by its first bytes; choose another")
    answer = _look(path)
    if not isinstance(answer, dict) or not isinstance(answer.get("datasets"), list):
        said = answer.get("refused") if isinstance(answer, dict) else ""
        raise FormatError(f"{path}: can't be read as HDF5: {said}; save it again, or get a sound copy")
    found: dict[str, Hdf5Table | str] = {}
    for plain in answer["datasets"]:
        unusable = plain.get("unusable") or _problem(plain, file.length)
        found[plain["name"]] = unusable or Hdf5Table(file, plain)
    return found


def _look(path: Path) -> Any:
    request = {
        "folders": children.import_folders("numpy", "h5py"),
        "engine": str(children.engine_folder()),
        "path": os.path.abspath(path),
        "memory": MEMORY,
        "cpu_seconds": CPU_SECONDS,
        "most_objects": MOST_OBJECTS,
        "most_chunks": MOST_CHUNKS,
    }
    try:
        done = subprocess.run(
            children.command(CHILD),
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=WALL_SECONDS,
            env=children.environment() | children.ONE_THREAD,
            cwd=str(CHILD.parent),
            check=False,
            creationflags=children.NO_WINDOW,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        how = f"not finished after {WALL_SECONDS:.0f} s"
    except ValueError:
        how = children.ending(done.returncode)
    except OSError as error:
        how = f"the process that looks into it could not be started: {error}"
    return {"refused": f"the file made its reader crash, hang or use too much memory ({how})"}


def _problem(plain: dict[str, Any], length: int) -> str:
    """Why a dataset that the child describes can't be read; empty where it can."""
    shape, size = plain["shape"], np.dtype(plain["dtype"]).itemsize
    if not size or len(shape) > 32:
        return "not numbers in rows"
    if "offset" in plain:
        whole = plain["offset"] + size * int(np.prod(shape, dtype=object))
        return "" if plain["offset"] >= 0 and whole <= length else "it reaches beyond the end of the file"
    unknown = [number for number in plain["filters"] if number not in (_DEFLATE, _SHUFFLE, _FLETCHER32)]
    if unknown:
        return f"it is packed with {_FILTERS.get(unknown[0], f'filter {unknown[0]}')}; pack it with gzip"
    if any(info[-2] < 0 or info[-1] < 0 or info[-2] + info[-1] > length for info in plain["chunks"]):
        return "it reaches beyond the end of the file"
    band = plain["chunk"][0] * size * int(np.prod(shape[1:], dtype=object))
    most = size * int(np.prod(plain["chunk"], dtype=object))
    if max(band, most) > LARGEST_BAND:
        return f"its chunks are too large: {max(band, most) >> 20} MB, over {LARGEST_BAND >> 20}"
    return ""


class Hdf5Table:
    """The numbers of one dataset, of which rows can be read without the others."""

    def __init__(self, file: StoredFile, plain: dict[str, Any]) -> None:
        self._file, self.name = file, str(plain["name"])
        self.shape = tuple(int(size) for size in plain["shape"])
        self.dtype = np.dtype(plain["dtype"])
        self._filters: list[int] = plain.get("filters", [])
        self._chunk = tuple(plain.get("chunk", ()))
        self._stored: StoredRows | None = None
        if "offset" in plain and 0 not in self.shape:
            self._stored = StoredRows(file, self.dtype, plain["offset"], self.shape)
        # The chunks of each band of rows: (place, mask, offset, bytes).
        self._bands: dict[int, list[tuple[tuple[int, ...], int, int, int]]] = {}
        for info in plain.get("chunks", ()):
            place = tuple(int(number) for number in info[:-3])
            self._bands.setdefault(place[0] // self._chunk[0], []).append((place, *info[-3:]))
        self._cache: OrderedDict[int, np.ndarray] = OrderedDict()
        self._cached = 0

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of these numbers, in this order. Raises FormatError, DataError."""
        indices = np.asarray(indices, np.int64)
        if self._stored is not None:
            return self._stored.take(indices)
        rows = np.zeros((len(indices), *self.shape[1:]), self.dtype)
        if not self._chunk:
            return rows
        bands = indices // self._chunk[0]
        for band in np.unique(bands):
            wanted = bands == band
            rows[wanted] = self._band(int(band))[indices[wanted] - band * self._chunk[0]]
        return rows

    def whole(self) -> np.ndarray:
        """All rows."""
        return self.take(np.arange(self.shape[0] if self.shape else 0))

    def _band(self, number: int) -> np.ndarray:
        """All rows of the chunks that begin in one row."""
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]
        first = number * self._chunk[0]
        band = np.zeros((min(self._chunk[0], self.shape[0] - first), *self.shape[1:]), self.dtype)
        try:
            for place, mask, offset, size in self._bands.get(number, ()):
                chunk = self._unpacked(self._file.read(offset, size), mask)
                spans = [slice(0, band.shape[0])] + [
                    slice(begin, min(begin + side, whole))
                    for begin, side, whole in zip(place[1:], self._chunk[1:], self.shape[1:], strict=True)
                ]
                band[tuple(spans)] = chunk[tuple(slice(0, span.stop - span.start) for span in spans)]
        except ShorterError:
            raise self._shorter() from None
        except (zlib.error, ValueError) as error:
            raise FormatError(
                f"{self._file.path}: {self.name} is damaged in the rows from {first}: {error}; get the file "
                "again"
            ) from error
        self._cache[number] = band
        self._cached += band.nbytes
        while len(self._cache) > 1 and self._cached > CACHE_BYTES:
            self._cached -= self._cache.popitem(last=False)[1].nbytes
        return band

    def _shorter(self) -> ShorterError:
        there = [
            all(self._file.bytes_from(offset) >= size for _, _, offset, size in chunks)
            for chunks in self._bands.values()
        ]
        left = min(self.shape[0], sum(there) * self._chunk[0])
        return shorter_error(self._file.path, left, self.shape[0], "rows")

    def _unpacked(self, data: bytes | bytearray, mask: int) -> np.ndarray:
        """A chunk without its filters, which were applied in their order. Raises ValueError, zlib.error."""
        expected = int(np.prod(self._chunk)) * self.dtype.itemsize
        for place in reversed(range(len(self._filters))):
            if mask >> place & 1:
                continue
            if self._filters[place] == _FLETCHER32:
                data = data[:-4]
            elif self._filters[place] == _DEFLATE:
                data = zlib.decompressobj().decompress(data, expected + 64)
            else:
                whole = len(data) // self.dtype.itemsize * self.dtype.itemsize
                bytes_of = np.frombuffer(data[:whole], np.uint8).reshape(self.dtype.itemsize, -1)
                data = bytes_of.T.tobytes() + data[whole:]
        if len(data) != expected:
            raise ValueError(f"a chunk of {len(data)} bytes instead of {expected}")
        return np.frombuffer(data, self.dtype).reshape(self._chunk)
