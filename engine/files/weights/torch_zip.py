"""Checkpoints that PyTorch wrote in its zip form: a pickle that describes tensors, and a file per storage.

The pickle is walked, not run (:mod:`engine.files.paddle.pickles`). A tensor is a view of a storage: offset,
sizes and strides are checked against its length.
"""

from __future__ import annotations

import zipfile
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import FormatError
from engine.files.paddle.pickle_arrays import PLAIN, ordered_dict
from engine.files.paddle.pickle_values import Malformed, Name, shown
from engine.files.paddle.pickles import Meaning, Vocabulary, Walk, read_pickle
from engine.files.plain import Array, StrPath
from engine.files.weights import element_types as types
from engine.files.weights.element_types import ElementType

OLD_FORM = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""How checkpoints of PyTorch before 1.6 begin: a magic number, pickled."""

_STORAGES: dict[str, ElementType] = {
    "BoolStorage": types.BOOL,
    "ByteStorage": types.U8,
    "CharStorage": types.I8,
    "ShortStorage": types.I16,
    "IntStorage": types.I32,
    "LongStorage": types.I64,
    "HalfStorage": types.F16,
    "BFloat16Storage": types.BF16,
    "FloatStorage": types.F32,
    "DoubleStorage": types.F64,
    "ComplexFloatStorage": types.C64,
    "ComplexDoubleStorage": types.C128,
    "UntypedStorage": types.U8,
}
_DTYPES: dict[str, ElementType] = {
    "bool": types.BOOL,
    "uint8": types.U8,
    "uint16": types.U16,
    "uint32": types.U32,
    "int8": types.I8,
    "int16": types.I16,
    "int32": types.I32,
    "int64": types.I64,
    "float16": types.F16,
    "bfloat16": types.BF16,
    "float32": types.F32,
    "float64": types.F64,
    "complex64": types.C64,
    "complex128": types.C128,
    "float8_e5m2": types.F8_E5M2,
    "float8_e4m3fn": types.F8_E4M3,
}
_MOST_ENTRIES = 100_000
_MOST_PICKLE = 64 << 20
_MOST_DIMENSIONS = 32
_CHUNK = 1 << 20
_PICKLE = "data.pkl"


class _Storage(NamedTuple):
    """A storage that the pickle refers to."""

    key: str
    type: ElementType
    untyped: bool
    length: int


def is_torch_zip(names: list[str]) -> bool:
    """Whether a ZIP archive with these files is one that ``torch.save`` wrote."""
    return any(name.rpartition("/")[2] == _PICKLE and name.count("/") <= 1 for name in names)


def read_torch(path: StrPath, archive: zipfile.ZipFile, length: int) -> Any:
    """What ``torch.save`` wrote: nested dicts, lists and values, with arrays for tensors.

    ``path`` is for messages, ``length`` that of the file. bfloat16 is uint16; tensors
    that share a storage are apart, except for one that appears several times.

    Raises:
        FormatError: damaged, or with objects that are neither tensors nor plain values.
        zipfile.BadZipFile, and what else ``engine.files.data.archives.readable`` names.
    """
    return _Checkpoint(path, archive, length).read()


class _Checkpoint:
    def __init__(self, path: StrPath, archive: zipfile.ZipFile, length: int) -> None:
        self.path, self.archive, self.length = path, archive, length
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise self._refused(f"{len(entries)} files in it, over {_MOST_ENTRIES}")
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            if entry.filename in self.entries:
                raise self._refused(f"{shown(entry.filename)} is in it twice")
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise self._refused(f"{shown(entry.filename)} is compressed, as PyTorch writes none")
            self.entries[entry.filename] = entry
        if sum(entry.file_size for entry in entries) > length:
            raise self._refused("its files are longer together than it is")
        found = [name for name in self.entries if name.rpartition("/")[2] == _PICKLE and name.count("/") <= 1]
        if len(found) != 1:
            raise self._refused(f"{len(found)} files {_PICKLE} in it")
        self.folder = found[0][: -len(_PICKLE)]
        self.storages: dict[str, bytearray] = {}
        self.taken: set[str] = set()
        self.views: dict[Any, Array] = {}

    def _refused(self, why: str) -> FormatError:
        return FormatError(
            f"{self.path}: not loaded: {why}; save it again with torch.save(model.state_dict(), ...)"
        )

    def read(self) -> Any:
        if f"{self.folder}constants.pkl" in self.entries:
            raise self._refused("it is a TorchScript model, which holds code")
        order = self._file("byteorder", 16) if f"{self.folder}byteorder" in self.entries else b"little"
        if order not in (b"little", b"big"):
            raise self._refused(f"byte order {shown(order)}")
        self.order = "<" if order == b"little" else ">"
        vocabulary = Vocabulary(
            "tensors with torch.save(model.state_dict(), ...)", {**_NAMES, **self._calls()}, self._storage
        )
        pickle = self._file(_PICKLE, _MOST_PICKLE)
        return read_pickle(pickle, f"{self.path}: {_PICKLE}", vocabulary, self.length)

    def _calls(self) -> dict[tuple[str, str], Meaning]:
        return {
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_tensor_v3"): self._typed_tensor,
            ("torch._utils", "_rebuild_parameter"): _parameter,
            ("torch", "Size"): _size,
            ("torch", "device"): _device,
        }

    def _file(self, name: str, most: int) -> bytes:
        entry = self.entries[f"{self.folder}{name}"]
        if entry.file_size > most:
            raise self._refused(f"{name} has {entry.file_size:,} bytes, over {most:,}")
        return self.archive.read(entry)

    def _storage(self, walk: Walk, given: Any) -> Any:
        """A persistent id: ('storage', class, key, location, number of elements)."""
        if type(given) is not tuple or len(given) != 5 or type(given[0]) is not str or given[0] != "storage":
            raise Malformed("it refers to something that is not a storage")
        _, kind, key, _, length = given
        if type(kind) is not Name or kind.name not in _STORAGES or type(key) is not str:
            raise Malformed("it refers to a storage of an unknown form")
        untyped = kind.name == "UntypedStorage"
        found = _Storage(key, _STORAGES[kind.name], untyped, length)
        entry = self.entries.get(f"{self.folder}data/{key}")
        if entry is None:
            raise Malformed(f"storage {shown(key)} is not in the file")
        if type(length) is not int:
            raise Malformed(f"storage {shown(key)} has an invalid length")
        if length * found.type.stored.itemsize != entry.file_size:
            raise Malformed(f"storage {shown(key)} has {entry.file_size} bytes for {shown(length)} elements")
        return found

    def _tensor(self, walk: Walk, given: tuple[Any, ...]) -> Any:
        """storage, offset, size, stride, requires_grad, backward_hooks, and perhaps metadata."""
        if len(given) not in (6, 7) or not isinstance(given[0], _Storage) or given[0].untyped:
            raise Malformed("a tensor is described in an unknown way")
        return self._view(walk, given[0], given[0].type, *given[1:4])

    def _typed_tensor(self, walk: Walk, given: tuple[Any, ...]) -> Any:
        """As ``_tensor``, of a storage without a type, with the dtype behind the hooks."""
        if len(given) not in (7, 8) or not isinstance(given[0], _Storage) or type(given[6]) is not Name:
            raise Malformed("a tensor is described in an unknown way")
        return self._view(walk, given[0], _DTYPES[given[6].name], *given[1:4])

    def _view(
        self, walk: Walk, storage: _Storage, kind: ElementType, offset: Any, size: Any, stride: Any
    ) -> Array:
        if (
            type(size) is not tuple
            or type(stride) is not tuple
            or len(size) != len(stride)
            or len(size) > _MOST_DIMENSIONS
            or any(type(each) is not int or not 0 <= each < 1 << 62 for each in (offset, *size, *stride))
        ):
            raise Malformed("a tensor has invalid sizes or strides")
        known = (storage.key, kind, offset, size, stride)
        if known in self.views:
            return self.views[known]
        count = 1
        for each in size:
            count *= each
        last = offset + sum((each - 1) * step for each, step in zip(size, stride, strict=True))
        itemsize = kind.stored.itemsize
        elements = storage.length * storage.type.stored.itemsize // itemsize
        if count and last >= elements:
            raise Malformed(f"a tensor of {list(size)} reaches beyond its storage of {elements} elements")
        walk.charge(200 + count * itemsize)
        if not count:
            flat = kind.array(b"", self.order)
            found: Array = np.zeros(size, flat.dtype)
        else:
            flat = np.frombuffer(self._bytes(storage), np.uint8)[: elements * itemsize].view(kind.stored)
            view = np.lib.stride_tricks.as_strided(flat[offset:], size, [step * itemsize for step in stride])
            if count == elements and view.flags.c_contiguous and storage.key not in self.taken:
                self.taken.add(storage.key)  # the tensor gets the memory; further ones of this storage a copy
                packed: Any = flat
            else:
                packed = np.array(view, order="C").reshape(-1)
            found = kind.array(memoryview(packed).cast("B"), self.order).reshape(size)
        self.views[known] = found
        return found

    def _bytes(self, storage: _Storage) -> bytearray:
        """The bytes of a storage, which are read once, whatever the order of the tensors."""
        if storage.key not in self.storages:
            entry = self.entries[f"{self.folder}data/{storage.key}"]
            found, at = bytearray(entry.file_size), 0
            opened: Any = self.archive.open(entry)
            with opened as file, memoryview(found) as whole:
                while count := file.readinto(whole[at : at + _CHUNK]):
                    at += count
            if at != entry.file_size:
                raise Malformed(f"storage {shown(storage.key)} is truncated")
            self.storages[storage.key] = found
        return self.storages[storage.key]


def _parameter(walk: Walk, given: tuple[Any, ...]) -> Any:
    """data, requires_grad, backward_hooks."""
    if len(given) != 3 or not isinstance(given[0], np.ndarray):
        raise Malformed("a parameter is described in an unknown way")
    return given[0]


def _size(walk: Walk, given: tuple[Any, ...]) -> Any:
    if len(given) != 1 or type(given[0]) is not tuple:
        raise Malformed("a torch.Size is described in an unknown way")
    return given[0]


def _device(walk: Walk, given: tuple[Any, ...]) -> Any:
    if not given or len(given) > 2 or type(given[0]) is not str:
        raise Malformed("a torch.device is described in an unknown way")
    return given[0]


_NAMES: dict[tuple[str, str], Meaning] = {
    **PLAIN,
    ("collections", "OrderedDict"): ordered_dict,
    **{("torch", name): None for name in (*_STORAGES, *_DTYPES)},
    ("torch.storage", "UntypedStorage"): None,
}
