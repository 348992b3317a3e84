"""Masks from lengths and from sparse layouts, paths through beams and trees, and samples of classes."""

from __future__ import annotations

import numpy as np

from engine.core.dtype import as_dtype, bool_, int64
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.opdef import op
from engine.core.random import numpy_generator
from engine.core.spec import Spec


def _require_integers(where: str, **specs: Spec | None) -> None:
    for name, spec in specs.items():
        if spec is not None and not spec.dtype.is_integer:
            raise DTypeError(f"{where}: {name} holds whole numbers: got {spec}; cast it to int64")


def _infer_mask(x: Spec, most: Spec | None = None, *, maxlen: int = -1, out_dtype: str = "int64") -> Spec:
    _require_integers("sequence_mask", x=x, maxlen=most)
    return Spec((*x.shape, maxlen if most is None and maxlen > 0 else -1), out_dtype)


@op("sequence_mask", infer=_infer_mask, slots={"most": "MaxLenTensor", "out": "Y"})
def sequence_mask(xp, x, most=None, *, maxlen=-1, out_dtype="int64"):
    """1 at the places below each length, along a new last dimension of maxlen (or the largest length)."""
    size = int(most.reshape(-1)[0]) if most is not None else maxlen
    if size < 0:
        size = int(x.max()) if x.size else 0
    return (xp.arange(size) < x[..., None]).astype(as_dtype(out_dtype).np)


def _infer_tree(ids: Spec, parents: Spec) -> Spec:
    _require_integers("gather_tree", ids=ids, parents=parents)
    if (
        ids.ndim != 3
        or parents.ndim != 3
        or any(a != b and -1 not in (a, b) for a, b in zip(ids.shape, parents.shape, strict=True))
    ):
        raise ShapeError(
            f"gather_tree: ids and parents are both [time, batch, beams]: got {ids} and {parents}"
        )
    return ids


@op("gather_tree", infer=_infer_tree, slots={"ids": "Ids", "parents": "Parents"})
def gather_tree(xp, ids, parents):
    """Whole sequences of a beam search: from each beam at the end back to the start through its parents."""
    time, batch, beams = ids.shape
    if parents.size and (int(parents.min()) < 0 or int(parents.max()) >= beams):
        wrong = parents[(parents < 0) | (parents >= beams)].reshape(-1)[0]
        raise OutOfRangeError(f"gather_tree: parent {int(wrong)} is no beam of {beams}; use 0 to {beams - 1}")
    result = xp.empty_like(ids)
    beam = xp.broadcast_to(xp.arange(beams), (batch, beams))
    for t in range(time - 1, -1, -1):
        result[t] = xp.take_along_axis(ids[t], beam, axis=1)
        beam = xp.take_along_axis(parents[t], beam, axis=1)
    return result


def _infer_paths(label: Spec, *, num_classes: int) -> tuple[Spec, Spec, Spec]:
    _require_integers("hsigmoid_loss", label=label)
    if label.ndim not in (1, 2) or (label.ndim == 2 and label.shape[1] not in (1, -1)):
        raise ShapeError(f"hsigmoid_loss: label must be [N] or [N, 1]: got {label}; reshape it")
    dims = (label.shape[0], (2 * num_classes - 1).bit_length() - 1)
    return Spec(dims, int64), Spec(dims, bool_), Spec(dims, bool_)


@op("complete_tree_paths", infer=_infer_paths, outputs=("nodes", "turns", "inside"))
def complete_tree_paths(xp, label, *, num_classes):
    """The way from a class up to the root of a complete binary tree of all classes.

    ``nodes`` are the inner nodes passed, ``turns`` True where the way is the right one there, ``inside``
    where there is a node at all: [batch, depth].
    """
    flat = label.reshape(-1)
    if flat.size and (int(flat.min()) < 0 or int(flat.max()) >= num_classes):
        wrong = flat[(flat < 0) | (flat >= num_classes)][0]
        raise OutOfRangeError(
            f"hsigmoid_loss: label {int(wrong)} is no class of {num_classes}; use 0 to {num_classes - 1}"
        )
    code = flat.astype(np.int64)[:, None] + num_classes
    steps = xp.arange((2 * num_classes - 1).bit_length() - 1)[None, :]
    above = code >> (steps + 1)
    return xp.where(above > 0, above - 1, 0), (code >> steps) % 2 == 1, above > 0


def _infer_sparse(offset: Spec, columns: Spec, like: Spec) -> Spec:
    _require_integers("sparse_attention", sparse_csr_offset=offset, sparse_csr_columns=columns)
    if offset.ndim != 3 or columns.ndim != 3:
        raise ShapeError(
            f"sparse_attention: offsets are [batch, heads, length + 1], columns [batch, heads, elements]: "
            f"got {offset} and {columns}"
        )
    return like.with_dtype(bool_)


@op("csr_mask", infer=_infer_sparse)
def csr_mask(xp, offset, columns, like):
    """True at the elements of a sparse layout by rows, in the shape of like [batch, heads, rows, columns]."""
    batch, heads, rows, width = like.shape
    starts, places = (a if xp is np else xp.asnumpy(a) for a in (offset, columns))
    if starts.shape != (batch, heads, rows + 1) or places.shape[:2] != (batch, heads):
        raise ShapeError(
            f"sparse_attention: for scores {list(like.shape)} offsets must be {[batch, heads, rows + 1]} and "
            f"columns [{batch}, {heads}, elements]: got {list(starts.shape)} and {list(places.shape)}"
        )
    counts = np.diff(starts, axis=-1)
    if starts.size and ((starts[..., 0] != 0).any() or (counts < 0).any() or starts.max() > places.shape[2]):
        raise ArgumentError(
            "sparse_attention: sparse_csr_offset must begin at 0, never fall, and end within the columns"
        )
    mask = np.zeros(like.shape, bool)
    for b, h in np.ndindex(batch, heads):
        used = places[b, h, : starts[b, h, -1]]
        if used.size and (used.min() < 0 or used.max() >= width):
            wrong = used[(used < 0) | (used >= width)][0]
            raise OutOfRangeError(f"sparse_attention: column {int(wrong)} is out of range: there are {width}")
        mask[b, h, np.repeat(np.arange(rows), counts[b, h]), used] = True
    return xp.asarray(mask)


def _infer_sample(label: Spec, *, num_classes: int, num_samples: int) -> tuple[Spec, Spec]:
    _require_integers("class_center_sample", label=label)
    if label.ndim != 1:
        raise ShapeError(f"class_center_sample: label must be [N]: got {label}; reshape it")
    return label, Spec((-1,), label.dtype)


@op("class_center_sample", infer=_infer_sample, outputs=("remapped_label", "sampled"),
    slots={"label": "Label", "sampled": "SampledLocalClassCenter"})  # fmt: skip
def class_center_sample(xp, label, *, num_classes, num_samples, key):
    """The classes of the labels, with others drawn up to num_samples; and the labels' places among them."""
    if label.size and (int(label.min()) < 0 or int(label.max()) >= num_classes):
        wrong = label[(label < 0) | (label >= num_classes)][0]
        raise OutOfRangeError(
            f"class_center_sample: label {int(wrong)} is no class of {num_classes}; use 0 to "
            f"{num_classes - 1}"
        )
    present, places = xp.unique(label, return_inverse=True)
    count = max(num_samples - len(present), 0)
    absent = xp.ones(num_classes, bool)
    absent[present] = False
    others = xp.flatnonzero(absent)
    drawn = others[xp.asarray(numpy_generator(key).permutation(len(others))[:count])]
    sampled = xp.concatenate([present, drawn.astype(label.dtype)])
    return places.reshape(label.shape).astype(label.dtype), sampled
