"""Every reader of files as the fuzz attacks it: how a case is made, what reads it, what may come out.

A case is bytes, plain values, or several files. It is made from a seeded generator alone, so a reader's name
and a number name it for ever. Readers of container files are called without the guarded child here: the
harness itself is a child with limits; :mod:`tests.robust.guarded_cases` goes through the real one.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.files.checked import Expected, check_bytes, decode
from engine.files.userblock import SIZE
from tests.robust.containers import attacked, container, hashed
from tests.robust.corpus import names, sample
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Reader, check_message, one_line

KINDS = ("state", "run", "checkpoint", "inference.program", "inference.weights", "inference.info")
MODELS = ("branches", "pictures", "words")


# ----- container files --------------------------------------------------------------------------------------


@functools.cache
def containers() -> list[bytes]:
    """The container files of the corpus."""
    return [sample(name) for name in names() if sample(name).startswith(b"\x89MSF")]


def _decoded(data: bytes) -> Any:
    shown = Path("file.h5")
    return decode(Expected(shown, KINDS, 9), check_bytes(data, shown), data).tree


@functools.cache
def tree(name: str) -> Any:
    """The tree of a container file of the corpus."""
    return _decoded(sample(name))


def raw_container(draw: random.Random) -> bytes:
    """Any bytes of a file changed, or a file of another program; the hash tells it."""
    strangers = [sample(name) for name in ("harm.pickle", "weights.npz", "digit.png")]
    data = draw.choice(containers() if draw.random() < 0.9 else strangers)
    if draw.random() < 0.5:  # in the first block
        return mutated_bytes(data[:SIZE], draw, [data[SIZE:]]) + data[SIZE:]
    return mutated_bytes(data, draw, containers())


def rehashed_container(draw: random.Random) -> bytes:
    """The HDF5 part changed, and the hash made right again."""
    payload = draw.choice(containers())[SIZE:]
    return hashed(mutated_bytes(payload, draw, [data[SIZE:] for data in containers()]))


def document_in_place(draw: random.Random) -> bytes:
    """The document of a file changed without changing its length, and the hash made right again."""
    payload = draw.choice(containers())[SIZE:]
    start = payload.index(b'{"')
    end = payload.index(b"\0\0\0\0", start) if b"\0\0\0\0" in payload[start:] else len(payload)
    document = payload[start:end]
    changed = mutated_bytes(document, draw, [])[: len(document)].ljust(len(document))
    return hashed(payload[:start] + changed + payload[end:])


def tree_document(draw: random.Random) -> bytes:
    """A document of a tree: tags, paths and types changed."""
    return json_text(mutated(draw.choice(_documents()), draw), draw)


@functools.cache
def _documents() -> list[Any]:
    from engine.files.tree import encode_tree

    return [
        json.loads(encode_tree(tree(name))[0]) for name in ("state.pdparams", "step-00000002.h5", "run.h5")
    ]


def read_document(document: bytes, folder: Path) -> object:
    """What image.py does with a document, with an array wherever it names one."""
    import numpy as np

    from engine.files.image import ImageError
    from engine.files.tree import TreeError, decode_tree, parse_document

    try:
        node, wanted = parse_document(document)
        return decode_tree(node, {path: np.zeros(2, dtype) for path, dtype in wanted.items()})
    except (TreeError, RecursionError) as error:
        raise ImageError(str(error)) from error


# ----- models -----------------------------------------------------------------------------------------------


@functools.cache
def programs() -> list[Any]:
    """The plain Programs of the corpus, one of version 1 among them."""
    old = Path(__file__).parents[1] / "engine" / "program" / "saved" / "version_1.json"
    found = [json.loads(old.read_text())["program"]]
    for model in MODELS:
        plain = dict(tree(f"{model}.pdmodel")["program"])
        found += [plain.pop("methods")["encode"]] if "methods" in plain else []
        found.append(plain)
    return [*found, tree("training.pdmodel")["__program__"]]


def program_case(draw: random.Random) -> Any:
    """A Program whose plain form was changed anywhere."""
    return mutated(draw.choice(programs()), draw, deep=0.93)


def read_program(plain: Any, folder: Path) -> object:
    from engine.program.saved.serialize import from_plain

    return from_plain(plain, "model.pdmodel", training=True)


def model_trees(draw: random.Random) -> dict[str, Any]:
    """The trees of a model's three files, one or all of them changed."""
    model = draw.choice(MODELS)
    trees = {suffix: tree(f"{model}.{suffix}") for suffix in ("pdmodel", "pdiparams", "pdiparams.info")}
    for suffix in draw.choice((("pdmodel",), ("pdiparams",), ("pdiparams.info",), tuple(trees))):
        trees[suffix] = mutated(trees[suffix], draw, deep=0.9)
    return trees


def model_files(draw: random.Random) -> dict[str, bytes]:
    """The three files of a model with changed trees or bytes, of one save or, rarely, of two."""
    from engine.core.errors import EngineError
    from tests.robust.containers import SAVE_ID

    files = {}
    if draw.random() < 0.2:
        model = draw.choice(MODELS)
        files = {s: sample(f"{model}.{s}") for s in ("pdmodel", "pdiparams", "pdiparams.info")}
        suffix = draw.choice(list(files))
        files[suffix] = (
            document_in_place(draw) if draw.random() < 0.5 else mutated_bytes(files[suffix], draw, [])
        )
        return files
    kinds = {
        "pdmodel": "inference.program",
        "pdiparams": "inference.weights",
        "pdiparams.info": "inference.info",
    }
    for suffix, changed in model_trees(draw).items():
        kind = draw.choice(KINDS) if draw.random() < 0.02 else kinds[suffix]
        save_id = SAVE_ID if draw.random() < 0.98 else draw.randbytes(16)
        try:
            files[suffix] = container(kind, changed, 1 if draw.random() < 0.98 else 7, save_id)
        except (EngineError, ValueError, UnicodeError):  # no file holds such values
            files[suffix] = sample(f"pictures.{suffix}")
    return files


def read_model(files: dict[str, bytes], folder: Path) -> object:
    """All that opens a model: jit.load, what the pages and inspect show, load_inference_model, load."""
    import engine as paddle
    from studio.session.inspecting import describe_model
    from studio.session.predict_view import load_model

    for suffix, data in files.items():
        (folder / f"m.{suffix}").write_bytes(data)
    prefix = str(folder / "m")
    readers: list[Callable[[], object]] = [
        lambda: load_model(prefix).info.text(),
        lambda: describe_model(prefix),
        lambda: paddle.load(prefix),
        lambda: paddle.static.load_inference_model(prefix, paddle.static.Executor()),
    ]
    first = sum(map(len, files.values())) % len(readers)
    each = readers[first:] + readers[:first]  # each is the first at times, and raises what it finds
    return [read() for read in each]


# ----- states and runs --------------------------------------------------------------------------------------


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
    from engine.training.checkpointing import restore
    from engine.training.config import TrainingConfig
    from engine.training.progress import History, Progress

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
    from engine.training.run_folder import RunFolder
    from engine.training.training_run import TrainingRun
    from studio.session.runs import RunsFolder, read_history
    from studio.session.settings import summary_of_update

    run = folder / "runs" / "hostile"
    shutil.rmtree(run, ignore_errors=True)
    for name, data in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for listed in RunsFolder().read(folder / "runs"):
        summary_of_update(listed.config)
        assert None not in (listed.title, listed.of_script, listed.exportable, listed.resumable)
    store = RunFolder(run)
    store.recorded_best_step(), store.best_step(), is_own(run)
    tolerant: list[Callable[[], object]] = [
        store.require_new, lambda: TrainingRun.from_folder(run), lambda: read_history(run),
        lambda: store._cut_journal(1), lambda: read_run(run),
    ]  # fmt: skip
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


# ----- what the studio reads --------------------------------------------------------------------------------


def project_case(draw: random.Random) -> bytes:
    from studio.session.settings import RunSettings

    project = {"format": "model-studio project", "version": 1, "name": "p",
               "settings": RunSettings().as_dict(), "runs": "runs"}  # fmt: skip
    text = json_text(mutated(project, draw), draw)
    return mutated_bytes(text, draw, [sample("project.studio.json")]) if draw.random() < 0.2 else text


def read_project_file(data: bytes, folder: Path) -> object:
    from studio.session.project import read_project
    from studio.session.runs import RunsFolder
    from studio.session.settings import setting_problems

    path = folder / "p.studio.json"
    path.write_bytes(data)
    found = read_project(path)
    setting_problems(found.settings)
    return RunsFolder().read(path.parent / found.runs)


def preferences_case(draw: random.Random) -> bytes:
    values = {"version": 1, "theme": "dark", "language": "en", "recent_projects": ["/a", "b"],
              "recent_models": ["m"], "agreed": ["0" * 64]}  # fmt: skip
    text = json_text(mutated(values, draw), draw)
    return mutated_bytes(text, draw, [text]) if draw.random() < 0.2 else text


def read_preferences_file(data: bytes, folder: Path) -> object:
    """Preferences never raise: what can't be used is told, and the defaults hold."""
    from studio.session.project import preferences_path, read_preferences

    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    found, trouble = read_preferences()
    found.remember(Path("x"))
    check_message(ValueError(trouble or "fine"))
    return found


def information_case(draw: random.Random) -> Any:
    return mutated(tree(f"{draw.choice(MODELS)}.pdiparams.info")["info"], draw)


def read_information(info: Any, folder: Path) -> object:
    from studio.session.information import checked_information

    return checked_information(info, folder / "m.pdiparams.info")


def picture_case(draw: random.Random) -> bytes:
    pictures = [sample(name) for name in names() if name.startswith(("digit.", "turned."))]
    return mutated_bytes(draw.choice(pictures), draw, pictures)


def read_picture(data: bytes, folder: Path) -> object:
    from studio.session.pictures import digit_from_bytes

    return digit_from_bytes(data, "picture.png")


def parameters_case(draw: random.Random) -> Any:
    words = ["beta1=0.9", "step_size=3", "milestones=1,2", "gamma", "=", "a=b=c", "momentum=nan", "values=[1"]
    return [mutated_bytes(draw.choice(words).encode(), draw, []).decode("utf-8", "surrogateescape")
            for _ in range(draw.randint(1, 3))]  # fmt: skip


def read_parameters(words: list[str], folder: Path) -> object:
    from resources.settings import parse_parameters

    return parse_parameters(
        *(("optimizer_params", "Adam") if len(words) % 2 else ("schedule_params", "step_decay")), words
    )


def _studio_errors() -> tuple[type[Exception], ...]:
    from studio.session.pictures import PictureError
    from studio.session.project import ProjectError

    return (ProjectError, PictureError)


@functools.cache
def readers() -> dict[str, Reader]:
    """Every reader by name; the shares sum to 1000."""
    from engine.files.image import ImageError
    from tests.robust.data_readers import DATA_READERS

    ours = (EngineError,)
    studio = _studio_errors()

    def read_container(data: bytes, folder: Path) -> object:
        return _decoded(data)

    found = [
        Reader("container, raw bytes", raw_container, read_container, ours, 141),
        Reader(
            "container, rehashed bytes", rehashed_container, read_container, ours, 120, 512, contained=True
        ),
        Reader("container, text in place", document_in_place, read_container, ours, 60, 512, contained=True),
        Reader("container, HDF5 structures", attacked, read_container, ours, 15, 512, contained=True),
        Reader("document of a tree", tree_document, read_document, (ImageError,), 110),
        Reader("program", program_case, read_program, ours, 75),
        Reader("model files", model_files, read_model, ours, 4, 128),
        Reader("tree of a state", state_case, read_state_tree, ours, 70),
        Reader("state file", state_file, read_state_file, ours, 8, 128),
        Reader("checkpoint", checkpoint_tree, restore_checkpoint, ours, 30),
        Reader("run folder", run_files, read_run_folder, ours, 15),
        Reader("config", config_case, read_config, ours, 40),
        Reader("project", project_case, read_project_file, studio, 40),
        Reader("preferences", preferences_case, read_preferences_file, (), 40),
        Reader("information", information_case, read_information, ours, 50),
        Reader("picture", picture_case, read_picture, studio, 40, 512),
        Reader("parameters", parameters_case, read_parameters, (ValueError,), 10),
        *DATA_READERS,
    ]
    total = sum(reader.share for reader in found)
    assert total == 1000, f"the shares of the readers sum to {total}"
    return {reader.name: reader for reader in found}
