"""Paths through the beams of a beam search and through a tree of classes."""

from __future__ import annotations

import numpy as np

from engine.core.errors import OutOfRangeError, ShapeError
from engine.core.operators.bounds import Reserved
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import bool_, int64
from engine.core.values.spec import Spec


def _infer_tree(ids: Spec, parents: Spec) -> Spec:
    require_integers("gather_tree", ids=ids, parents=parents)
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
    if parents.shape != ids.shape:
        raise ValueError("shapes differ")  # inference explains the error
    if parents.size and (int(parents.min()) < 0 or int(parents.max()) >= beams):
        wrong = parents[(parents < 0) | (parents >= beams)].reshape(-1)[0]
        raise OutOfRangeError(f"gather_tree: parent {int(wrong)} is not one of {beams}; use 0 to {beams - 1}")
    result = xp.empty_like(ids)
    beam = xp.broadcast_to(xp.arange(beams), (batch, beams))
    for t in range(time - 1, -1, -1):
        result[t] = xp.take_along_axis(ids[t], beam, axis=1)
        beam = xp.take_along_axis(parents[t], beam, axis=1)
    return result


def _infer_paths(label: Spec, *, num_classes: int) -> tuple[Spec, Spec, Spec]:
    require_integers("hsigmoid_loss", label=label)
    if label.ndim not in (1, 2) or (label.ndim == 2 and label.shape[1] not in (1, -1)):
        raise ShapeError(f"hsigmoid_loss: label must be [N] or [N, 1]: got {label}; reshape it")
    dims = (label.shape[0], (2 * num_classes - 1).bit_length() - 1)
    return Spec(dims, int64), Spec(dims, bool_), Spec(dims, bool_)


@op("complete_tree_paths", infer=_infer_paths, outputs=("nodes", "turns", "inside"))
def complete_tree_paths(xp, label, *, num_classes: Reserved):
    """The path from a class up to the root of a complete binary tree of all classes.

    ``nodes`` are the inner nodes on the path, ``turns`` is True where it takes the right child, ``inside``
    where there is a node: [batch, depth].
    """
    flat = label.reshape(-1)
    if flat.size and (int(flat.min()) < 0 or int(flat.max()) >= num_classes):
        wrong = flat[(flat < 0) | (flat >= num_classes)][0]
        raise OutOfRangeError(
            f"hsigmoid_loss: label {int(wrong)} is not a class of {num_classes}; use 0 to {num_classes - 1}"
        )
    code = flat.astype(np.int64)[:, None] + num_classes
    steps = xp.arange((2 * num_classes - 1).bit_length() - 1)[None, :]
    above = code >> (steps + 1)
    return xp.where(above > 0, above - 1, 0), (code >> steps) % 2 == 1, above > 0
