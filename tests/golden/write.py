"""Writes the golden files of this version: python -m tests.golden.write [--again]

They are files as a released program wrote them, which all later ones must open, with the values that they
gave. Each release has a folder, ``files/VERSION``. Written again by another program the files would not be
that version's any more: ``--again`` is for a version that is not released yet.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
MODEL = '''"""Two small networks of the golden project."""

import paddle
from paddle import nn


class Small(nn.Layer):
    """A convolution with batch norm."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2)
        )
        self.output = nn.Linear(64, 3)

    def forward(self, x):
        return self.output(paddle.flatten(self.features(x), 1))


class Line(nn.Layer):
    """One linear layer."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(64, 3)

    def forward(self, x):
        return self.output(paddle.flatten(x, 1))
'''
COMMON = [
    "--data",
    "data/bars.npz",
    "--batch-size",
    "16",
    "--keep",
    "1",
    "--kernels",
    "numpy",
    "--threads",
    "1",
]


def call(*words: str) -> list[dict[str, Any]]:
    """Carry out a command; returns the lines of its JSON."""
    from typer.testing import CliRunner

    from studio.cli import app

    done = CliRunner().invoke(app, list(words))
    if done.exit_code != 0:
        raise SystemExit(f"{words}: {done.output}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def write_data(path: Path) -> None:
    """Three classes of 8 x 8 images: a bar on noise at the height that belongs to the label."""
    generator = np.random.default_rng(0)
    arrays = {}
    for part, count in (("train", 48), ("test", 12)):
        labels = (np.arange(count) % 3).astype(np.uint8)
        images = generator.integers(0, 80, (count, 8, 8)).astype(np.uint8)
        for image, label in zip(images, labels, strict=True):
            image[1 + 2 * label : 3 + 2 * label, 1:7] = 230
        arrays |= {f"x_{part}": images, f"y_{part}": labels}
    np.savez_compressed(path, **arrays)


def write_project(project: Path) -> dict[str, Any]:
    """The project with its run, exports and sweep; returns the values of them."""
    from studio.cli.sweep import sweep_command
    from studio.session.session import Session
    from studio.session.sweep import making
    from studio.session.sweep.document import read_sweep
    from tests.golden.golden_files import RUN, SWEEP
    from tests.studio.session.sweep.inside import InsidePool

    for folder in ("data", "code"):
        (project / folder).mkdir(parents=True)
    write_data(project / "data/bars.npz")
    (project / "code/model.py").write_text(MODEL)
    os.chdir(project)
    session = Session()
    session.save_project(project)
    for name, value in {
        "data": str(project / "data/bars.npz"),
        "model": f"{project / 'code/model.py'}:Small",
        "optimizer": "momentum",
        "optimizer_params.momentum": 0.8,
        "epochs": 3,
    }.items():
        session.change_setting(name, value)
    session.autosave()
    session.close()
    small = ["--model", "code/model.py:Small", "--optimizer", "momentum", "--lr", "0.1"]
    events = call("train", *COMMON, *small, "--epochs", "1", "--out", str(RUN), "--json")
    call(
        "runs", "describe", str(RUN), "--name", "A golden run", "--tags", "golden", "--note", "Small and old."
    )
    exported = call("export", str(RUN), "--json")[-1]
    quantized = call("quantize", str(RUN), "--no-sensitivity", "--json")[-1]

    def until_the_second(job: Any) -> tuple[int, str] | None:
        if job.number == 2:
            raise KeyboardInterrupt
        return None

    # A sweep records whole paths of models, which no folder that moves to another machine can have.
    making.located = dict  # type: ignore[assignment]
    sweep_command._pool = lambda *_: InsidePool(until_the_second)  # type: ignore[assignment]
    line = ["--model", "code/model.py:Line", "--optimizer", "sgd", "--epochs", "1", "--param", "lr=0.1,0.5"]
    from typer.testing import CliRunner

    from studio.cli import app

    CliRunner().invoke(app, ["sweep", *COMMON, *line, "--out", str(SWEEP)])
    trials = read_sweep(project / SWEEP).trials
    if [trial.state for trial in trials] != ["done", "waiting"]:
        raise SystemExit(f"the sweep is not as it should be: {trials}")
    epoch = next(event for event in events if event["event"] == "epoch")
    return {
        "events": sorted({event["event"] for event in events}),
        "first_epoch": {
            name: epoch[name] for name in ("train_loss", "validation_loss", "validation_accuracy")
        },
        "exported": {name: exported[name] for name in ("save_id", "accuracy", "step")},
        "quantized": {"accuracy": quantized["report"]["accuracy"]},
        "sweep": {"trial_1": trials[0].measured[0].model_dump()},
    }


def write_state(folder: Path) -> dict[str, Any]:
    """The state dicts of a network and its optimizer."""
    import engine as paddle
    from tests.golden.networks import small_network, train

    folder.mkdir()
    network, optimizer = small_network()
    losses = train(network, optimizer, 3)
    paddle.save(network.state_dict(), str(folder / "network.pdparams"))
    paddle.save(optimizer.state_dict(), str(folder / "network.pdopt"))
    return {"losses": losses}


def write_packed(folder: Path) -> None:
    """A network as packed models, one of them compressed."""
    import engine as paddle
    from engine import nn

    folder.mkdir()
    paddle.seed(3)
    with paddle.utils.unique_name.guard():  # small weights are not compressed
        network = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 3))
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    info = {"classes": ["a", "b", "c"], "license": "Apache-2.0"}
    for name, compress in (("model", False), ("compressed", True)):
        paddle.jit.save(network, str(folder / name), spec, info=info, format="packed", compress=compress)


def write_static(folder: Path) -> None:
    """A training Program with its parameters."""
    import engine as paddle
    from engine import static
    from tests.golden.networks import build_program

    folder.mkdir()
    paddle.enable_static()
    main, startup, _ = build_program()
    static.Executor().run(startup)
    static.save(main, str(folder / "trained"))
    paddle.disable_static()


def shorten_positions(project: Path, root: Path) -> None:
    """Let saved Programs name source files relative to the project or the repository."""
    from engine.core.operators.operator import Operator

    inner = Operator.position.fget

    def position(self: Operator) -> tuple[str, int] | None:
        found = inner(self)
        if found is None:
            return None
        path = found[0]
        for folder in (project, root):
            path = path.removeprefix(f"{folder}/")
        return path, found[1]

    Operator.position = property(position)  # type: ignore[assignment]


def results_of(files: Path) -> dict[str, Any]:
    """What the files give when they are used; their runs are resumed."""
    from tests.golden import results
    from tests.golden.golden_files import RUN, SWEEP

    project = files / "project"
    os.chdir(project)
    return {
        "predicted": {kind: results.predicted(project, kind) for kind in results.PREFIXES},
        "resumed": results.resumed(RUN, 2),
        "resumed_trial": results.resumed(SWEEP / "trial-001", 2),
        "network": results.restored_network(files / "state"),
        "program": results.restored_program(files / "static"),
        "packed": results.packed_outputs(files / "packed"),
    }


def main() -> None:
    """Write files and values."""
    from engine.files.native.image import product
    from tests.golden.golden_files import FILES, HERE, KEY, VALUES, copy_to, use_key

    version = product().rpartition(" ")[2]
    target = FILES / version
    if target.exists() and sys.argv[1:] != ["--again"]:
        raise SystemExit(f"{target}: exists; a version that is not released is written with --again")
    root = HERE.parent.parent
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as made:
        temporary = Path(made)
        for number, name in enumerate(FOLDERS):
            os.environ[name] = str(temporary / f"home-{number}")
        use_key(KEY)
        import engine

        platform.release = lambda: "6"  # not the machine's own
        random.seed(0)
        np.random.seed(0)
        engine.seed(0)
        written = temporary / "files"
        shorten_positions(written / "project", root)
        values = write_project(written / "project")
        os.chdir(root)
        values["state"] = write_state(written / "state")
        write_static(written / "static")
        write_packed(written / "packed")
        for path in sorted(written.rglob("*")):
            if path.name.endswith(".lock"):
                path.unlink()
            elif path.is_file() and any(name in path.read_bytes() for name in (made.encode(), bytes(root))):
                raise SystemExit(f"{path}: names a folder of this machine")
        size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
        print(f"{size} bytes")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(written, target)
        values["written"] = {"commit": commit, "product": product(), "numpy": np.__version__, "bytes": size}
        values |= results_of(copy_to(temporary, version))
        (target / VALUES).write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
