"""The HDF5 part of a file, in memory: written with h5py, read back only where its structure is what we write.

libhdf5 gets to see nothing but an image in memory: a full disk can't surface inside it, and what was hashed
is what is parsed. Of a foreign file it only reads the structure; array contents are taken from the image
itself, inside bounds that are checked first. Whatever Model Studio does not write is refused: links that are
not hard, virtual, external, chunked or filtered storage, attributes, references, compound, variable-length or
opaque types, objects that the document does not name, and sizes that the file does not hold.
"""

from __future__ import annotations

import functools
import io
import math
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5s, h5t
from numpy.typing import NDArray

from engine.files import userblock
from engine.files.tree import (
    DOCUMENT_NAME,
    TreeError,
    decode_tree,
    encode_tree,
    from_stored,
    parse_document,
    storage_dtype,
    to_stored,
)

FORMAT_NAME = "Model Studio"
_ATTRIBUTES = {"format": str, "kind": str, "version": int, "product": str}
_MAX_ATTRIBUTE = 256
_MAX_RANK = 32


class ImageError(Exception):
    """An image that is not what :func:`make_image` writes; the message says why, the caller knows which
    file."""


@dataclass(frozen=True)
class Image:
    """A file's content: ``kind`` and ``version`` of the tree, the product that wrote it, and the tree's
    parts."""

    kind: str
    version: int
    product: str
    node: Any
    arrays: dict[str, NDArray[Any]]

    def tree(self) -> Any:
        """The tree of plain values. Raises ImageError where the document is malformed."""
        try:
            return decode_tree(self.node, self.arrays)
        except (TreeError, RecursionError) as cause:
            raise ImageError(str(cause)) from cause


@functools.cache
def product() -> str:
    """Name and version of the program that writes, for the root attribute ``product``."""
    try:
        return f"model-studio {metadata.version('model-studio')}"
    except metadata.PackageNotFoundError:
        return "model-studio (not installed, run from its source)"


def make_image(kind: str, version: int, tree: Any) -> memoryview:
    """The HDF5 file for ``tree`` as bytes, the user block still zero. The same tree gives the same bytes.

    Raises:
        DTypeError, ArgumentError: a tree that can't be saved, see :func:`engine.files.tree.encode_tree`.
    """
    document, arrays = encode_tree(tree)
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=userblock.SIZE) as file:
        for name, value in (("format", FORMAT_NAME), ("kind", kind), ("product", product())):
            file.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", len(value.encode("utf-8"))))
        file.attrs.create("version", version, dtype="<i8")
        file.create_dataset(DOCUMENT_NAME, data=np.array(document, h5py.string_dtype("utf-8", len(document))))
        for path, array in arrays.items():
            file.create_dataset(path, data=to_stored(array))
    # Not getbuffer(): HDF5 keeps the buffer in a cycle, and collecting one with an open view is an error.
    return memoryview(buffer.getvalue())


class _Bytes(io.BytesIO):
    """A read past the end gives zeros: libhdf5 would otherwise go on with whatever the memory held before."""

    def readinto(self, buffer: Any, /) -> int:
        got = super().readinto(buffer)
        memoryview(buffer).cast("B")[got:] = bytes(len(buffer) - got)
        return got


def read_image(data: bytes) -> Image:
    """Reads a whole file's bytes, user block included.

    Raises:
        ImageError: not an image that :func:`make_image` writes.
    """
    try:
        with h5py.File(_Bytes(data), "r") as file:
            return _Reader(file.id, data).read()
    except (ImageError, MemoryError):
        raise
    except Exception as cause:
        # h5py reports what libhdf5 stumbles over as nearly any built-in exception.
        raise ImageError(f"HDF5 can't read it: {cause}") from cause


class _Reader:
    def __init__(self, file: h5f.FileID, data: bytes) -> None:
        self._root = h5g.open(file, b"/")
        self._data = data
        self._unclaimed = len(data)

    def read(self) -> Image:
        attributes = self._attributes()
        if attributes["format"] != FORMAT_NAME:
            raise ImageError(f"its format attribute is {attributes['format']!r}")
        node, wanted = parse_document(self._document())
        groups: dict[str, dict[str, bool]] = {"": {DOCUMENT_NAME: True}}
        for path in wanted:
            _enter(groups, path, is_array=True)
        for path, children in groups.items():
            self._check_group(path, children)
        arrays = {path: self._array(path, np.dtype(dtype)) for path, dtype in wanted.items()}
        return Image(attributes["kind"], attributes["version"], attributes["product"], node, arrays)

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        count = h5a.get_num_attrs(self._root)
        if count != len(_ATTRIBUTES):
            raise ImageError(f"it has {count} root attributes, not {len(_ATTRIBUTES)}")
        for name, kind in _ATTRIBUTES.items():
            if not h5a.exists(self._root, name.encode()):
                raise ImageError(f"it has no root attribute {name!r}")
            attribute = h5a.open(self._root, name.encode())
            type_ = attribute.get_type()
            fits = _is_fixed_text(type_) if kind is str else type(type_) is h5t.TypeIntegerID
            fits = fits and type_.get_size() <= _MAX_ATTRIBUTE and attribute.shape == ()
            if not fits:
                raise ImageError(f"its root attribute {name!r} is of another type than Model Studio writes")
            value = np.empty((), type_.dtype)
            attribute.read(value)
            found[name] = value.item().decode("utf-8") if kind is str else int(value)
        return found

    def _document(self) -> bytearray:
        self._check_link(self._root, DOCUMENT_NAME)
        dataset = h5o.open(self._root, DOCUMENT_NAME.encode())
        is_text = isinstance(dataset, h5d.DatasetID) and _is_fixed_text(dataset.get_type())
        if not is_text or dataset.shape != ():
            raise ImageError(f"/{DOCUMENT_NAME} is not a text")
        return self._stored(dataset, DOCUMENT_NAME)

    def _check_link(self, group: h5g.GroupID, name: str) -> None:
        kind = group.links.get_info(name.encode("utf-8")).type
        if kind != h5l.TYPE_HARD:
            what = "a link to another file" if kind == h5l.TYPE_EXTERNAL else "a soft link"
            raise ImageError(f"{name!r} is {what}; links are never followed")

    def _check_group(self, path: str, children: dict[str, bool]) -> None:
        """Children maps the names that the document asks for to True for a dataset, False for a group."""
        group = h5g.open(self._root, path.encode("utf-8")) if path else self._root
        if path and h5a.get_num_attrs(group):
            raise ImageError(f"{path} has attributes")
        count = group.get_num_objs()
        if count != len(children):
            raise ImageError(f"{path or '/'} holds {count} objects, its structure names {len(children)}")
        for name, is_array in children.items():
            self._check_link(group, name)
            found = h5o.open(group, name.encode("utf-8"))
            if not isinstance(found, h5d.DatasetID if is_array else h5g.GroupID):
                raise ImageError(f"{path}/{name} is not a {'dataset' if is_array else 'group'}")

    def _array(self, path: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        dataset = h5o.open(self._root, path.encode("utf-8"))
        space = dataset.get_space()
        if space.get_simple_extent_type() not in (h5s.SIMPLE, h5s.SCALAR):
            raise ImageError(f"{path} has no shape")
        shape = space.get_simple_extent_dims()
        stored = storage_dtype(dtype)
        if not isinstance(dataset.get_type(), h5t.TypeIntegerID | h5t.TypeFloatID) or dataset.dtype != stored:
            raise ImageError(f"{path} is stored as {dataset.dtype}, its structure says {dtype}")
        content = self._stored(dataset, path)
        if len(content) != math.prod(shape) * stored.itemsize or len(shape) > _MAX_RANK:
            raise ImageError(f"{path} has shape {shape}, that is not {len(content)} bytes of {stored}")
        if not content:
            return from_stored(np.empty(shape, stored), dtype)
        # A bytearray makes the array writable without a second copy.
        return from_stored(np.frombuffer(content, stored).reshape(shape), dtype)

    def _stored(self, dataset: h5d.DatasetID, path: str) -> bytearray:
        """The bytes of a dataset that is stored in one piece inside the image, unfiltered."""
        if h5a.get_num_attrs(dataset):
            raise ImageError(f"{path} has attributes")
        creation = dataset.get_create_plist()
        layout = creation.get_layout()
        if layout != h5d.CONTIGUOUS:
            where = {h5d.CHUNKED: "in chunks", h5d.VIRTUAL: "in other datasets"}.get(layout, "in its header")
            raise ImageError(f"{path} is stored {where}; only plain storage is read")
        if creation.get_external_count() or creation.get_nfilters():
            raise ImageError(f"{path} is stored in another file or filtered; only plain storage is read")
        count = dataset.get_space().get_simple_extent_npoints()
        size = count * dataset.get_type().get_size()
        if size == 0:
            return bytearray()
        start = dataset.get_offset()
        if start is None or start < userblock.SIZE or start + size > len(self._data):
            raise ImageError(f"{path} claims {size} bytes, the file of {len(self._data)} does not hold them")
        # Together no more than the file: otherwise many datasets over the same bytes would fill the memory.
        self._unclaimed -= size
        if self._unclaimed < 0:
            raise ImageError(f"its datasets claim more than the {len(self._data)} bytes of the file")
        return bytearray(memoryview(self._data)[start : start + size])


def _enter(groups: dict[str, dict[str, bool]], path: str, is_array: bool) -> None:
    parent, _, name = path.rpartition("/")
    children = groups.get(parent)
    if children is None:
        _enter(groups, parent, is_array=False)
        children = groups[parent]
    if name in children and (is_array or children[name]):
        raise ImageError(f"its structure names {path} as a dataset and as something else")
    children[name] = is_array
    if not is_array:
        groups.setdefault(path, {})


def _is_fixed_text(type_: h5t.TypeID) -> bool:
    return isinstance(type_, h5t.TypeStringID) and not type_.is_variable_str()
