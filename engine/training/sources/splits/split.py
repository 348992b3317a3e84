"""Training, validation and test samples of data that comes as one: the same rows every time."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.training.sources.rows import NO_LABEL

GROUP = "group:"


def group_column(split: str) -> str:
    """The column of ``group:COLUMN``; empty for the splits ``random`` and ``order``.

    Raises:
        ArgumentError: none of these.
    """
    if split in ("random", "order"):
        return ""
    name = split.removeprefix(GROUP).strip()
    if not split.startswith(GROUP) or not name:
        raise ArgumentError(f"split: must be random, order or {GROUP}COLUMN: got {split!r}")
    return name


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
        count = _count(len(members), share)
        test.append(order[:count])
        train.append(order[count:])
    _require(train, test, labels, where)
    return shuffled(np.concatenate(train), seed), np.sort(np.concatenate(test))


def ordered(
    labels: np.ndarray, share: float, seed: int, where: str, by_class: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The same, where the last samples are the test.

    Args:
        by_class: the last of each class, for samples that are stored class by class.

    Raises:
        DataError: one of the splits would be empty.
    """
    known = np.flatnonzero(labels >= 0)
    parts = [known[labels[known] == label] for label in np.unique(labels[known])] if by_class else [known]
    train = [part[: len(part) - _count(len(part), share)] for part in parts]
    test = [part[len(part) - _count(len(part), share) :] for part in parts]
    _require(train, test, labels, where)
    return shuffled(np.concatenate(train), seed), np.sort(np.concatenate(test))


def grouped(
    groups: np.ndarray, labels: np.ndarray, share: float, seed: int, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """The same, where all samples of a group are on one side.

    Groups are drawn for the test until it has its share of the samples, as nearly as their sizes allow.

    Args:
        groups: int64 [n], the number of each sample's group.

    Raises:
        DataError: fewer than two groups.
    """
    known = np.flatnonzero(labels >= 0)
    names, place, sizes = np.unique(groups[known], return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise DataError(
            f"{where}: split: all samples with a target are of one group; choose a column with at least two "
            "groups, or the split random"
        )
    drawn = np.random.Generator(np.random.PCG64([seed, 1 << 33])).permutation(len(names))
    wanted, taken = share * len(known), 0
    tested: list[int] = []
    for group in drawn:
        # Taken only where the test comes nearer to its share.
        if abs(taken + sizes[group] - wanted) < abs(taken - wanted) and len(tested) < len(names) - 1:
            tested.append(int(group))
            taken += sizes[group]
    if not tested:
        tested.append(int(drawn[np.argmin(sizes[drawn])]))
    is_test = np.isin(place, tested)
    return shuffled(known[~is_test], seed), known[is_test]


def divided(
    labels: np.ndarray,
    share: float,
    seed: int,
    where: str,
    how: str,
    groups: np.ndarray | None = None,
    by_class: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the samples on both sides of the split ``how``; the second has this share.

    Args:
        groups: for ``group:COLUMN``.
        by_class: samples are stored class by class.

    Raises:
        DataError: one of the sides would be empty.
    """
    if groups is not None:
        return grouped(groups, labels, share, seed, where)
    if how == "order":
        return ordered(labels, share, seed, where, by_class)
    return stratified(labels, share, seed, where)


def only(labels: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The labels of the ``chosen`` samples; the others have none."""
    kept = np.full_like(labels, NO_LABEL)
    kept[chosen] = labels[chosen]
    return kept


def _count(members: int, share: float) -> int:
    """How many of so many are for the test: at least one on both sides, or none of one."""
    return min(max(round(share * members), 1), members - 1) if members > 1 else 0


def _require(train: list[np.ndarray], test: list[np.ndarray], labels: np.ndarray, where: str) -> None:
    for name, parts in (("training", train), ("test", test)):
        if not sum(map(len, parts)):
            raise DataError(
                f"{where}: no sample is left for the {name}: {int((labels >= 0).sum())} samples with a "
                "label in "
                f"{len(np.unique(labels[labels >= 0]))} classes; give at least two of each class"
            )


def shuffled(indices: np.ndarray, seed: int) -> np.ndarray:
    """The numbers in an order that depends on the seed alone."""
    return np.random.Generator(np.random.PCG64([seed, 1 << 32])).permutation(indices)
