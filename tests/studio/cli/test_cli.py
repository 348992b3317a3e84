"""The command line: exit statuses, one line on stderr, JSON and nothing else, Ctrl-C, no screen."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from engine.files.checkpoint import list_checkpoints
from engine.files.untrusted import guarded
from resources.settings import RUN_SETTINGS, optimizers, schedules
from studio.cli import app
from studio.session import display_check
from tests.robust.untrusted_models import Endless, saved, unsign

MODEL = '''"""A model of a user, small and slow enough to be interrupted."""

import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        print("the model speaks")
        return self.linear(engine.flatten(x, 1))
'''


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def said_in(done: Result) -> str:
    """What stands on stderr in one line, without the frame around it."""
    return " ".join(done.stderr.replace("│", " ").split())


@pytest.fixture(scope="module")
def run_folder(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "linear"
    done = call("train", "--data", bars, "--model", "linear", "--epochs", "3", "--lr", "0.01", "--out", out)
    assert done.exit_code == 0, done.output
    assert f"{out}: 12 steps in" in done.stdout
    return out


@pytest.fixture(scope="module")
def exported(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("saved") / "bars"
    done = call("export", run_folder, "--out", prefix, "--samples", "20", "--json")
    assert done.exit_code == 0, done.output
    (line,) = done.stdout.splitlines()
    event = json.loads(line)
    assert event["difference"] < 1e-5
    assert event["operators"] == []
    assert sum(event["sizes"].values()) > 7850 * 4
    return prefix


def bar(label: int, path: Path) -> Path:
    image = np.zeros((28, 28), np.uint8)
    image[2 * label + 4 : 2 * label + 7, 4:24] = 255
    Image.fromarray(image).save(path)
    return path


def test_json_is_one_object_a_line_and_nothing_else(bars: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    model, out = f"{tmp_path / 'net.py'}:Net", tmp_path / "run"
    done = call("train", "--data", bars, "--model", model, "--eager", "--epochs", "1", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["event"] == "started"
    assert events[0]["config"]["static"] is False
    assert events[-1]["event"] == "finished"
    assert [event["step"] for event in events if event["event"] == "step"] == [1, 2, 3, 4]
    assert "the model speaks" in done.stderr


def test_resume_keeps_the_settings_and_takes_more_epochs(bars: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["train", "--data", bars, "--model", "linear", "--epochs", "1", "--seed", "4", "--out", out]
    first = call(*words, "--json")
    assert first.exit_code == 0
    again = call("train", "--resume", "--out", out, "--epochs", "2", "--json")
    events = [json.loads(line) for line in again.stdout.splitlines()]
    assert (events[0]["step"], events[0]["config"]["seed"], events[0]["config"]["epochs"]) == (4, 4, 2)
    assert not again.stderr
    assert events[-1]["step"] == 8
    journal = out / "journal.jsonl"
    journal.write_text(journal.read_text() + "[1, 2]\n")
    noted = call("train", "--resume", "--out", out, "--epochs", "3")
    assert noted.stdout.startswith("note: journal.jsonl: 1 damaged line was skipped\n")
    other = call("train", "--resume", "--out", out, "--seed", "5")
    assert other.exit_code == 2
    assert "a continued run keeps what it was started with" in said_in(other)


def test_a_training_that_stops_after_an_epoch_is_done_and_can_go_on(bars: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = call(
        "train", "--data", bars, "--model", "linear", "--epochs", "3", "--stop-after", "1", "--out", out
    )
    assert first.exit_code == 0, first.stderr
    assert f"{out}: 4 steps in" in first.stdout
    for again in (1, 2):  # one that has come so far already stops at once
        assert call("train", "--resume", "--out", out, "--stop-after", str(again)).exit_code == 0
        assert list_checkpoints(out / "checkpoints")[-1].step == 4 * again
    last = call("train", "--resume", "--out", out, "--stop-after", "3", "--json")
    assert json.loads(last.stdout.splitlines()[-1])["event"] == "finished"


def test_parameters_of_optimizer_and_schedule(bars: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    chosen = [
        "--optimizer",
        "momentum",
        "--optimizer-param",
        "momentum=0.95",
        "--schedule",
        "multi_step_decay",
    ]
    chosen += ["--schedule-param", "milestones=1,3", "--schedule-param", "gamma=0.5", "--clip-norm", "2"]
    words = ["train", "--data", bars, "--model", "linear", "--epochs", "1", "--out", out, "--json"]
    done = call(*words, *chosen)
    assert done.exit_code == 0, done.output
    config = json.loads(done.stdout.splitlines()[0])["config"]
    assert config["optimizer_params"] == {"momentum": 0.95}
    assert config["schedule_params"] == {"milestones": [1, 3], "gamma": 0.5}
    assert config["clip_norm"] == 2.0
    # A resumed run has them from its folder; repeating the same changes nothing, others are refused.
    again = call(
        "train", "--resume", "--out", out, "--epochs", "2", "--optimizer-param", "momentum=0.95", "--json"
    )
    assert again.exit_code == 0, again.output
    resumed = json.loads(again.stdout.splitlines()[0])["config"]
    assert resumed == {**config, "epochs": 2}
    other = call("train", "--resume", "--out", out, "--optimizer-param", "momentum=0.5")
    assert other.exit_code == 2
    assert "optimizer_params: a continued run keeps what it was started with" in said_in(other)


def test_help_has_every_setting_and_every_parameter() -> None:
    said = " ".join(call("train", "--help").stdout.replace("│", " ").split())
    assert "a sequence [steps, values]. auto" in said, "brackets are text, not markup"
    for setting in RUN_SETTINGS.values():
        assert setting.group == "window" or setting.flag in said
    for rule in (*optimizers().values(), *schedules().values()):
        assert f" {rule.name}" in said
        for parameter in rule.parameters:
            assert f" {parameter.name} (" in said


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["train", "--optimizer", "adamm"], 2, "no such choice: got 'adamm'"),
        (["train", "--epochs", "many"], 2, "--epochs"),
        (["train", "--optimizer-param", "momentum=0.9"], 2, "adam has no such parameter: got 'momentum'; it"),
        (
            ["train", "--optimizer-param", "beta1=1.5"],
            2,
            "--optimizer-param: beta1 must be at least 0 and below",
        ),
        (["train", "--schedule", "step_decay"], 2, "schedule_params.step_size: step_decay needs it"),
        (["train", "--schedule-param", "gamma"], 2, "--schedule-param: must be NAME=VALUE: got 'gamma'"),
        (["train", "--resume"], 2, "give --out DIR"),
        (["fly"], 2, "No such command"),
        (["predict", "nowhere/model"], 2, "Missing argument"),
        (["train", "--data", "nowhere", "--out", "OUT"], 1, "no such data: got 'nowhere'"),
        (["train", "--model", "resnet", "--out", "OUT"], 1, "no such model: got 'resnet'"),
        (["train", "--resume", "--out", "OUT"], 1, "there is no sound checkpoint"),
        (["export", "OUT"], 1, "there is no sound checkpoint"),
        (["inspect", "nowhere/model"], 1, "nowhere"),
        (["predict", "nowhere/model", "a.png"], 1, "nowhere"),
    ],
)
def test_wrong_use_and_failures(words: list[str], status: int, said: str, tmp_path: Path) -> None:
    done = call(*[str(tmp_path / "out") if word == "OUT" else word for word in words])
    assert done.exit_code == status, done.output
    assert said in said_in(done)
    assert done.stdout == ""
    if status == 1:
        assert len(done.stderr.splitlines()) == 1


def test_a_mistake_in_the_users_model_names_his_line(bars: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL.replace("784", "700"))
    done = call("train", "--data", bars, "--model", f"{tmp_path / 'net.py'}:Net", "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "net.py:14" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_predict(exported: Path, tmp_path: Path) -> None:
    images = [bar(2, tmp_path / "two.png"), bar(5, tmp_path / "five.png")]
    done = call("predict", exported, *images, "--json", "--top", "2")
    assert done.exit_code == 0, done.output
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["image"] for answer in answers] == [str(path) for path in images]
    for answer in answers:
        assert len(answer["top"]) == 2
        assert answer["top"][0] == {"class": answer["class"], "probability": answer["probability"]}
        assert 0.0 < answer["probability"] <= 1.0


def test_predict_writes_a_table_of_a_folder(exported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for column in (1, 2):
        bar(column, folder / f"{column}.png")
    out = tmp_path / "out.csv"
    done = call("predict", exported, folder, "--out", out)
    assert (done.exit_code, done.stdout) == (0, f"{out}: 2 predicted\n")
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == ["name", "1.png", "2.png"]
    (folder / "note.png").write_text("no image")
    done = call("predict", exported, folder, "--out", out, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"out": str(out), "predicted": 2, "failed": 1}


def test_predict_says_which_file_is_no_image_and_answers_the_others(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("no image")
    done = call("predict", exported, tmp_path / "note.txt", bar(2, tmp_path / "two.png"))
    assert done.exit_code == 1
    assert "note.txt: not an image" in done.stderr
    assert done.stdout.startswith(str(tmp_path / "two.png"))


def test_an_untrusted_model_is_limited_unless_more_is_allowed(exported: Path, tmp_path: Path) -> None:
    own = call("predict", exported, bar(2, tmp_path / "two.png"))
    for path in exported.parent.glob("bars.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    foreign = unsign(tmp_path / "bars")
    assert call("predict", foreign, tmp_path / "two.png").stdout == own.stdout
    # The endless loop begins with the first bright pixel.
    endless = unsign(saved(Endless(), tmp_path / "endless"))
    done = call("predict", endless, tmp_path / "two.png", "--steps", "1e3", "--seconds", "2")
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert re.search(r"endless.*(seconds|steps|iterations)", done.stderr), done.stderr
    wrong = call("predict", foreign, tmp_path / "two.png", "--memory", "much")
    assert wrong.exit_code == 2
    assert "memory is 'much'" in said_in(wrong)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal on POSIX")
def test_ctrl_c_ends_an_untrusted_model(tmp_path: Path, repo_root: Path) -> None:
    endless = unsign(saved(Endless(), tmp_path / "endless"))
    words = [
        "predict",
        str(endless),
        str(bar(2, tmp_path / "two.png")),
        "--seconds",
        "1e6",
        "--steps",
        "1e17",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "studio", *words],
        cwd=repo_root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if children.exists():
        while not children.read_text().strip():
            assert process.poll() is None, process.communicate()
    child = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, ("", "stopped\n"))
    deadline = time.monotonic() + 20
    while [pid for pid in child if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, "the model's process is still there"
        time.sleep(0.02)


def test_an_optimized_export_says_what_became_of_the_operators(run_folder: Path, tmp_path: Path) -> None:
    shape = ("--input-shape", "-1,1,28,28", "--input-name", "image")
    done = call("export", run_folder, "--out", tmp_path / "fast", "--samples", "20", "--optimize", *shape)
    assert done.exit_code == 0, done.output
    [fed] = json.loads(call("inspect", tmp_path / "fast", "--json").stdout)["inputs"]
    assert (fed["name"], fed["shape"]) == ("image", [-1, 1, 28, 28])
    refused = call("export", run_folder, "--input-shape", "none,x")
    assert refused.exit_code == 2
    assert "--input-shape: not a size: got 'x'" in " ".join(refused.output.split())
    assert re.search(r"; \d+ operators became \d+$", " ".join(done.stdout.split())), done.stdout


def test_inspect_lists_a_file_of_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)  # no child process reads it first
    np.savez(tmp_path / "w.npz", **{"fc.weight": np.ones((2, 3), np.float32)})
    shown = call("inspect", tmp_path / "w.npz").stdout
    assert "arrays of NumPy" in shown
    assert "fc.weight" in shown
    described = json.loads(call("inspect", tmp_path / "w.npz", "--json").stdout)
    assert described["tensors"] == [{"name": "fc.weight", "shape": [2, 3], "dtype": "float32"}]


def test_inspect(exported: Path) -> None:
    done = call("inspect", exported, "--json")
    found = json.loads(done.stdout)
    assert found["inputs"] == [{"name": "x", "shape": [-1, 1, 28, 28], "dtype": "float32"}]
    assert found["info"]["classes"] == list("0123456789")
    assert found["info"]["scaling"] == {"low": 0.0, "high": 1.0, "divide_by": 255.0}
    assert found["parameters"] == 7850
    assert found["operators"][-1]["shape"] == [-1, 10]
    shown = call("inspect", exported)
    assert shown.exit_code == 0
    assert "bars.pdmodel" in shown.stdout


def test_a_damaged_file_is_refused(exported: Path, tmp_path: Path) -> None:
    for suffix in ("pdmodel", "pdiparams", "pdiparams.info"):
        data = bytearray(exported.with_name(f"bars.{suffix}").read_bytes())
        if suffix == "pdiparams":
            data[-100] ^= 1
        (tmp_path / f"bars.{suffix}").write_bytes(data)
    done = call("predict", tmp_path / "bars", bar(2, tmp_path / "two.png"))
    assert done.exit_code == 1
    assert "bars.pdiparams" in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal on POSIX")
def test_ctrl_c_stops_with_a_checkpoint_and_says_how_to_resume(
    bars: Path, tmp_path: Path, repo_root: Path
) -> None:
    out = tmp_path / "run"
    words = ["train", "--data", str(bars), "--model", "linear", "--epochs", "100000", "--out", str(out)]
    words.append("--json")
    process = subprocess.Popen(
        [sys.executable, "-m", "studio", *words],
        cwd=repo_root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "step":
            break
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate(timeout=30)
    last = json.loads(rest.splitlines()[-1])
    assert (last["event"], last["reason"], process.returncode) == ("stopped", "interrupted", 1)
    assert said.splitlines() == [
        f"stopped at step {last['step']}; continue with: model-studio train --out {out} --resume"
    ]
    assert list_checkpoints(out / "checkpoints")[-1].step == last["step"]


def test_a_second_train_in_the_folder_of_a_live_one(bars: Path, tmp_path: Path, repo_root: Path) -> None:
    out = tmp_path / "run"
    words = ["train", "--data", str(bars), "--model", "linear", "--epochs", "100000", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-m", "studio", *words, "--json"],
        cwd=repo_root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if json.loads(line)["event"] == "step":
                    break
            for second in (words, ["train", "--resume", "--out", str(out)]):
                done = call(*second)
                assert done.exit_code == 1, done.output
                assert done.stderr.startswith(
                    f"out: a training is running in this folder: {out}, process {process.pid} on "
                )
                assert len(done.stderr.splitlines()) == 1
            assert json.loads(process.stdout.readline())["event"] != "failed"
            assert process.poll() is None
        finally:
            process.kill()
    events = [json.loads(line)["event"] for line in (out / "journal.jsonl").read_text().splitlines()[:-1]]
    assert events.count("started") == 1
    # The kill took the lock away.
    done = call("train", "--resume", "--out", out, "--epochs", "1")
    assert "is running in this folder" not in said_in(done)


def without_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about X11 and Wayland")
def test_a_missing_screen_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    without_screen(monkeypatch)
    monkeypatch.setattr(display_check.importlib.util, "find_spec", lambda name: _package())
    done = call()
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "no window can be opened here: neither DISPLAY nor WAYLAND_DISPLAY is set; "
        "train without one: model-studio train --out DIR"
    ]
    monkeypatch.setenv("DISPLAY", ":4711")
    assert "no X server answers at DISPLAY=:4711" in call().stderr
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-4711")
    assert "no Wayland display answers" in call().stderr


def _package() -> Any:
    return type("Spec", (), {"submodule_search_locations": ["/nowhere"]})()


def test_a_missing_qt_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display_check.importlib.util, "find_spec", lambda name: None)
    done = call()
    assert done.exit_code == 1
    assert "PySide6 is not installed" in done.stderr


def test_the_verbose_version_names_packages_and_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call("--version", "--verbose")
    assert done.exit_code == 0
    first, python, arrays, kernels, packages = done.stdout.splitlines()
    assert first.startswith("model-studio ")
    assert python.startswith(f"Python {platform.python_version()}, ")
    assert arrays.startswith(f"NumPy {np.__version__}, BLAS: ")
    assert kernels == "kernels: NumPy's, because of MODEL_STUDIO_KERNELS=numpy"
    assert re.search(r"\bh5py \d", packages)
    monkeypatch.setenv("MODEL_STUDIO_KERNELS", "auto")
    monkeypatch.setattr("engine.kernels.choice.kernels.process", "auto")
    monkeypatch.setattr("engine.kernels.fast.compiler.load", lambda: "")
    assert "kernels: auto: after 20 steps or runs, compiled for " in call("--version", "--verbose").stdout
    why = "llvmlite can't be loaded (OSError: damaged); run: pip install --force-reinstall llvmlite"
    monkeypatch.setattr("engine.kernels.fast.compiler.load", lambda: why)
    assert f"kernels: NumPy's: {why}\n" in call("--version", "--verbose").stdout
    alone = call("--verbose")
    assert alone.exit_code == 2
    assert "it goes with --version" in alone.stderr


def test_help_and_version_import_no_engine_and_no_qt(repo_root: Path) -> None:
    for word in ("--help", "--version"):
        code = (
            "import sys; from studio.cli import main\n"
            f"sys.argv = ['model-studio', {word!r}]\n"
            "try: main()\nexcept SystemExit as end: status = end.code\n"
            "tops = {name.partition('.')[0] for name in sys.modules}\n"
            "print('LOADED', sorted(tops & {'engine', 'PySide6', 'numpy'}))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=repo_root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "LOADED []" in done.stdout
    assert "train" in call("--help").stdout


def test_run_records_each_fit_of_a_script_where_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    choices: list[Any] = []

    def run_script(path: str, arguments: list[str], mode: str | None, device: str | None) -> int:
        seen.append((arguments, os.environ.get("MODEL_STUDIO_RUNS")))
        choices.append((mode, device))
        return 0

    monkeypatch.setattr("engine.run.run_script", run_script)
    monkeypatch.setenv("MODEL_STUDIO_RUNS", "")
    monkeypatch.chdir(tmp_path)
    Path("script.py").touch()
    for words in (["script.py", "--runs", "mine"], ["--runs", "runs", "script.py", "-v"]):
        assert CliRunner().invoke(app, ["run", *words]).exit_code == 0
    assert seen == [(["--runs", "mine"], ""), (["-v"], str(tmp_path / "runs"))]
    chosen = ["run", "--mode", "static", "--device", "cpu", "script.py", "--mode", "x"]
    assert CliRunner().invoke(app, chosen).exit_code == 0
    assert choices == [(None, None), (None, None), ("static", "cpu")]
    assert CliRunner().invoke(app, ["run", "--device", "tpu", "script.py"]).exit_code == 2


def test_two_workers_and_their_lines(bars: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    chosen = (
        "--data",
        bars,
        "--model",
        "linear",
        "--epochs",
        "2",
        "--workers",
        "2",
        "--json",
        "--out",
        tmp_path,
    )
    done = call("train", *chosen)
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["step"] for line in lines if line["event"] == "step"] == list(range(1, 9))
    assert [pace["rank"] for pace in next(line["ranks"] for line in lines if line["event"] == "ranks")] == [
        0,
        1,
    ]
    assert lines[-1]["event"] == "finished"
    again = call("train", "--out", tmp_path, "--resume", "--epochs", "3", "--workers", "1", "--json")
    lines = [json.loads(line) for line in again.stdout.splitlines()]
    assert (lines[0]["event"], lines[0]["step"], lines[0]["config"]["workers"]) == ("started", 8, 1)
    assert lines[-1]["step"] == 12
