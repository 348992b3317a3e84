"""DataLoader: what a batch looks like, the fast path's bits, and continuing an epoch in its middle."""

import numpy as np
import pytest

from engine import disable_static, enable_static
from engine.core.errors import ArgumentError
from engine.core.place import CPUPlace
from engine.core.random.generator import default_generator, numpy_state, set_numpy_state
from engine.eager.tensor import Tensor
from engine.io import BatchSampler, DataLoader, Dataset, IterableDataset, Sampler
from engine.static import Executor, Program, data, program_guard


class Items(Dataset):
    def __init__(self, make, count=5):
        self.make, self.count = make, count

    def __getitem__(self, idx):
        if idx >= self.count:
            raise IndexError(idx)
        return self.make(idx)

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def seen(batches):
    return [batch.numpy().tolist() for batch in batches]


# The right column is what Paddle 2.6.2 gives for the same samples.
@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda i: np.zeros(3, "float32"), "float32"),
        (lambda i: i, "int64"),
        (lambda i: float(i), "float64"),
        (lambda i: np.int32(i), "int32"),
        (lambda i: True, "bool"),
        (lambda i: Tensor(np.zeros(3, "float32")), "float32"),
    ],
    ids=["array", "int", "float", "numpy int", "bool", "Tensor"],
)
def test_a_single_field_becomes_one_tensor(make, dtype):
    batch = next(iter(DataLoader(Items(make), batch_size=2)))
    assert isinstance(batch, Tensor)
    assert batch.dtype.name == dtype
    assert batch.shape[0] == 2
    assert batch.stop_gradient


def test_tuples_become_lists_dicts_stay_and_strings_stay_strings():
    image, label, name = next(iter(DataLoader(Items(lambda i: (np.full(2, i), i, "s")), batch_size=2)))
    assert image.numpy().tolist() == [[0, 0], [1, 1]]
    assert label.numpy().tolist() == [0, 1]
    assert name == ["s", "s"]
    batch = next(iter(DataLoader(Items(lambda i: {"a": (i, float(i))}), batch_size=2)))
    assert isinstance(batch["a"], list)
    assert batch["a"][1].numpy().tolist() == [0.0, 1.0]


def test_batches_cover_the_data_and_the_loader_can_be_called():
    loader = DataLoader(Items(lambda i: i), batch_size=2)
    assert seen(loader()) == seen(loader) == [[0, 1], [2, 3], [4]]
    assert len(loader) == 3
    assert seen(DataLoader(Items(lambda i: i), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]


def test_without_batches_samples_come_as_they_are():
    pairs = list(DataLoader(Items(lambda i: (np.full(2, i), i)), batch_size=None))
    assert len(pairs) == 5
    assert pairs[3][0].numpy().tolist() == [3, 3]
    assert pairs[3][1] == 3


def test_a_collate_fn_gets_the_samples():
    loader = DataLoader(
        Items(lambda i: i), batch_size=3, collate_fn=lambda samples: (np.array(samples) * 10, "x")
    )
    array, text = next(iter(loader))
    assert array.numpy().tolist() == [0, 10, 20]
    assert text == "x"


def test_shuffling_follows_the_seed_of_numpy():
    np.random.seed(5)
    loader = DataLoader(Items(lambda i: i, 20), batch_size=20, shuffle=True)
    first, second = seen(loader), seen(loader)
    np.random.seed(5)
    assert (seen(loader), seen(loader)) == (first, second)
    assert first != second
    assert sorted(first[0]) == list(range(20))


def test_iterable_datasets_are_cut_into_batches():
    assert seen(DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert seen(DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    with pytest.raises(ArgumentError, match="not known"):
        len(DataLoader(Stream(5)))


class Batched(Items):
    """Counts how often a whole batch was fetched."""

    fetched = 0

    def __getitems__(self, indices):
        self.fetched += 1
        return np.array(indices), np.array(indices) * 0.5


def test_a_dataset_is_asked_for_whole_batches():
    data = Batched(lambda i: (i, i * 0.5))
    fast = [[field.numpy() for field in batch] for batch in DataLoader(data, batch_size=2)]
    assert data.fetched == 3
    slow = [[field.numpy() for field in batch] for batch in DataLoader(Items(data.make), batch_size=2)]
    for left, right in zip(fast, slow, strict=True):
        for a, b in zip(left, right, strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()


def test_a_collate_fn_never_gets_a_stacked_batch():
    loader = DataLoader(Batched(lambda i: (i, i * 0.5)), batch_size=2, collate_fn=lambda samples: samples)
    assert next(iter(loader)) == [[0, 0.0], [1, 0.5]]


class Lazy(Sampler):
    """A user's sampler written as a generator function: it draws at its first batch."""

    def __iter__(self):
        order = np.random.permutation(9)
        for start in range(0, 9, 2):
            yield order[start : start + 2].tolist()

    def __len__(self):
        return 5


LOADERS = {
    "shuffled": lambda: DataLoader(Items(lambda i: i, 9), batch_size=2, shuffle=True),
    "sequence": lambda: DataLoader(Items(lambda i: i, 9), batch_size=2),
    "sampler": lambda: DataLoader(Items(lambda i: i, 9), batch_sampler=BatchSampler(range(9), None, True, 2)),
    "lazy sampler": lambda: DataLoader(Items(lambda i: i, 9), batch_sampler=Lazy()),
    "iterable": lambda: DataLoader(Stream(9), batch_size=2),
}


def plain(state):
    """A state with lists in place of arrays, to be compared."""
    if isinstance(state, dict):
        return {name: plain(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state


@pytest.fixture
def generator(request):
    default_generator().manual_seed(11, request.param)
    np.random.seed(11)
    yield default_generator()
    default_generator().manual_seed(0, "mt19937_64")


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("position", [0, 1, 3, 5])
@pytest.mark.parametrize("generator", ["mt19937_64", "philox"], indirect=True)
def test_an_epoch_continues_where_it_was_left(generator, kind, position):
    loader = LOADERS[kind]()
    seen(loader)  # an epoch before, so that the key is not the first
    iterator = iter(loader)
    for _ in range(position):
        next(iterator)
    state, drawn, ordered = loader.state_dict(), generator.state(), numpy_state()
    rest, after = seen(iterator), seen(loader)

    generator.manual_seed(99)
    np.random.seed(99)
    other = LOADERS[kind]()
    other.set_state_dict(state)
    assert plain(other.state_dict()) == plain(state)
    generator.set_state(drawn)
    set_numpy_state(ordered)
    assert seen(other) == rest
    assert seen(other) == after


def test_an_epoch_of_an_earlier_release_continues():
    """It kept the two numbers of the counter-based generator, which drew the order."""
    default_generator().manual_seed(11, "philox")
    try:
        loader = LOADERS["shuffled"]()
        whole = seen(loader)
    finally:
        default_generator().manual_seed(0, "mt19937_64")
    loader.set_state_dict({"running": 1, "seed": 11, "offset": 0, "position": 2, "batches": 5})
    assert seen(loader) == whole[2:]
    assert default_generator().kind == "mt19937_64"


def test_between_epochs_there_is_nothing_to_resume():
    loader = LOADERS["shuffled"]()
    assert loader.state_dict()["running"] == 0
    seen(loader)
    assert loader.state_dict()["running"] == 0
    other = LOADERS["shuffled"]()
    other.set_state_dict(loader.state_dict())
    assert len(seen(other)) == 5


def test_a_state_of_other_data_is_refused():
    loader = LOADERS["shuffled"]()
    next(iter(loader))
    with pytest.raises(ArgumentError, match="batch 1 of 5, here are 3"):
        DataLoader(Items(lambda i: i, 9), batch_size=3).set_state_dict(loader.state_dict())
    with pytest.raises(ArgumentError, match="running, batches"):
        loader.set_state_dict({"position": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_workers": -1}, "num_workers and timeout must not be negative"),
        ({"places": ["cpu", "cpu"]}, "go to one place: got 2"),
        ({"batch_size": 0}, "got 0"),
        ({"batch_sampler": [[0]], "shuffle": True}, "should not be set when batch_sampler is given"),
        ({"batch_size": None, "shuffle": True}, "single samples"),
        ({"prefetch_factor": 0}, "prefetch_factor"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        DataLoader(Items(lambda i: i), **arguments)
    if "shuffle" in arguments:
        with pytest.raises(ArgumentError, match="own order"):
            DataLoader(Stream(3), shuffle=True)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda i: np.zeros(i + 1), ValueError, r"different shapes: \[\(1,\), \(2,\)\]"),
        (lambda i: (0,) * (i + 1), ValueError, r"different numbers of fields: \[1, 2\]"),
        (lambda i: object(), TypeError, "type object"),
    ],
    ids=["ragged", "fields", "type"],
)
def test_samples_that_do_not_fit_together(make, error, message):
    with pytest.raises(error, match=message):
        next(iter(DataLoader(Items(make), batch_size=2)))


def test_in_static_mode_batches_are_data_to_feed():
    enable_static()
    try:
        with program_guard(Program()):
            x, y = data("x", [None, 2], "float32"), data("y", [None], "int64")
            items = Items(lambda i: (np.full(2, i, "float32"), i))
            with pytest.raises(ArgumentError, match="feed_list=None"):
                DataLoader(items, return_list=False)
            (batch,) = next(iter(DataLoader(items, [x, y], batch_size=3, return_list=False)))
            assert list(batch) == ["x", "y"]
            assert batch["x"].numpy().tolist() == [[0, 0], [1, 1], [2, 2]]
            first, second = next(iter(DataLoader(items, [x, y], batch_size=3)))
            assert isinstance(first, Tensor)
            assert second.numpy().tolist() == [0, 1, 2]
            with pytest.raises(ArgumentError, match="2 fields: feed_list has 1"):
                next(iter(DataLoader(items, [x], return_list=False)))
            (out,) = Executor().run(feed=batch, fetch_list=[x * 2])
            assert out.tolist() == [[0, 0], [2, 2], [4, 4]]
    finally:
        disable_static()


def test_batches_are_made_at_the_given_place():
    (batch,) = next(iter(DataLoader(Items(lambda i: (i,)), places=[CPUPlace()])))
    assert batch.place == CPUPlace()


def test_numpy_strings_stay_strings():
    assert next(iter(DataLoader(Items(lambda i: np.str_("s")), batch_size=2))) == ["s", "s"]
