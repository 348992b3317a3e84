"""Sweeps on a Dask cluster of this process: results, going on, stopping, models as text, what is refused."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import ArgumentError, DataError, InUseError
from engine.files.run_source import is_own
from resources.locks import Lock, take
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import read_run_line
from studio.session.sweep.children import Child, Progress, Report, Tell
from studio.session.sweep.document import Halving, read_sweep
from studio.session.sweep.files import read_run, require_run_files, write_run
from studio.session.sweep.making import new_sweep
from studio.session.sweep.pool import Job, require_trusted
from studio.session.sweep.runner import SweepRun
from tests.studio.session.sweep.inside import InsidePool, carry_out, settings

distributed = pytest.importorskip("distributed", reason="the extra sweep (Dask) is not installed")

from tornado.util import TimeoutError as LoopTimeout  # noqa: E402

from studio.session.sweep import remote  # noqa: E402
from studio.session.sweep.cluster import (  # noqa: E402
    ClusterPool,
    WithoutWorkers,
    _connection,
    is_news,
    source_text,
    written,
)

# Dask keeps the threads of its pools for the next cluster of the process.
pytestmark = pytest.mark.leaves_threads

MODEL = """
import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(engine.flatten(x, 1))
"""


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster with one worker of two threads."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        host="tcp://127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster.scheduler_address


def test_a_halving_with_a_model_of_ones_own_is_as_here(scheduler: str, bars: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    chosen = settings(bars, model=f"{tmp_path / 'net.py'}:Net", static=False)
    words = ["lr=1e-4,0.05"]
    here = new_sweep(chosen, words, halving=Halving(eta=2, min_epochs=1))
    carry_out(tmp_path / "here", here, InsidePool())
    there = new_sweep(chosen, words, halving=Halving(eta=2, min_epochs=1))
    pool = ClusterPool(scheduler, jobs=0)
    assert pool.slots == 2
    (tmp_path / "there").mkdir()
    SweepRun(tmp_path / "there", there, pool).run()
    assert there == here
    assert [trial.state for trial in there.trials] == ["dropped", "done"]
    run = tmp_path / "there" / "trial-002"
    assert [row["epoch"] for row in read_history(run).epochs] == [1, 2]
    # The code in it is what was sent, and ours: it may be resumed and exported here.
    assert (run / "source" / "net.py").read_text() == MODEL
    assert is_own(run)
    assert not (run / "run.lock").exists()


def test_a_running_trial_is_followed_while_it_trains(scheduler: str, bars: Path, tmp_path: Path) -> None:
    sweep = new_sweep(settings(bars, epochs=1_000_000), ["seed=1"])
    run = SweepRun(tmp_path, sweep, ClusterPool(scheduler, jobs=1))
    folder, seen = tmp_path / "trial-001", list[Any]()

    def tell(event: Any) -> None:
        if event["event"] == "trial_epoch" and not seen:
            line = read_run_line(folder)
            assert line is not None
            seen.extend((line.state, line.epoch >= 1, line.checkpoint, len(read_history(folder).steps) > 3))
            run.interrupt()

    run.tell = tell
    run.run()
    assert seen == ["running", True, "", True]
    assert sweep.trials[0].state == "interrupted"
    line = read_run_line(folder)
    assert line is not None
    assert (line.state, line.checkpoint_step) == ("interrupted", line.step)


def test_stopping_brings_the_checkpoints_back(
    scheduler: str, bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = new_sweep(settings(bars, epochs=1_000_000), ["seed=1,2"])
    run = SweepRun(tmp_path, sweep, ClusterPool(scheduler, jobs=1))

    class Stopping(Child):
        """Stops the sweep as soon as its training has begun."""

        def __init__(self, number: int, words: list[str], tell: Tell, **more: Any) -> None:
            def outcome(report: Report) -> None:
                tell(report)
                if isinstance(report, Progress):
                    run.interrupt()

            super().__init__(number, words, outcome, **more)

    monkeypatch.setattr(remote, "Child", Stopping)
    run.run()
    assert [trial.state for trial in sweep.trials] == ["interrupted", "waiting"]
    assert read_sweep(tmp_path) == sweep
    line = read_run_line(tmp_path / "trial-001")
    assert line is not None
    assert line.state == "interrupted"
    assert line.checkpoint_step == line.step
    assert not (tmp_path / "trial-002").exists()


def test_a_scheduler_without_workers_is_reported_after_ten_seconds_and_every_minute() -> None:
    workers = WithoutWorkers("tls://head:8786")
    found = [
        (now, workers.look(threads, now)) for threads, now in ((2, 0), (0, 5), (0, 14), (2, 16), (0, 20))
    ]
    assert [line for _, line in found] == [""] * 5
    found = [(now, workers.look(0, now)) for now in (29, 30, 31, 89, 90, 91)]
    assert [now for now, line in found if line] == [30, 90]
    assert found[1][1] == (
        "--scheduler: it has had no workers for 10 s, the sweep waits for one: tls://head:8786; start some: "
        "dask worker tls://head:8786"
    )


def test_a_sweep_waits_for_workers_and_says_so(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.session.sweep.cluster.NOTICE", 0.0)
    monkeypatch.setattr("studio.session.sweep.cluster._LOOK", 0.1)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        host="tcp://127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        pool = ClusterPool(cluster.scheduler_address, jobs=1)
        cluster.scale(0)
        cluster.sync(cluster._correct_state)
        sweep = new_sweep(settings(bars), ["seed=1"])
        run = SweepRun(tmp_path, sweep, pool)
        events: list[Any] = []

        def tell(event: Any) -> None:
            events.append(event)
            if event["event"] == "sweep_waiting":
                cluster.scale(1)

        run.tell = tell
        run.run()
    assert [event["event"] for event in events[:2]] == ["trial_started", "sweep_waiting"]
    assert events[1]["message"].startswith("--scheduler: it has had no workers for 0 s")
    assert sweep.trials[0].state == "done"


def test_a_task_without_a_waiting_client_ends(scheduler: str, bars: Path, tmp_path: Path) -> None:
    outcome: list[Report] = []
    words = ("--data", str(bars), "--model", "linear", "--epochs", "1000000")
    for number in (1, 2):
        pool = ClusterPool(scheduler, jobs=1)
        pool.tell = outcome.append
        pool.start(Job(number, tmp_path / f"trial-00{number}", words))
        pool.close(0)
    assert outcome == []
    # The worker's two threads are free for the next one as soon as one of those children has ended.
    (tmp_path / "sweep").mkdir()
    sweep = new_sweep(settings(bars, data=str(tmp_path / "nowhere")), ["seed=1"])
    SweepRun(tmp_path / "sweep", sweep, ClusterPool(scheduler, jobs=1)).run()
    assert sweep.trials[0].state == "failed"
    assert sweep.trials[0].message.startswith("data: no such data: got ")


def test_a_cluster_that_is_gone_leaves_a_sweep_to_be_resumed(bars: Path, tmp_path: Path) -> None:
    class Gone:
        """A future as Dask leaves it when its scheduler is gone."""

        status = "cancelled"

        def release(self) -> None:
            pass

    class Half(ClusterPool):
        """A cluster that is gone as soon as it has a task."""

        def __init__(self) -> None:
            self._jobs, self._tasks = 1, {}

        @property
        def slots(self) -> int:
            return 1

        def start(self, job: Job) -> None:
            self.tell(self._taken(job, Gone(), {}))

        def close(self, seconds: float = 0) -> None:
            pass

    sweep = new_sweep(settings(bars), ["seed=1,2"])
    SweepRun(tmp_path, sweep, Half()).run()
    assert [trial.state for trial in sweep.trials] == ["interrupted", "interrupted"]
    with (
        pytest.raises(DataError, match="--scheduler: the connection is lost: x; see that it runs"),
        _connection(),
    ):
        raise OSError("x")


def test_which_schedulers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("", "host:8786", "inproc://x", "tls://", "ucx://host:1"):
        with pytest.raises(ArgumentError, match="no address of a scheduler"):
            require_trusted(address, trust=True)
    with pytest.raises(ArgumentError, match="not encrypted"):
        require_trusted("tcp://host:8786", trust=False)
    require_trusted("tcp://host:8786", trust=True)
    require_trusted("tls://host:8786", trust=False)
    with pytest.raises(ArgumentError, match="tls needs certificates"):
        ClusterPool("tls://127.0.0.1:1", jobs=0)
    monkeypatch.setattr("studio.session.sweep.cluster.CONNECT_SECONDS", 0.2)
    with pytest.raises(DataError, match="--scheduler: no connection: tcp://127"):
        ClusterPool("tcp://127.0.0.1:1", jobs=0)


def test_timeouts_that_dask_leaves_in_its_loop_are_not_reported() -> None:
    async def left(error: Exception) -> None:
        asyncio.get_running_loop().create_future().set_exception(error)

    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    log = logging.getLogger("asyncio")
    log.addHandler(handler)
    log.propagate = False
    try:
        for error in (
            TimeoutError("Timeout"),
            LoopTimeout("Timeout"),
            RuntimeError("ConnectionPool is closed"),
            ValueError("a mistake"),
        ):
            asyncio.run(left(error))
            gc.collect()
    finally:
        log.propagate = True
        log.removeHandler(handler)
    seen = [record.exc_info[1] for record in records if record.exc_info and is_news(record)]
    assert [str(error) for error in seen] == ["a mistake"]


def test_a_model_with_files_next_to_it_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    (tmp_path / "helper.py").touch()
    for line in (
        "import helper",
        "from helper import x",
        "from . import helper",
        "def f():\n    import helper.part",
    ):
        file.write_text(line)
        with pytest.raises(DataError, match="only one file is sent"):
            source_text(file)
    file.write_text("import os.path\nfrom engine import nn\n")
    assert source_text(file) == file.read_text()
    file.write_text("def")
    with pytest.raises(DataError, match="can't be sent"):
        source_text(file)


def test_results_from_the_cluster_are_checked(tmp_path: Path) -> None:
    job = Job(1, tmp_path / "trial-001", ())
    good = json.dumps({"code": 0, "lines": []})
    bad: list[Any] = [None, ("", {}), ("[]", {}), ('{"code": "0", "lines": []}', {}), (b"{}", {})]
    for result in bad:
        with pytest.raises(DataError, match="a trial gave no result"):
            written(job, result, {})
    names = (
        "../x",
        "/etc/passwd",
        "checkpoints/../../x",
        "source/net.py",
        "source.mark",
        "checkpoints/a.py",
        "x",
    )
    files: list[Any] = [{name: b""} for name in names]
    for each in (*files, {1: b""}, {"journal.jsonl": "text"}, [b""]):
        with pytest.raises(DataError, match="cluster: "):
            written(job, (good, each), {})
    assert not job.folder.exists()


def test_a_run_there_and_back(bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(tmp_path / "sweep", new_sweep(settings(bars, epochs=1), ["seed=1"]), InsidePool())
    run, copy = tmp_path / "sweep" / "trial-001", tmp_path / "copy"
    files = read_run(run)
    checkpoints = [f"checkpoints/{name}.h5" for name in ("best", "step-00000000", "step-00000004")]
    assert sorted(files) == [*checkpoints, "journal.jsonl", "run.h5"]
    (copy / "checkpoints").mkdir(parents=True)
    (copy / "checkpoints" / "step-00000002.h5").touch()
    write_run(copy, require_run_files(files))
    assert read_run(copy) == files
    lock = take(copy / "run.lock")
    assert isinstance(lock, Lock)
    with pytest.raises(InUseError, match="a training is running"):
        write_run(copy, files)
    lock.release()
    (copy / "checkpoints" / "step-00000009.h5").symlink_to("/etc/passwd")
    assert "checkpoints/step-00000009.h5" not in read_run(copy)
    monkeypatch.setattr("studio.session.sweep.files.MOST_BYTES", 1000)
    with pytest.raises(DataError, match="too large to be sent"):
        read_run(run)
