"""Samplers: order, replacement, weights, batches; all from the engine's generator."""

import hashlib
import json

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.random.generator import default_generator
from engine.io import (
    BatchSampler,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


@pytest.mark.parametrize(
    ("drop_last", "batches"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])], ids=["keep", "drop"]
)
def test_batches_in_order(drop_last, batches):
    sampler = BatchSampler(range(5), batch_size=2, drop_last=drop_last)
    assert list(sampler) == batches
    assert len(sampler) == len(batches)
    assert list(BatchSampler(sampler=SequenceSampler(range(5)), batch_size=2, drop_last=drop_last)) == batches


@pytest.mark.parametrize(
    "seed",
    [np.random.seed, lambda n: default_generator().manual_seed(n, "philox")],
    ids=["NumPy's", "philox"],
)
def test_random_order_is_a_permutation_that_the_seed_decides(seed):
    try:
        seed(7)
        first, second = list(RandomSampler(range(50))), list(RandomSampler(range(50)))
        assert sorted(first) == list(range(50))
        assert first != second
        seed(7)
        assert list(RandomSampler(range(50))) == first
    finally:
        default_generator().manual_seed(0, "mt19937_64")


def test_with_the_counter_based_generator_one_epoch_takes_one_key():
    default_generator().manual_seed(1, "philox")
    try:
        before = np.random.get_state()[1].tolist()
        list(BatchSampler(range(20), shuffle=True, batch_size=3))
        assert default_generator().state() == {"kind": "philox", "seed": 1, "offset": 1}
        assert np.random.get_state()[1].tolist() == before
    finally:
        default_generator().manual_seed(0, "mt19937_64")


def test_the_order_is_drawn_when_the_iterator_is_made():
    np.random.seed(1)
    iterator = iter(BatchSampler(range(20), shuffle=True, batch_size=20))
    np.random.seed(2)
    late = next(iterator)
    np.random.seed(1)
    assert late == list(RandomSampler(range(20)))


def test_replacement_subset_generator_and_weights():
    np.random.seed(0)
    drawn = list(RandomSampler(range(3), replacement=True, num_samples=300))
    assert len(drawn) == 300
    assert set(drawn) == {0, 1, 2}
    assert list(RandomSampler(range(3), generator=iter([2, 2, 1, 0]))) == [2, 2, 1]
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    weighted = list(WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    shares = np.bincount(weighted, minlength=3) / 4000
    assert shares[0] == 0
    np.testing.assert_allclose(shares[1:], [0.25, 0.75], atol=0.04)
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BatchSampler(range(5), batch_size=0), "positive integer: got 0"),
        (lambda: BatchSampler(), "got neither"),
        (lambda: BatchSampler(range(2), SequenceSampler(range(2))), "got both"),
        (lambda: BatchSampler(sampler=SequenceSampler(range(2)), shuffle=True), "own order"),
        (lambda: BatchSampler(range(5), shuffle=1), "True or False: got 1"),
        (lambda: BatchSampler(IterableDataset()), "no indices"),
        (lambda: RandomSampler(range(5), num_samples=3), "replacement=True"),
        (lambda: RandomSampler([]), "got 0"),
        (lambda: SubsetRandomSampler([]), "empty"),
        (lambda: WeightedRandomSampler([1.0, -1.0], 1), "finite numbers >= 0"),
        (lambda: WeightedRandomSampler([1.0, 0.0], 2, replacement=False), "2 different indices"),
        (lambda: WeightedRandomSampler([1.0], 0), "got 0"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


# By hand: 7 items for 2 processes are 8, the first twice; whole batches of 2 go round, the rest is halved.
@pytest.mark.parametrize(
    ("count", "replicas", "size", "batches"),
    [
        (7, 2, 2, [[[0, 1], [4, 5]], [[2, 3], [6, 0]]]),
        (6, 2, 2, [[[0, 1], [4]], [[2, 3], [5]]]),
        (1, 3, 2, [[[0]], [[0]], [[0]]]),
        (5, 1, 2, [[[0, 1], [2, 3], [4]]]),
    ],
)
def test_processes_share_the_items_evenly(count, replicas, size, batches):
    for rank, mine in enumerate(batches):
        sampler = DistributedBatchSampler(range(count), size, replicas, rank)
        assert list(sampler) == mine
        assert len(sampler) == len(mine)


def test_processes_draw_the_same_order_each_epoch_another():
    def order(rank, epoch=None):
        sampler = DistributedBatchSampler(range(16), 4, 2, rank, shuffle=True)
        if epoch is not None:
            sampler.set_epoch(epoch)
        return [list(sampler), list(sampler)]

    first, second = order(0), order(1)
    assert sorted(item for batch in first[0] + second[0] for item in batch) == list(range(16))
    assert first[0] != first[1]
    assert order(0, epoch=1)[0] == first[1]


def test_batches_are_paddles():
    def reported():
        for count in (1, 5, 17, 64):
            for size in (1, 3, 16):
                for ranks in (1, 2, 5):
                    for shuffle in (False, True):
                        for drop in (False, True):
                            for rank in range(ranks):
                                s = DistributedBatchSampler(range(count), size, ranks, rank, shuffle, drop)
                                first, second = list(s), list(s)
                                s.set_epoch(5)
                                yield [first, second, list(s), len(s), s.epoch]

    # The same of Paddle 2.6.2's own sampler.
    recorded = "5821ae673205b820a68e9387f45c6bcb75e9a72a4a72f453f5a34b75be50a268"
    assert hashlib.sha256(json.dumps(list(reported())).encode()).hexdigest() == recorded


def test_which_process_this_is_stands_in_the_environment(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    assert list(DistributedBatchSampler(range(4), 2)) == [[2, 3]]
    with pytest.raises(ArgumentError, match="rank must be below num_replicas: got 2 of 2"):
        DistributedBatchSampler(range(4), 2, rank=2)
    monkeypatch.setenv("PADDLE_TRAINER_ID", "x")
    with pytest.raises(ArgumentError, match="PADDLE_TRAINER_ID must be an integer >= 0: got 'x'"):
        DistributedBatchSampler(range(4), 2)
    with pytest.raises(ArgumentError, match="no items"):
        DistributedBatchSampler([], 2, 1, 0)
