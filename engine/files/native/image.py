"""The HDF5 part of a file as an image in memory: written with h5py, read only if we could have written it.

libhdf5 works on the image only, so a full disk raises no error inside libhdf5, and the bytes that were hashed
are the bytes that are parsed. libhdf5 reads only the structure; array contents are copied from the image,
within bounds that are checked first. Everything that Model Studio does not write is refused: soft and
external links, virtual, external, chunked or filtered storage, attributes, references, compound,
variable-length or opaque types, objects that the document does not name, and sizes that exceed the file.

Files of the kinds in ``GROUPS`` have a group and a document for each part of the tree, and their arrays may
be compressed (:mod:`engine.files.native.compressed`).
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypedDict, cast

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5s, h5t

from engine.files.native import compressed, userblock
from engine.files.native.compressed import ImageError
from engine.files.native.tree import (
    DOCUMENT_NAME,
    TreeError,
    decode_tree,
    encode_tree,
    from_stored,
    parse_document,
    storage_dtype,
    to_stored,
)
from engine.files.plain import Array, Json, Plain

FORMAT_NAME = "Model Studio"
_TEXTS = ("format", "kind", "product")
_MAX_ATTRIBUTE = 256
_MAX_RANK = 32
GROUPS = {"inference.packed": ("program", "params", "info")}
"""The groups of the kinds that have some: the keys of their trees."""


class _Attributes(TypedDict):
    """The attributes of the root group."""

    format: str
    kind: str
    version: int
    product: str


@dataclass(frozen=True)
class ArrayPlace:
    """Where a file has an array: ``offset`` is that of its first byte."""

    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """The bytes of the array."""
        return math.prod(self.shape) * storage_dtype(np.dtype(self.dtype)).itemsize


@dataclass(frozen=True)
class Image:
    """The content of a file: ``kind`` and ``version`` of its tree, the product that wrote it, and the tree.

    ``parts`` has the document of each group (of ``""`` for a tree without groups) and the arrays that it
    names, by path within the group: their values, or where they are.
    """

    kind: str
    version: int
    product: str
    parts: dict[str, tuple[Json, dict[str, Array] | dict[str, ArrayPlace]]]

    def tree(self) -> Plain:
        """The tree of plain values, or with places of arrays. Raises ImageError if the document is
        malformed."""
        try:
            found: dict[str, Plain] = {
                name: decode_tree(node, cast("dict[str, Array]", arrays))
                for name, (node, arrays) in self.parts.items()
            }
            return found.get("", found)
        except (TreeError, RecursionError) as cause:
            raise ImageError(str(cause)) from cause


@functools.cache
def product() -> str:
    """Name and version of this program, for the root attribute ``product``."""
    try:
        return f"model-studio {metadata.version('model-studio')}"
    except metadata.PackageNotFoundError:
        return "model-studio (not installed, run from its source)"


def make_image(kind: str, version: int, tree: object, compress: bool = False) -> memoryview:
    """The HDF5 file for ``tree`` as bytes, with a user block of zeros. Equal trees give equal bytes.

    Args:
        compress: shuffle and gzip the arrays of a kind in ``GROUPS``, unless they would become smaller than
            readers believe.

    Raises:
        DTypeError, ArgumentError: a tree that can't be saved, see
            :func:`engine.files.native.tree.encode_tree`.
    """
    parts = (
        {f"/{name}": encode_tree(cast(Mapping[str, object], tree)[name]) for name in GROUPS[kind]}
        if kind in GROUPS
        else {"": encode_tree(tree)}
    )
    buffer = io.BytesIO()
    # The layout of HDF5 1.10 needs no kilobytes of index for each compressed dataset.
    layout = {"libver": ("v110", "v110")} if compress else {}
    with h5py.File(buffer, "w", userblock_size=userblock.SIZE, **layout) as file:
        for name, value in (("format", FORMAT_NAME), ("kind", kind), ("product", product())):
            file.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", len(value.encode("utf-8"))))
        file.attrs.create("version", version, dtype="<i8")
        for group, (document, arrays) in parts.items():
            text = np.array(document, h5py.string_dtype("utf-8", len(document)))
            file.create_dataset(f"{group}/{DOCUMENT_NAME}", data=text)
            for path, array in arrays.items():
                stored = to_stored(array)
                options = compressed.options(stored) if compress else {}
                file.create_dataset(f"{group}{path}", data=stored, **options)
    # Not getbuffer(): HDF5 keeps the buffer in a reference cycle, and collecting it with an open view fails.
    image = memoryview(buffer.getvalue())
    if compress:
        whole = sum(
            len(document) + sum(a.nbytes for a in arrays.values()) for document, arrays in parts.values()
        )
        if whole > compressed.most_bytes(len(image)):
            return make_image(kind, version, tree)
    return image


class _Bytes(io.BytesIO):
    """Bytes that read as zeros past their end; libhdf5 would otherwise use uninitialized memory."""

    def readinto(self, buffer: Any, /) -> int:
        got = super().readinto(buffer)
        memoryview(buffer).cast("B")[got:] = bytes(len(buffer) - got)
        return got


def read_image(data: bytes, places: bool = False) -> Image:
    """Read the bytes of a whole file, user block included.

    Args:
        places: find out where the arrays are in place of their values.

    Raises:
        ImageError: not an image that :func:`make_image` writes; with ``places`` also a compressed one.
    """
    try:
        with h5py.File(_Bytes(data), "r") as file:
            return _Reader(file.id, data, places).read()
    except (ImageError, MemoryError):
        raise
    except Exception as cause:
        # h5py reports errors of libhdf5 as nearly any built-in exception.
        raise ImageError(f"HDF5 can't read it: {cause}") from cause


class _Reader:
    """Reads one image and refuses everything that :func:`make_image` does not write."""

    def __init__(self, file: h5f.FileID, data: bytes, places: bool = False) -> None:
        self._root = h5g.open(file, b"/")
        self._places = places
        self._data = data
        self._unclaimed = len(data)
        self._may_compress = False

    def read(self) -> Image:
        attributes = self._attributes()
        if attributes["format"] != FORMAT_NAME:
            raise ImageError(f"its format attribute is {attributes['format']!r}")
        kind = attributes["kind"]
        names = [f"/{name}" for name in GROUPS.get(kind, ())]
        if names:
            self._check_group("", dict.fromkeys(GROUPS[kind], False))
            self._may_compress = not self._places
            self._unclaimed = compressed.most_bytes(len(self._data))
        parts = {name[1:]: self._part(name) for name in names or [""]}
        return Image(kind, attributes["version"], attributes["product"], parts)

    def _part(self, group: str) -> tuple[Json, dict[str, Array] | dict[str, ArrayPlace]]:
        """The document in a group (its path, ``""`` for the root) and the arrays that it names."""
        node, wanted = parse_document(self._document(group))
        groups: dict[str, dict[str, bool]] = {group: {DOCUMENT_NAME: True}}
        for path in wanted:
            _enter(groups, group + path, is_array=True)
        for path, children in groups.items():
            self._check_group(path, children)
        if self._places:
            return node, {path: self._place(group + path, np.dtype(dtype)) for path, dtype in wanted.items()}
        return node, {path: self._array(group + path, np.dtype(dtype)) for path, dtype in wanted.items()}

    def _attributes(self) -> _Attributes:
        count, wanted = h5a.get_num_attrs(self._root), len(_Attributes.__annotations__)
        if count != wanted:
            raise ImageError(f"it has {count} root attributes, not {wanted}")
        format_, kind, product_ = (self._attribute(name).item().decode("utf-8") for name in _TEXTS)
        version = int(self._attribute("version"))
        return {"format": format_, "kind": kind, "version": version, "product": product_}

    def _attribute(self, name: str) -> Array:
        """A root attribute as an array of no dimension; a text as bytes."""
        if not h5a.exists(self._root, name.encode()):
            raise ImageError(f"it has no root attribute {name!r}")
        attribute = h5a.open(self._root, name.encode())
        type_ = attribute.get_type()
        fits = _is_fixed_text(type_) if name in _TEXTS else type(type_) is h5t.TypeIntegerID
        if not (fits and type_.get_size() <= _MAX_ATTRIBUTE and attribute.shape == ()):
            raise ImageError(f"its root attribute {name!r} is of another type than Model Studio writes")
        value = np.empty((), type_.dtype)
        attribute.read(value)
        return value

    def _document(self, path: str) -> bytearray:
        group = h5g.open(self._root, path.encode()) if path else self._root
        self._check_link(group, DOCUMENT_NAME)
        dataset = h5o.open(group, DOCUMENT_NAME.encode())
        is_text = isinstance(dataset, h5d.DatasetID) and _is_fixed_text(dataset.get_type())
        if not is_text or dataset.shape != ():
            raise ImageError(f"{path}/{DOCUMENT_NAME} is not a text")
        return self._stored(dataset, f"{path}/{DOCUMENT_NAME}")

    def _check_link(self, group: h5g.GroupID, name: str) -> None:
        kind = group.links.get_info(name.encode("utf-8")).type
        if kind != h5l.TYPE_HARD:
            what = "a link to another file" if kind == h5l.TYPE_EXTERNAL else "a soft link"
            raise ImageError(f"{name!r} is {what}; links are never followed")

    def _check_group(self, path: str, children: dict[str, bool]) -> None:
        """Check that a group holds exactly ``children``: True by name for a dataset, False for a group."""
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

    def _dataset(self, path: str, dtype: np.dtype[Any]) -> tuple[h5d.DatasetID, tuple[int, ...]]:
        """The dataset of an array of ``dtype``, and its stored shape."""
        dataset = h5o.open(self._root, path.encode("utf-8"))
        space = dataset.get_space()
        if space.get_simple_extent_type() not in (h5s.SIMPLE, h5s.SCALAR):
            raise ImageError(f"{path} has no shape")
        stored = storage_dtype(dtype)
        if not isinstance(dataset.get_type(), h5t.TypeIntegerID | h5t.TypeFloatID) or dataset.dtype != stored:
            raise ImageError(f"{path} is stored as {dataset.dtype}, its structure says {dtype}")
        return dataset, space.get_simple_extent_dims()

    def _place(self, path: str, dtype: np.dtype[Any]) -> ArrayPlace:
        dataset, shape = self._dataset(path, dtype)
        start, _ = self._extent(dataset, path)
        if len(shape) > _MAX_RANK:
            raise ImageError(f"{path} has {len(shape)} dimensions")
        return ArrayPlace(dtype.str, tuple(shape), start)

    def _array(self, path: str, dtype: np.dtype[Any]) -> Array:
        dataset, shape = self._dataset(path, dtype)
        stored = storage_dtype(dtype)
        content = self._stored(dataset, path)
        if len(content) != math.prod(shape) * stored.itemsize or len(shape) > _MAX_RANK:
            raise ImageError(f"{path} has shape {shape}, that is not {len(content)} bytes of {stored}")
        if not content:
            return from_stored(np.empty(shape, stored), dtype)
        # An array over a bytearray is writable without another copy.
        return from_stored(np.frombuffer(content, stored).reshape(shape), dtype)

    def _stored(self, dataset: h5d.DatasetID, path: str) -> bytearray:
        """The bytes of a dataset that is stored inside the image: contiguously and unfiltered, or compressed
        where the kind of the file allows it."""
        if self._may_compress and dataset.get_create_plist().get_layout() == h5d.CHUNKED:
            self._check_storage(dataset, path, chunked=True)
            size = dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size()
            self._claim(size)
            return compressed.read(dataset, self._data, path) if size else bytearray()
        start, size = self._extent(dataset, path)
        return bytearray(memoryview(self._data)[start : start + size])

    def _extent(self, dataset: h5d.DatasetID, path: str) -> tuple[int, int]:
        """The first byte and the bytes of a dataset that is stored contiguously and unfiltered."""
        self._check_storage(dataset, path, chunked=False)
        size = dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size()
        if size == 0:
            return 0, 0
        start = dataset.get_offset()
        if start is None or start < userblock.SIZE or start + size > len(self._data):
            raise ImageError(f"{path} claims {size} bytes, the file of {len(self._data)} does not hold them")
        self._claim(size)
        return start, size

    def _check_storage(self, dataset: h5d.DatasetID, path: str, chunked: bool) -> None:
        if h5a.get_num_attrs(dataset):
            raise ImageError(f"{path} has attributes")
        creation = dataset.get_create_plist()
        layout = creation.get_layout()
        if layout != h5d.CONTIGUOUS and not chunked:
            where = {h5d.CHUNKED: "in chunks", h5d.VIRTUAL: "in other datasets"}.get(layout, "in its header")
            raise ImageError(f"{path} is stored {where}; only plain storage is read")
        if creation.get_external_count() or (creation.get_nfilters() and not chunked):
            raise ImageError(f"{path} is stored in another file or filtered; only plain storage is read")

    def _claim(self, size: int) -> None:
        """Raise ImageError if all datasets together claim more than the file explains: many over the same
        bytes, or compressed ones, would fill the memory."""
        self._unclaimed -= size
        if self._unclaimed < 0:
            raise ImageError(f"its datasets claim more than the {len(self._data)} bytes of the file explain")


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
