"""Labels: what a source says of its samples' classes, as numbers from 0 with the names of the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.rows import NO_LABEL

MOST_CLASSES = 100_000


def number_labels(name: str, *arrays: np.ndarray) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """The labels of each array as int64 numbers, and the names of the classes, the same for all arrays.

    Integers from 0 stay unchanged; other numbers and strings are numbered in their order. NaN and an empty
    string are not labels. Rows of one 1 among 0s (one-hot) count as the index of the 1.

    Raises:
        DataError: fractions, arrays of another form, or more than 100,000 classes.
    """
    flat = [_flat(name, np.asarray(array)) for array in arrays]
    if any(array.dtype.kind in "US" for array in flat):
        texts = [_texts(array) for array in flat]
        return _numbered(name, texts, [text != "" for text in texts])
    known = [np.isfinite(array) if array.dtype.kind == "f" else np.ones(len(array), bool) for array in flat]
    whole = []
    for array, mask in zip(flat, known, strict=True):
        values = np.where(mask, array, 0)
        if array.dtype.kind == "f" and (values != np.rint(values)).any():
            seen = values[values != np.rint(values)][0]
            raise DataError(
                f"{name}: the labels are not classes: fractions such as {seen:g}; choose task numbers, or "
                "another array or column for the labels"
            )
        if len(values) and float(np.abs(values.astype(np.float64)).max()) > 2**53:
            raise DataError(
                f"{name}: the labels are not classes: numbers beyond 2^53; choose another for them"
            )
        whole.append(values.astype(np.int64))
    there = [values[mask] for values, mask in zip(whole, known, strict=True)]
    distinct = np.unique(np.concatenate(there)) if there else np.zeros(0, np.int64)
    if not len(distinct):
        raise DataError(f"{name}: there are no labels; choose another array or column for them")
    if distinct[0] >= 0 and distinct[-1] < 2 * len(distinct):
        classes = tuple(str(number) for number in range(int(distinct[-1]) + 1))
        _few_enough(name, len(classes))
        return [np.where(mask, values, NO_LABEL) for values, mask in zip(whole, known, strict=True)], classes
    return _numbered(name, whole, known)


def _numbered(
    name: str, values: Sequence[np.ndarray], known: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], tuple[str, ...]]:
    every = np.concatenate([array[mask] for array, mask in zip(values, known, strict=True)])
    distinct = np.unique(every)
    _few_enough(name, len(distinct))
    if not len(distinct):
        raise DataError(f"{name}: there are no labels; choose another array or column for them")
    found = [
        np.where(mask, np.searchsorted(distinct, array), NO_LABEL).astype(np.int64)
        for array, mask in zip(values, known, strict=True)
    ]
    return found, tuple(str(value) for value in distinct)


def _few_enough(name: str, count: int) -> None:
    if count > MOST_CLASSES:
        raise DataError(
            f"{name}: the labels are not classes: {count} different ones, over {MOST_CLASSES}; "
            "choose another "
            "array or column for the labels"
        )


def is_one_hot(array: np.ndarray) -> bool:
    """Whether each row of ``array`` [n, k] holds one 1 among 0s."""
    if array.dtype.kind not in "buif" or not len(array):
        return False
    return bool(((array == 1).sum(axis=1) == 1).all() and ((array == 0) | (array == 1)).all())


def _flat(name: str, array: np.ndarray) -> np.ndarray:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and is_one_hot(array):
        return np.asarray(array.argmax(axis=1))
    if array.ndim != 1 or array.dtype.kind not in "buifUS":
        raise DataError(
            f"{name}: not labels: {array.dtype} {list(array.shape)}; give one number or text a sample, "
            "or rows "
            "with one 1 each"
        )
    return array


def _texts(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    elif array.dtype.kind != "U":
        array = array.astype(str)
    return np.char.strip(array)
