"""Datasets: joining, cutting, splitting, and when a batched fetch may be used."""

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.random.generator import default_generator
from engine.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from engine.io.dataset import fetch_batch


class Numbers(Dataset):
    def __init__(self, count, start=0):
        self.count, self.start = count, start

    def __getitem__(self, idx):
        if not 0 <= idx < self.count:
            raise IndexError(idx)
        return self.start + idx

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


class Batched(Numbers):
    def __getitems__(self, indices):
        return np.array(indices) + self.start


def test_concat_finds_items_by_position_also_from_the_end():
    joined = ConcatDataset([Numbers(2), Numbers(3, start=10)])
    assert [joined[i] for i in range(5)] == [0, 1, 10, 11, 12]
    assert (joined[-1], joined[-5]) == (12, 0)
    with pytest.raises(IndexError, match="no item 5: it has 5"):
        joined[5]


def test_chain_compose_and_tensor_dataset():
    assert list(ChainDataset([Stream(1, 2), Stream(3)])) == [1, 2, 3]
    assert ComposeDataset([Numbers(2), TensorDataset([np.arange(2), np.arange(2) + 5])])[1] == (1, 1, 6)
    assert len(TensorDataset([np.zeros((4, 2)), np.zeros(4)])) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TensorDataset([np.zeros(2), np.zeros(3)]), r"\[2, 3\]"),
        (lambda: TensorDataset([]), "at least one"),
        (lambda: ConcatDataset([]), "empty list"),
        (lambda: ConcatDataset([Stream(1)]), "ChainDataset"),
        (lambda: ComposeDataset([Numbers(2), Numbers(3)]), r"\[2, 3\]"),
        (lambda: ChainDataset([Numbers(2)]), "ConcatDataset"),
        (lambda: random_split(Numbers(5), [2, 2]), "add up to 4, the dataset has 5"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_base_classes_say_what_is_missing():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset())
    with pytest.raises(TypeError, match="has no length"):
        len(Stream(1))
    with pytest.raises(RuntimeError, match="no items by index"):
        Stream(1)[0]


def test_random_split_is_a_seeded_partition():
    default_generator().manual_seed(3)
    first = [list(part.indices) for part in random_split(Numbers(10), [7, 3])]
    default_generator().manual_seed(3)
    second = [list(part.indices) for part in random_split(Numbers(10), [7, 3])]
    assert first == second
    assert [len(part) for part in first] == [7, 3]
    assert sorted(first[0] + first[1]) == list(range(10))
    assert first[0] != sorted(first[0])


def test_a_batched_fetch_passes_through_subsets():
    part = Subset(Batched(10), [4, 2, 0])
    assert fetch_batch(part, [2, 0]).tolist() == [0, 4]
    assert fetch_batch(Subset(Numbers(10), [4]), [0]) is None


def test_a_subclass_that_changes_items_is_not_bypassed():
    class Negative(Batched):
        def __getitem__(self, idx):
            return -super().__getitem__(idx)

    assert fetch_batch(Negative(3), [1]) is None
    assert fetch_batch(Batched(3), [1]).tolist() == [1]


def test_random_split_by_shares():
    parts = random_split(Numbers(10), [0.5, 0.3, 0.2])
    assert [len(part) for part in parts] == [5, 3, 2]
    parts = random_split(Numbers(11), [0.5, 0.5])
    assert [len(part) for part in parts] == [6, 5]
    assert sorted(part[i] for part in parts for i in range(len(part))) == list(range(11))
    with pytest.raises(ArgumentError, match="Sum of input lengths"):
        random_split(Numbers(10), [0.5, 0.3])
