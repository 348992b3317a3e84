"""Code next to an agreed file runs in none of the processes that an agreement starts.

Each scene is what someone can do who may write into the folder of a model that was agreed to. What must not
run leaves a trace.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from studio.session.session import Session

SECONDS = 60.0
NET = '''"""A model with helpers."""

import helper
import engine
from engine import nn
from pkg.width import WIDTH


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        from lazy import make

        self.linear = make(WIDTH)

    def forward(self, x):
        return self.linear(engine.flatten(x, 1))
'''
FILES = {
    "net.py": NET,
    "helper.py": "X = 1\n",
    "pkg/__init__.py": "",
    "pkg/width.py": "from . import deep\nWIDTH = deep.N\n",
    "pkg/deep.py": "N = 784\n",
    "lazy.py": "from engine import nn\n\n\ndef make(width):\n    return nn.Linear(width, 10)\n",
}
DYNAMIC = """import importlib
import mailbox

from engine import nn

importlib.import_module("drop" + "ped")


class Net(nn.Layer):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "code"
    for name, text in FILES.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


@pytest.fixture
def session(tmp_path: Path, few: Path) -> Iterator[Session]:
    made = Session(runs_folder=tmp_path / "runs")
    made.change_setting("data", str(few))
    made.change_setting("epochs", 1)
    yield made
    made.close()


def evil(tmp_path: Path) -> str:
    return f"import pathlib\npathlib.Path({str(tmp_path / 'trace')!r}).touch()\nX, N = 1, 784\n"


def until(session: Session, condition: Callable[[], bool]) -> None:
    assert session.wait_until(condition, SECONDS), session.train


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "studio", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_the_dry_run_of_a_file_that_was_agreed_to_before(
    session: Session, folder: Path, tmp_path: Path
) -> None:
    file = folder / "net.py"
    session.preferences.agreed.append(sha256(file.read_bytes()).hexdigest())
    (folder / "helper.py").write_text(evil(tmp_path))
    view = session.model_editor.view
    session.model_editor.open(file)
    until(session, lambda: view.state != "checking")
    assert not (tmp_path / "trace").exists()
    assert view.state == "refused"


def test_a_sweep_whose_helper_was_changed(few: Path, folder: Path, tmp_path: Path) -> None:
    words = ["--data", few, "--model", f"{folder / 'net.py'}:Net", "--epochs", "1", "--param", "lr=0.01,0.02"]
    out = tmp_path / "sweep"
    done = command("sweep", *words, "--out", out, "--trials", "1")
    assert done.returncode == 0, done.stderr
    text = (out / "sweep.json").read_text()
    (out / "sweep.json").write_text(text.replace('"state": "done"', '"state": "waiting"'))
    shutil.rmtree(out / "trial-001")
    (folder / "helper.py").write_text(evil(tmp_path))
    done = command("sweep", "--resume", "--out", out)
    assert not (tmp_path / "trace").exists()
    assert done.returncode == 1
    assert "helper.py" in done.stderr
    assert done.stderr.count("\n") == 1


def ended(session: Session, job: Any) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    session.tasks.start(job, events.append)
    task = session.tasks._tasks[-1]

    def done() -> bool:
        task.take()
        return any(event["event"] == "worker_ended" for event in events)

    until(session, done)
    return events


@pytest.mark.parametrize("workers", [1, 2])
def test_a_training_between_whose_check_and_import_a_helper_changes(
    session: Session, folder: Path, tmp_path: Path, few: Path, workers: int
) -> None:
    from engine.training.config import TrainingConfig
    from resources.local_code import read_code
    from studio.session.train.train_job import Train

    model = f"{folder / 'net.py'}:Net"
    config = TrainingConfig(data=str(few), model=model, epochs=1, out=str(tmp_path / "run"), workers=workers)
    agreed = read_code(folder / "net.py").digest
    good = ended(session, Train(config.as_dict(), False, agreed))
    assert "finished" in [event["event"] for event in good]
    kept = tmp_path / "run" / "source"
    assert sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*.py")) == sorted(FILES)
    (folder / "pkg" / "deep.py").write_text(evil(tmp_path))
    events = ended(session, Train({**config.as_dict(), "out": str(tmp_path / "other")}, False, agreed))
    (failed,) = [event for event in events if event["event"] == "failed"]
    assert "changed after you agreed to run its code" in failed["what"]
    assert "pkg/deep.py" in failed["what"]
    assert not (tmp_path / "trace").exists()


def test_a_trial_between_whose_check_and_import_a_helper_changes(
    folder: Path, tmp_path: Path, few: Path
) -> None:
    from resources.local_code import read_code
    from studio.session.sweep.children import Child, Ended

    model = f"{folder / 'net.py'}:Net"
    words = ["train", "--json", "--data", str(few), "--model", model, "--epochs", "1"]
    agreed = read_code(folder / "net.py").digest
    for name, text, code in (("good", "X = 1\n", 0), ("bad", evil(tmp_path), 1)):
        (folder / "helper.py").write_text(text)
        found: list[Any] = []
        Child(1, [*words, "--out", str(tmp_path / name)], found.append, agreed=agreed).join()
        (end,) = [report for report in found if isinstance(report, Ended)]
        assert end.code == code, end
    assert "changed after you agreed" in end.message
    assert "helper.py" in end.message
    assert not (tmp_path / "trace").exists()


def test_a_dropped_file_that_is_imported_at_run_time_is_refused(
    session: Session, folder: Path, tmp_path: Path
) -> None:
    file = folder / "net.py"
    file.write_text(DYNAMIC)
    for name in ("dropped.py", "calendar.py", "email/__init__.py", "numpy.py", "sitecustomize.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(evil(tmp_path))
    session.preferences.agreed.append(sha256(file.read_bytes()).hexdigest())
    session.change_setting("model", f"{file}:Net")
    assert session.needs_agreement() is None
    session.execute("start")
    until(session, lambda: not session.busy())
    assert session.train.state == "failed"
    problem = session.train.last_problem
    assert problem is not None
    assert problem.where.endswith("dropped.py")
    assert "the model imports it, and you have not agreed to run it" in problem.what
    assert not (tmp_path / "trace").exists()


def test_a_run_is_resumed_and_exported_where_its_model_is_gone(
    folder: Path, tmp_path: Path, few: Path
) -> None:
    run = tmp_path / "run"
    words = ["--data", few, "--model", f"{folder / 'net.py'}:Net", "--epochs", "1", "--out", run]
    assert command("train", *words).returncode == 0
    shutil.rmtree(folder)
    moved = shutil.move(run, tmp_path / "moved")
    done = command("train", "--resume", "--epochs", "2", "--out", moved)
    assert done.returncode == 0, done.stderr
    assert command("export", moved).returncode == 0
    (tmp_path / "moved" / "source" / "pkg" / "deep.py").write_text(evil(tmp_path))
    done = command("export", moved)
    assert done.returncode == 1
    assert "was not agreed to" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_predictions_of_a_run_whose_code_changes_after_it_was_chosen(
    session: Session, folder: Path, tmp_path: Path
) -> None:
    from studio.session.predict.model_choice import run_choice

    file = folder / "net.py"
    session.change_setting("model", f"{file}:Net")
    code = session.needs_agreement()
    assert code is not None
    session.agree(code)
    session.execute("start")
    until(session, lambda: not session.busy())
    run = session.train.folder
    choice = run_choice(run, session.agreed_of(run))
    assert choice is not None
    session.predict_models.load(choice)
    until(session, lambda: not session.predict.loading)
    assert session.predict.last_problem is None
    kept = Path(run) / "source" / "pkg" / "deep.py"
    kept.write_text(evil(tmp_path))
    session.predict_models.load(choice)
    until(session, lambda: not session.predict.loading)
    assert session.predict.last_problem is not None
    assert "changed after you agreed" in str(session.predict.last_problem)
    changed = session.needs_agreement_of(run)
    assert changed is not None
    assert session.new_files(changed) == ["pkg/deep.py"]
    assert session.agreed_of(run) == ""
    assert not (tmp_path / "trace").exists()


LOADER = """
import multiprocessing, pathlib, sys
from engine.core.models.local_imports import only_agreed
from engine.training.network.models import find_model, load_model
from resources.local_code import read_code

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    import engine
    folder, trace = map(pathlib.Path, sys.argv[1:])
    with only_agreed(read_code(folder / "net.py").digest):
        rows = load_model(find_model(f"{folder / 'net.py'}:Net")).cls.rows()
        (folder / "rows.py").write_text(f"import pathlib\\npathlib.Path({str(trace)!r}).touch()\\n")
        for batch in engine.io.DataLoader(rows, batch_size=2, num_workers=2, use_shared_memory=False):
            print(batch[0].numpy().tolist())
"""


def test_processes_that_load_data_import_what_was_agreed_to(folder: Path, tmp_path: Path) -> None:
    (folder / "net.py").write_text(
        "from rows import Rows\nfrom engine import nn\n\n\nclass Net(nn.Layer):\n    rows = Rows\n"
    )
    (folder / "rows.py").write_text(
        "import numpy as np\nfrom engine.io import Dataset\n\n\nclass Rows(Dataset):\n"
        "    def __len__(self):\n        return 2\n\n"
        "    def __getitem__(self, at):\n        return (np.float32(at),)\n"
    )
    (tmp_path / "load.py").write_text(LOADER)
    done = subprocess.run(
        [sys.executable, tmp_path / "load.py", folder, tmp_path / "trace"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(folder)])},
    )
    assert done.stdout == "[0.0, 1.0]\n", done.stderr
    assert not (tmp_path / "trace").exists()
