"""A training and a test split of samples that come as one: by class, and the same rows every time."""

from __future__ import annotations

import numpy as np

from engine.core.errors import DataError


def stratified(labels: np.ndarray, share: float, seed: int, where: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the training and of the test samples: of each class the same share is for the test.

    A class of at least two samples has one in both. Samples without a label (below 0) are in neither. The
    training samples come in a drawn order, so that the first of them are of all classes.

    Args:
        share: of the test, between 0 and 1. seed: another seed, other rows.

    Raises:
        DataError: one of the splits would be empty.
    """
    train, test = [], []
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        order = np.random.Generator(np.random.PCG64([seed, int(label)])).permutation(members)
        count = round(share * len(members))
        count = min(max(count, 1), len(members) - 1) if len(members) > 1 else 0
        test.append(order[:count])
        train.append(order[count:])
    for name, parts in (("training", train), ("test", test)):
        if not sum(map(len, parts)):
            raise DataError(
                f"{where}: no sample is left for the {name}: {int((labels >= 0).sum())} samples with a "
                "label in "
                f"{len(train)} classes; give at least two of each class"
            )
    return shuffled(np.concatenate(train), seed), np.sort(np.concatenate(test))


def shuffled(indices: np.ndarray, seed: int) -> np.ndarray:
    """The numbers in an order that depends on the seed alone."""
    return np.random.Generator(np.random.PCG64([seed, 1 << 32])).permutation(indices)
