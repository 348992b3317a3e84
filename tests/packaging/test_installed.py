"""The Debian package in a system without Python and network: installed, used, removed.

``MODEL_STUDIO_BUNDLE`` names a folder that ``packaging/build.py`` has written; without it the package is
built first. It takes minutes and root's rights: only ``--long`` runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.arch.repository_files import ROOT
from tests.packaging.empty_root import EmptyRoot, why_not
from tests.studio.program.conftest import display  # noqa: F401  (the fixture)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a package of Debian"),
]
FOLDER_LIMIT, PACKAGE_LIMIT = 290e6, 90e6
NET = '''"""A user's model with control flow on values."""

import engine as paddle
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(784, 32)
        self.two = nn.Linear(32, 10)

    def forward(self, x):
        h = nn.functional.relu(self.one(paddle.flatten(x, 1)))
        if paddle.mean(h) > 100.0:
            h = h / 2.0
        for _ in range(2):
            h = h + 0.1 * h
        return self.two(h)
'''
SCRIPT = """import json
import sys

import numpy as np
import paddle
from helper import double
from paddle.io import DataLoader, Dataset


class Squares(Dataset):
    def __getitem__(self, i):
        return np.float32(i), np.float32(i * i)

    def __len__(self):
        return 8


@paddle.jit.to_static
def branch(x):
    if x.sum() > 0:
        return json.loads(json.dumps({"v": 1}))["v"] * double(x)
    return -x


if __name__ == "__main__":
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).sum().backward()
    rows = sum(float(y.sum()) for _, y in DataLoader(Squares(), batch_size=4, num_workers=2))
    found = {"gradient": x.grad.tolist(), "branch": branch(x).tolist(), "rows": rows, "argv": sys.argv[1:]}
    print(json.dumps(found))
"""


@dataclass(frozen=True)
class Installed:
    """The system with the package; ``before`` are its files without it."""

    root: EmptyRoot
    before: set[str]
    package: Path

    def __call__(self, *words: object, ok: bool = True, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run ``model-studio WORDS`` in the user's folder."""
        done = self.root.run("model-studio", *map(str, words), **how)
        assert not ok or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def window(self, display: str, language: str, *words: str) -> dict[str, Any]:  # noqa: F811
        """What ``window_in_bundle.py`` says, which the program runs."""
        script = Path(__file__).with_name("window_in_bundle.py")
        shutil.copy(script, self.root.home)
        variables = {"DISPLAY": display, "LANG": language, "LC_CTYPE": "C.UTF-8"}
        done = self(script.name, "/home/user", language, *words, variables=variables)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what was built."""
    if given := os.environ.get("MODEL_STUDIO_BUNDLE"):
        return Path(given)
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this Python has no shared library, which PyInstaller needs")
    out = tmp_path_factory.mktemp("bundle")
    done = subprocess.run(
        [sys.executable, ROOT / "packaging/build.py", out, "--quick", "--level", "0"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip("the packages of packaging/bundle.txt can't be had here")
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def studio(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The package, installed."""
    (package,) = built.glob("model-studio_*.deb")
    shown = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True)
    try:
        root = EmptyRoot(tmp_path_factory.mktemp("root"), shown.stdout)
    except LookupError as error:
        pytest.skip(str(error))
    before = root.files()
    shutil.copy(package, root.folder / "tmp")
    done = root.run("dpkg", "-i", f"/tmp/{package.name}", user=False)
    assert done.returncode == 0, done.stderr
    found = Installed(root, before, package)
    (root.home / "net.py").write_text(NET, encoding="utf-8")
    (root.home / "digit.png").write_bytes(_image(root.folder))
    found("train", "--data", "digits", "--model", "lenet", "--epochs", 1, "--out", "first")
    found("export", "first", "--out", "first/inference/model")
    yield found
    shutil.rmtree(root.folder)


def _image(folder: Path) -> bytes:
    file = folder / "tmp/digit.png"
    pixels = np.zeros((28, 28), np.uint8)
    pixels[5:23, 13:16] = 255
    Image.fromarray(pixels).save(file)
    return file.read_bytes()


def _json(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout.splitlines()[-1] if done.stdout.count("\n") < 3 else done.stdout)


def test_folder_and_package_are_small_and_there_is_no_other_python(built: Path, studio: Installed) -> None:
    (folder,) = built.glob("model-studio-*-linux-*/")
    size = sum(each.lstat().st_size for each in folder.rglob("*") if not each.is_dir())
    assert size < FOLDER_LIMIT
    assert studio.package.stat().st_size < PACKAGE_LIMIT
    found = studio.root.run(
        "find", "/usr", "/bin", "-name", "*python3*", "-not", "-path", "/usr/lib/model-studio/*"
    )
    assert found.stdout == ""
    assert studio("--version").stdout.startswith("model-studio ")


def test_the_window_opens_and_trains(studio: Installed, display: str) -> None:  # noqa: F811
    found = studio.window(display, "C.UTF-8", "train")
    assert found["platform"] == ("xcb" if display else "offscreen")
    assert found["state"] == "finished"
    assert "Finished" in found["texts"]
    assert any("model-" in each and "fast" in each for each in found["texts"])  # what compiles kernels


def test_the_window_speaks_chinese(studio: Installed, display: str) -> None:  # noqa: F811
    found = studio.window(display, "zh_CN.UTF-8", "open", "first/inference/model.pdmodel")
    assert found["page"] == "predict"
    assert "first/inference/model" in found["item"]
    chinese = [each for each in found["texts"] if any("一" <= letter <= "鿿" for letter in each)]
    assert len(chinese) > 20, found["texts"]


def test_two_windows_at_once(studio: Installed, display: str) -> None:  # noqa: F811
    script = Path(__file__).with_name("window_in_bundle.py")
    shutil.copy(script, studio.root.home)
    variables = {"DISPLAY": display, "LANG": "C.UTF-8"}
    one = f"model-studio {script.name} /home/user C train"
    done = studio.root.run("sh", "-c", f"{one} > one.json & {one} > two.json; wait", variables=variables)
    names = ("one.json", "two.json")
    found = [json.loads((studio.root.home / name).read_text(encoding="utf-8")) for name in names]
    assert "finished" in (each["state"] for each in found), (found, done.stderr)
    for each in found:
        # Both press Start in one project at the same moment: one may find the other's folder taken.
        taken = any("a training is running in this folder" in text for text in each["texts"])
        assert each["state"] == "finished" or taken, (found, done.stderr)


def test_a_users_file_is_converted_trained_exported_and_checked(studio: Installed) -> None:
    words = ["--data", "digits", "--model", "net.py:Net", "--epochs", 1, "--lr", "0.01"]
    done = studio("train", *words, "--out", "own")
    assert "test accuracy" in done.stdout
    done = studio("export", "own", "--out", "own/inference/model")
    assert "largest difference 0" in done.stdout or "largest difference" in done.stdout
    eager = studio("train", *words, "--eager", "--out", "own-eager")
    assert "test accuracy" in eager.stdout


def test_scripts_of_paddle_run_with_workers(studio: Installed) -> None:
    folder = studio.root.home / "脚 本"
    folder.mkdir(exist_ok=True)
    (folder / "helper.py").write_text("def double(x):\n    return 2.0 * x\n", encoding="utf-8")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    found = _json(studio("run", "脚 本/script.py", "a", "-b"))
    assert found == {"gradient": [2.0, 4.0], "branch": [2.0, 4.0], "rows": 140.0, "argv": ["a", "-b"]}


def test_commands(studio: Installed) -> None:
    prefix = "first/inference/model"
    predicted = _json(studio("predict", prefix, "digit.png", "--json"))
    assert predicted
    assert (
        "of 8 bits" in studio("quantize", "first", "--samples", 64, "--out", "first/inference/small").stdout
    )
    assert "finite" in studio("debug", "first", "--until", "nan").stdout.lower()
    studio("compare", "first", "--eager-static")
    assert "conv2d" in studio("inspect", prefix).stdout
    studio("graph", prefix, "--svg", "lenet.svg")
    studio("report", "first", "--out", "report.html")
    studio("explain", prefix, "digit.png", "--method", "saliency", "--out", "why.png")
    for name in ("lenet.svg", "report.html", "why.png"):
        assert (studio.root.home / name).stat().st_size > 1000, name


def test_a_sweep_of_two(studio: Installed) -> None:
    words = ["--model", "linear", "--data", "digits", "--epochs", 1, "--param", "lr=0.01,0.001"]
    studio("sweep", *words, "--out", "sweep")
    assert len(list((studio.root.home / "sweep").glob("*/run.h5"))) == 2


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["launch", "--nproc_per_node", "2", "脚 本/script.py"], "mpi4py is not installed"),
        (["train", "--data", "digits", "--workers", "2", "--out", "two"], "mpi4py is not installed"),
        (["train", "--data", "digits", "--device", "gpu", "--out", "gpu"], "needs CuPy"),
        (["convert", "first/inference/model", "model.onnx"], "need the package onnx"),
        (
            ["sweep", "--param", "lr=0.1,0.2", "--search", "bayes", "--trials", "4", "--out", "b"],
            "needs optuna",
        ),
        (
            [
                "sweep",
                "--param",
                "lr=0.1,0.2",
                "--scheduler",
                "tcp://127.0.0.1:1",
                "--trust-scheduler",
                "--out",
                "d",
            ],
            "needs Dask",
        ),
    ],
)
def test_each_missing_part_is_named_in_one_line(studio: Installed, words: list[str], missing: str) -> None:
    done = studio(*words, ok=False)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode in (1, 2)
    assert missing in line, done.stderr
    assert "use Model Studio from pip instead of this bundle: pip install 'model-studio[" in line
    assert "Traceback" not in done.stderr


def test_full_and_read_only_disks_are_reported_in_one_line(studio: Installed) -> None:
    for name in ("full", "fixed"):
        (studio.root.home / name).mkdir(exist_ok=True)
    mounts = (
        'mount -t tmpfs -o size=64k,mode=777 full "$R/home/user/full"; '
        'mount -t tmpfs -o ro fixed "$R/home/user/fixed";'
    )
    for folder, why in (("full", "space"), ("fixed", "ead-only")):
        done = studio("train", "--data", "digits", "--out", f"{folder}/run", ok=False, mounts=mounts)
        assert done.returncode == 1
        assert why in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_the_folder_runs_from_any_path_without_being_written(built: Path, studio: Installed) -> None:
    (folder,) = built.glob("model-studio-*-linux-*/")
    place = studio.root.home / "应 用"
    place.mkdir(exist_ok=True)
    mounts = f'mount --bind -o ro "{folder}" "$R/home/user/应 用";'
    done = studio.root.run(
        "./应 用/model-studio", "train", "--data", "digits", "--model", "linear", "--epochs", "1",
        "--out", "读 写",
        mounts=mounts,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (studio.root.home / "读 写/run.h5").is_file()


def test_kernels_are_compiled_with_the_second_package(built: Path, studio: Installed) -> None:
    found = studio("--version", "--verbose").stdout
    assert "llvmlite is not installed; run: sudo apt install ./model-studio-fast_*.deb" in found
    packages = list(built.glob("model-studio-fast_*.deb"))
    if not packages:
        pytest.skip("built without model-studio-fast")
    shutil.copy(packages[0], studio.root.folder / "tmp")
    done = studio.root.run("dpkg", "-i", f"/tmp/{packages[0].name}", user=False)
    assert done.returncode == 0, done.stderr
    try:
        assert "compiled for" in studio("--version", "--verbose").stdout
        words = ["--data", "digits", "--model", "lenet", "--epochs", 1, "--out", "compiled"]
        studio("train", *words, variables={"MODEL_STUDIO_KERNELS": "fast"})
    finally:
        studio.root.run("dpkg", "-P", "model-studio-fast", user=False)
    assert not (studio.root.folder / "usr/lib/model-studio/fast").exists()


@pytest.mark.skipif(shutil.which("lintian") is None, reason="lintian is not installed")
def test_lintian_finds_nothing(studio: Installed) -> None:
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", studio.package],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_removed_without_leftovers(studio: Installed) -> None:
    """The last one: nothing can be used after it."""
    done = studio.root.run("dpkg", "-P", "model-studio", user=False)
    assert done.returncode == 0, done.stderr
    assert studio.root.files() == studio.before
