"""``LoDTensor`` and functions that make some: rows of sequences of uneven lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.errors import ConditionError, DTypeError
from engine.core.place import PlaceLike
from engine.program.run.lod_tensor import Lengths, LoDTensor, lod_tensor

__all__ = ["LoDTensor", "create_lod_tensor", "create_random_int_lodtensor"]


def create_lod_tensor(data: object, recursive_seq_lens: Lengths, place: PlaceLike | None = None) -> LoDTensor:
    """A LoDTensor of the rows ``data`` with these lengths of sequences, one list for each level.

    ``data`` is an array, a LoDTensor, or a list of sequences of numbers, which become rows of one number.
    Raises ConditionError for a list whose sequences have other lengths, ArgumentError for lengths that do not
    fit the rows, DTypeError for other data.
    """
    if isinstance(data, list):
        lengths = [len(sequence) for sequence in data]
        if [lengths] != [list(level) for level in recursive_seq_lens]:
            raise ConditionError(
                "create_lod_tensor: data and recursive_seq_lens do not match: the sequences have lengths "
                f"{[lengths]}, and recursive_seq_lens is {recursive_seq_lens}"
            )
        rows = np.array([each for sequence in data for each in sequence])
        return lod_tensor(rows.reshape(*rows.shape, 1), recursive_seq_lens)
    if not isinstance(data, (LoDTensor, np.ndarray)):
        raise DTypeError(
            "create_lod_tensor: data should be either a LoDTensor, a Numpy array or a list: got "
            f"{type(data).__name__}"
        )
    return lod_tensor(data, recursive_seq_lens)


def create_random_int_lodtensor(
    recursive_seq_lens: Lengths, base_shape: Sequence[int], place: PlaceLike | None, low: int, high: int
) -> LoDTensor:
    """A LoDTensor of integers from ``low`` to ``high``, as many rows of ``base_shape`` as the lengths ask."""
    shape = [sum(recursive_seq_lens[-1]), *base_shape]
    return lod_tensor(np.random.randint(low, high + 1, shape).astype(np.int64), recursive_seq_lens)
