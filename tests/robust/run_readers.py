"""Attacks on states, checkpoints and run folders: trees, journals, marks and locks."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.files.native.userblock import SIZE
from engine.training.folder.recorded import recorded_best_step
from tests.robust.container_readers import containers, document_in_place, tree
from tests.robust.containers import container, hashed
from tests.robust.corpus import sample
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Reader, one_line


def state_case(draw: random.Random) -> Any:
    name = draw.choice(("state.pdparams", "training.pdmodel", "training.pdopt", "training.pdparams"))
    return mutated(tree(name), draw)


def read_state_tree(changed: Any, folder: Path) -> object:
    """What load makes of a tree, and a network of a state."""
    from engine.framework.state_files import from_tree

    return from_tree(changed, len(repr(changed)) % 2 == 0, "state.pdparams")


def state_file(draw: random.Random) -> bytes:
    """A state with a changed tree, or a changed document."""
    if draw.random() < 0.3:
        return document_in_place(draw)
    try:
        return container("state", state_case(draw))
    except (EngineError, ValueError, UnicodeError):
        return sample("state.pdparams")


def read_state_file(data: bytes, folder: Path) -> object:
    """load from a path and from memory, the static readers, and a set_state_dict of what came out."""
    import io

    import engine as paddle

    path = folder / "s.pdparams"
    path.write_bytes(data)
    if len(data) % 3 == 0:
        return paddle.static.load_program_state(str(folder / "s"))
    if len(data) % 3 == 1:
        return paddle.static.deserialize_program(data)
    found = paddle.load(str(path))
    network = paddle.nn.Linear(1, 1)
    network.set_state_dict(found if isinstance(found, dict) else {"weight": found})
    return paddle.load(io.BytesIO(data))


def checkpoint_tree(draw: random.Random) -> Any:
    return mutated(tree("step-00000002.h5"), draw, deep=0.85)


@functools.cache
def _parts() -> Any:
    from tests.robust.networks import tiny_parts

    return tiny_parts()[1]


def restore_checkpoint(changed: Any, folder: Path) -> object:
    """What resuming does with the tree of a checkpoint."""
    from engine.training.config import TrainingConfig
    from engine.training.folder.checkpointing import restore
    from engine.training.reporting.progress import History, Progress

    if not isinstance(changed, dict):
        return None  # read_checkpoint refuses it
    try:
        TrainingConfig.from_dict(changed.get("config", {}))
    finally:
        progress = Progress(epochs=2, steps_per_epoch=3)
        restore(changed, progress, History(), _parts())
        progress.total_steps, progress.epoch_loss, progress.complete  # noqa: B018
    return progress


def run_files(draw: random.Random) -> dict[str, bytes]:
    """A run of which the journal, run.h5, the checkpoint, the mark or the lock was changed."""
    from tests.robust.networks import EVENTS

    files = {"journal.jsonl": sample("journal.jsonl")}
    what = draw.randrange(8)
    if what <= 3:
        lines = [json_text(mutated(e, draw) if draw.random() < 0.4 else e, draw) for e in EVENTS]
        if draw.random() < 0.3:
            lines.insert(draw.randrange(6), json_text(mutated(draw.choice(EVENTS), draw, 0.3), draw))
        files["journal.jsonl"] = b"\n".join(lines) + b"\n" * draw.randint(0, 1)
    elif what == 4:
        files["journal.jsonl"] = mutated_bytes(sample("journal.jsonl"), draw, containers())
    elif what == 5:
        try:
            files["run.h5"] = container("run", mutated(tree("run.h5"), draw, 0.9))
        except (EngineError, ValueError, UnicodeError):
            files["run.h5"] = document_in_place(draw)
        if draw.random() < 0.5:
            del files["journal.jsonl"]
    elif what == 6:
        lock = b"pid 4242\nhost here\nsince 2026-01-01 00:00:00\n"
        files["run.lock"] = mutated_bytes(lock, draw, [])
        files["source.mark"] = mutated_bytes(bytes(32), draw, [])
        files["source/net.py"] = b"raise SystemExit(3)\n"
    else:
        try:
            files["checkpoints/step-00000002.h5"] = container("checkpoint", checkpoint_tree(draw))
        except (EngineError, ValueError, UnicodeError):
            files["checkpoints/best.h5"] = rehashed_document("step-00000002.h5", draw)
    return files


def rehashed_document(name: str, draw: random.Random) -> bytes:
    """A file of the corpus with its text changed in place."""
    payload = sample(name)[SIZE:]
    start = payload.index(b'{"')
    piece = mutated_bytes(payload[start : start + 500], draw, [])[:500].ljust(500)
    return hashed(payload[:start] + piece + payload[start + 500 :])


def read_run_folder(files: dict[str, bytes], folder: Path) -> object:
    """All that looks into a run: the list of runs, its curves, the mark, the lock, resuming."""
    import shutil

    from engine.files.journal import read_run
    from engine.files.run_source import is_own
    from engine.training.folder.retained_events import RetainedEvents
    from engine.training.folder.run_folder import RunFolder
    from engine.training.training_run import TrainingRun
    from studio.session.runs.run_history import read_history
    from studio.session.runs.runs_folder import RunsFolder
    from studio.session.train.run_settings import summary_of_update

    run = folder / "runs" / "hostile"
    shutil.rmtree(run, ignore_errors=True)
    for name, data in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for listed in RunsFolder().read(folder / "runs"):
        summary_of_update(listed.config)
        assert None not in (listed.name, listed.of_script, listed.exportable, listed.resumable)
    store = RunFolder(run)
    recorded_best_step(store.journal_path), store.best_step(), is_own(run)
    tolerant: list[Callable[[], object]] = [
        store.require_new,
        lambda: TrainingRun.from_folder(run),
        lambda: read_history(run),
        lambda: store._rewrite_journal(RetainedEvents(1).has),
        lambda: read_run(run),
    ]
    for read in tolerant:
        one_line(read, (EngineError,))
    return None


def config_case(draw: random.Random) -> Any:
    from engine.training.config import TrainingConfig

    return mutated(TrainingConfig().as_dict(), draw)


def read_config(values: Any, folder: Path) -> object:
    from engine.training.config import TrainingConfig
    from resources.settings import problems

    if isinstance(values, dict):
        defaults = TrainingConfig().as_dict()
        problems(defaults | {name: value for name, value in values.items() if name in defaults})
    return TrainingConfig.from_dict(values)


def run_readers() -> list[Reader]:
    """The readers of states and runs."""
    ours = (EngineError,)
    return [
        Reader("tree of a state", state_case, read_state_tree, ours, 70),
        Reader("state file", state_file, read_state_file, ours, 8, 128),
        Reader("checkpoint", checkpoint_tree, restore_checkpoint, ours, 30),
        Reader("run folder", run_files, read_run_folder, ours, 15),
        Reader("config", config_case, read_config, ours, 40),
    ]
