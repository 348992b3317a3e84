"""Workers of a DataLoader: the same batches in the same order, errors, ends of processes, random numbers."""

import copyreg
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import disable_static, enable_static
from engine.core.errors import WorkerError
from engine.eager.tensor import Tensor
from engine.io import DataLoader, Dataset, IterableDataset, get_worker_info, transport, workers
from tests.late_exit_codes import let_another_thread_find_the_end

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")


class Items(Dataset):
    def __init__(self, make, count=7):
        self.make, self.count = make, count

    def __getitem__(self, idx):
        return self.make(idx)

    def __len__(self):
        return self.count


class Shares(IterableDataset):
    """Worker i gives counts[i] numbers from 100 i on; the calling process gives them all."""

    def __init__(self, counts):
        self.counts = counts

    def __iter__(self):
        info = get_worker_info()
        ids = range(len(self.counts)) if info is None else [info.id]
        return iter([np.array([100 * i + k]) for i in ids for k in range(self.counts[i])])


def seen(loader):
    return [batch.numpy().reshape(-1).tolist() for batch in loader]


def children():
    return {process.pid for process in multiprocessing.active_children()}


@pytest.fixture(autouse=True)
def nothing_is_left():
    memory = set(os.listdir("/dev/shm"))
    descriptors = len(os.listdir("/proc/self/fd"))
    yield
    assert not children()
    assert set(os.listdir("/dev/shm")) <= memory
    assert len(os.listdir("/proc/self/fd")) <= descriptors


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": 2},
        {"batch_size": 2, "drop_last": True, "prefetch_factor": 1},
        {"batch_size": 3, "shuffle": True},
        {"batch_size": None},
        {"batch_sampler": [[3, 1], [0], [6, 6]], "prefetch_factor": 5},
        {"batch_size": 2, "use_shared_memory": False},
        {"batch_size": 2, "use_buffer_reader": False, "timeout": 1, "persistent_workers": True},
    ],
    ids=str,
)
def test_batches_and_their_order_are_those_of_one_process(arguments):
    def epochs(count):
        np.random.seed(3)
        loader = DataLoader(Items(lambda i: np.full(3, i)), num_workers=count, **arguments)
        found = []
        for _ in range(2):
            if not count:
                np.random.randint(0, sys.maxsize)  # where there are workers their seed is drawn first
            found.append(seen(loader))
        return found, len(loader), len(iter(loader))

    assert epochs(2) == epochs(0)


# The right column is what Paddle 2.6.2 gives.
@pytest.mark.parametrize(
    ("counts", "arguments", "batches"),
    [
        ([1, 5, 3], {"batch_size": 2}, [[0], [100, 101], [200, 201], [102, 103], [202], [104]]),
        ([1, 5, 3], {"batch_size": 2, "drop_last": True}, [[100, 101], [200, 201], [102, 103]]),
        ([7, 1, 4], {}, [[0], [100], [200], [1], [201], [2], [202], [3], [203], [4], [5], [6]]),
        ([2, 1, 4], {"batch_size": None}, [[0], [100], [200], [1], [201], [202], [203]]),
        ([0, 0], {"batch_size": 2}, []),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_iterable_datasets_are_read_in_turns(counts, arguments, batches, persistent):
    loader = DataLoader(Shares(counts), num_workers=len(counts), persistent_workers=persistent, **arguments)
    assert [seen(loader), seen(loader)] == [batches, batches]


@pytest.mark.parametrize(
    "data", [Items(lambda i: np.array([i]), 9), Shares([5, 1, 4])], ids=["items", "iterable"]
)
@pytest.mark.parametrize("position", [0, 3])
def test_an_epoch_continues_where_it_was_left(data, position):
    def loader():
        return DataLoader(data, batch_size=2, num_workers=3)

    first = loader()
    iterator = iter(first)
    for _ in range(position):
        next(iterator)
    state = first.state_dict()
    rest = seen(iterator)
    second = loader()
    second.set_state_dict(state)
    assert seen(second) == rest
    assert first.state_dict()["running"] == 0


def test_arrays_tensors_and_everything_else_come_through():
    def collate(samples):
        array = np.stack(samples)
        return {
            "pair": (array, array),  # one array twice makes two Tensors
            "turned": array.T,
            "texts": ["a", b"b", None, 3],
            "tensor": engine.to_tensor(array),
            "empty": np.zeros((0, 3), "float32"),
            "scalar": np.array(2.5),
            "half": array.astype("float16"),
        }

    data = Items(lambda i: np.full((4, 5000), i, "float32"), 4)
    for shared in (True, False):
        first, second = DataLoader(
            data, batch_size=2, num_workers=1, collate_fn=collate, use_shared_memory=shared
        )
        expected = collate([data[2], data[3]])
        left, right = second["pair"]
        assert isinstance(second["pair"], list)
        left += 1
        np.testing.assert_array_equal(right.numpy(), expected["pair"][0])
        np.testing.assert_array_equal(first["pair"][0].numpy(), collate([data[0], data[1]])["pair"][0])
        np.testing.assert_array_equal(second["turned"].numpy(), expected["turned"])
        assert second["texts"] == expected["texts"]
        assert isinstance(second["tensor"], Tensor)
        assert second["tensor"].stop_gradient
        assert second["empty"].shape == [0, 3]
        assert second["scalar"].item() == 2.5
        assert second["half"].dtype.name == "float16"


def test_shared_memory_is_used_again_and_grows():
    """Batches that were taken stay as they were, though their memory serves later ones."""
    assert transport.SHARES_MEMORY
    loader = DataLoader(
        Items(lambda i: np.full((i % 5 + 1) * 30_000, i, "float32"), 20),
        num_workers=2,
        batch_size=1,
        prefetch_factor=2,
    )
    for number, batch in enumerate(list(loader)):
        assert batch.shape == [1, (number % 5 + 1) * 30_000]
        assert (batch.numpy() == number).all()


# Recorded from Paddle 2.6.2: np.random.seed(7), num_workers=2, then what np.random, random and the worker's
# information give for the first four batches.
DRAWS = [
    [152107836, 219983605, 0, 1407639518939636932],
    [1033864931, 991775690, 1, 1407639518939636932],
    [863888540, 878100847, 0, 1407639518939636932],
    [340245045, 1035151005, 1, 1407639518939636932],
]


def test_workers_draw_the_random_numbers_of_paddle():
    def draw(_):
        info = get_worker_info()
        return np.array([np.random.randint(1 << 30), random.randrange(1 << 30), info.id, info.seed])

    np.random.seed(7)
    assert seen(DataLoader(Items(draw, 4), num_workers=2)) == DRAWS
    own = DataLoader(Items(lambda i: engine.randint(0, 1 << 30, [1]), 4), num_workers=2)
    np.random.seed(7)
    first = seen(own)
    np.random.seed(7)
    assert seen(own) == first
    assert len({value for (value,) in first}) == 4
    assert get_worker_info() is None


def test_the_information_about_a_worker_can_not_be_changed():
    def change(_):
        info = get_worker_info()
        try:
            info.id = 3
        except RuntimeError as error:
            return f"{error}, {info.num_workers}, {type(info.dataset).__name__}"

    assert next(iter(DataLoader(Items(change), num_workers=2))) == [
        "Cannot assign attributes to WorkerInfo objects, 2, Items"
    ]


def test_worker_init_fn_runs_once_in_every_worker():
    state = {}

    def init(number):
        state["number"] = state.get("number", 0) + 10 * (number + 1)

    loader = DataLoader(
        Items(lambda i: state["number"], 4), num_workers=2, worker_init_fn=init, persistent_workers=True
    )
    assert [seen(loader), seen(loader)] == [[[10], [20], [10], [20]]] * 2
    assert not state


class Refused(Exception):
    def __init__(self, number, reason):
        super().__init__(number, reason)
        self.number = number


class Odd(LookupError):
    """Can't be pickled by its arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_at(number, error):
    def make(i):
        if i == number:
            raise error
        return np.array([i])

    return make


def failed(loader):
    """What the loader raises, and after how many batches."""
    count = 0
    try:
        for _ in loader:
            count += 1
    except Exception as error:
        return error.with_traceback(None), count
    raise AssertionError(f"nothing was raised in {count} batches")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("no such image"), ValueError),
        (KeyError("name"), KeyError),
        (Refused(3, "why"), Refused),
        (Odd(1, 2), LookupError),
        (type("Local", (OSError,), {})("gone"), OSError),
    ],
    ids=lambda value: getattr(value, "__name__", None) or type(value).__name__,
)
def test_an_error_comes_at_its_batch_with_its_class_and_the_traceback_of_the_worker(monkeypatch, error, kind):
    # Dask, where a test before this one has imported it, teaches pickle how to copy any exception.
    monkeypatch.delitem(copyreg.dispatch_table, type(error), raising=False)
    caught, before = failed(DataLoader(Items(raise_at(4, error)), num_workers=3))
    assert type(caught) is kind
    assert before == 4
    assert str(error) in str(caught)
    (note,) = caught.__notes__
    assert note.startswith(f"DataLoader worker(1) caught {type(error).__name__} with message:\nTraceback")
    assert "in __getitem__" in note
    assert "engine/io/worker.py" not in note
    if kind is Refused:
        assert caught.number == 3


def test_errors_of_functions_and_of_what_can_not_be_sent():
    def init(number):
        raise LookupError(f"init {number}")

    caught, before = failed(DataLoader(Items(lambda i: i), num_workers=2, worker_init_fn=init))
    assert (type(caught), str(caught), before) == (LookupError, "init 0", 0)
    caught, _ = failed(DataLoader(Items(lambda i: (x for x in ())), num_workers=2, batch_size=None))
    assert "pickle" in str(caught)


def test_after_an_error_the_next_batch_can_be_asked_for():
    iterator = iter(DataLoader(Items(raise_at(1, ValueError("bad")), 4), num_workers=2))
    assert next(iterator).item() == 0
    with pytest.raises(ValueError, match="bad"):
        next(iterator)
    assert seen(iterator) == [[2], [3]]


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            r"worker 1 of 2 \(process \d+\) was killed by SIGKILL",
        ),
        (
            lambda: os.kill(os.getpid(), signal.SIGTERM),
            r"worker 1 of 2 \(process \d+\) was killed by SIGTERM",
        ),
        (lambda: os._exit(3), r"worker 1 of 2 \(process \d+\) ended with exit code 3"),
    ],
    ids=["kill", "terminate", "exit"],
)
def test_a_worker_that_is_gone_is_named_in_one_line(end, message):
    caught, before = failed(DataLoader(Items(lambda i: np.array([i]) if i != 3 else end()), num_workers=2))
    assert isinstance(caught, WorkerError)
    assert isinstance(caught, SystemError)  # Paddle's
    assert before == 3
    assert "\n" not in str(caught)
    assert re.search(message, str(caught))


def test_the_exit_code_of_a_worker_is_right_if_another_thread_found_its_end(monkeypatch):
    let_another_thread_find_the_end(monkeypatch)
    caught, _ = failed(DataLoader(Items(lambda i: np.array([i]) if i != 1 else os._exit(3)), num_workers=1))
    assert "ended with exit code 3 before" in str(caught)


def test_a_loader_that_is_left_early_ends_its_workers():
    loader = DataLoader(Items(lambda i: i, 100), num_workers=2)
    for _ in loader:
        assert len(children()) == 2
        break
    assert not children()
    iterator = iter(loader)
    next(iterator)
    del iterator
    assert not children()
    with pytest.raises(ZeroDivisionError):
        sum(1 / batch.item() for batch in loader)
    assert not children()


def test_persistent_workers_stay_the_same_until_the_loader_is_gone():
    loader = DataLoader(Items(lambda i: os.getpid(), 4), num_workers=2, persistent_workers=True)
    first = seen(loader)
    iterator = iter(loader)
    next(iterator)
    assert iter(loader) is iterator  # begins again
    assert seen(iterator) == first == seen(loader)
    assert {pid for (pid,) in first} == children()
    os.kill(first[0][0], signal.SIGKILL)
    caught, _ = failed(loader)
    assert isinstance(caught, WorkerError)
    assert first[0] not in seen(loader)  # with new workers


def test_static_mode_feeds_what_workers_load_eagerly():
    def collate(samples):
        return [engine.to_tensor(np.stack(samples)) * 2]

    enable_static()
    try:
        loader = DataLoader(Items(lambda i: np.array([i]), 3), num_workers=2, collate_fn=collate)
        assert [batch[0].numpy().tolist() for batch in loader] == [[[0]], [[2]], [[4]]]
    finally:
        disable_static()


def test_a_long_list_of_indices_and_a_large_batch_do_not_wait_for_each_other():
    """Tasks and batches that both exceed what a pipe holds."""
    sampler = [list(range(60_000))] * 6
    loader = DataLoader(
        Items(lambda i: i, 60_000),
        batch_sampler=sampler,
        num_workers=1,
        use_shared_memory=False,
        prefetch_factor=4,
    )
    assert [batch.shape for batch in loader] == [[60_000]] * 6


SCRIPT = """
import os, signal, sys, time
import numpy as np
import paddle
from paddle.io import DataLoader, Dataset
{prelude}
class Slow(Dataset):
    def __getitem__(self, idx):
        time.sleep({sleep})
        return np.array([idx, os.getpid()])
    def __len__(self):
        return 8

{guard}
    for batch in DataLoader(Slow(), num_workers=2):
        print(batch.numpy().tolist(), flush=True)
"""


def start(tmp_path, prelude="", guard="if __name__ == '__main__':", sleep=0.0):
    script = Path(tmp_path, "script.py")
    script.write_text(SCRIPT.format(prelude=prelude, guard=guard, sleep=sleep))
    return subprocess.Popen(
        [sys.executable, "-m", "engine.run", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_a_script_that_is_stopped(tmp_path, number):
    process = start(tmp_path, sleep=0.05)
    first = eval(process.stdout.readline())
    second = eval(process.stdout.readline())
    if number is signal.SIGINT:
        os.killpg(process.pid, number)  # as Ctrl+C does
    else:
        process.kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if number is signal.SIGINT else -number)
    assert errors.count("Traceback") == (number is signal.SIGINT)
    until = time.monotonic() + 30
    while any(is_there(pid) for ((_, pid),) in (first, second)):
        assert time.monotonic() < until, "a worker is still there"


def test_a_script_of_another_start_method(tmp_path):
    prelude = "import multiprocessing\nmultiprocessing.set_start_method('spawn', force=True)"
    process = start(tmp_path, prelude=prelude)
    output, errors = process.communicate(timeout=120)
    rows = [eval(line)[0] for line in output.splitlines()]
    assert [row[0] for row in rows] == list(range(8)), errors
    assert len({row[1] for row in rows}) == 2
    assert process.pid not in {row[1] for row in rows}


@pytest.mark.parametrize(
    ("script", "collate", "reason"),
    [
        ("if __name__ == '__main__':\n    pass", lambda samples: samples, "can't be pickled"),
        ("print(1)", None, "has no `if __name__"),
    ],
    ids=["function", "script"],
)
def test_a_loader_that_cannot_spawn_loads_in_this_process_with_a_warning(
    monkeypatch, tmp_path, script, collate, reason
):
    path = Path(tmp_path, "main.py")
    path.write_text(textwrap.dedent(script))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(path), raising=False)
    monkeypatch.setattr("engine.io.workers.start_method", lambda: "spawn")
    loader = DataLoader(Shares([2]), num_workers=2, collate_fn=collate)
    with pytest.warns(UserWarning, match=f"num_workers=2: batches are loaded in this process: .*{reason}"):
        assert len(list(iter(loader))) == 2


def test_the_start_method_is_the_scripts_else_fork_on_linux(monkeypatch):
    for chosen, platform, method in [
        (None, "linux", "fork"),
        ("forkserver", "linux", "fork"),
        ("spawn", "linux", "spawn"),
        (None, "darwin", "spawn"),
        ("fork", "darwin", "fork"),
        ("spawn", "win32", "spawn"),
    ]:
        monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none, chosen=chosen: chosen)
        monkeypatch.setattr(workers.sys, "platform", platform)
        assert workers.start_method() == method
