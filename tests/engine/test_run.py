"""The script runner: a script sees what Python would show it, and its mistakes at its own lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


Done = subprocess.CompletedProcess[str]


def run(*words: str, cwd: Path, before: tuple[str, ...] = ("-m", "engine.run")) -> Done:
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *before, *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False)


SEEN = """
import os, sys, inspect
import helper
shown = [sys.argv[0], sys.argv[1:], os.path.realpath(sys.path[0]), os.getcwd(), __name__, __file__]
shown += [__spec__, __package__, __doc__, sys.modules["__main__"].__dict__ is globals()]
def function():
    return 1
shown += [inspect.getsource(function), function.__module__, helper.VALUE]
print(shown)
"""


def test_a_script_sees_what_python_shows_it(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "helper.py").write_text("VALUE = 3\n")
    (folder / "script.py").write_text(SEEN)
    words = ["scripts/script.py", "--lr", "0.1", "-h", "--", "x"]
    here, there = run(*words, cwd=tmp_path), run(*words, cwd=tmp_path, before=())
    assert here.stderr == there.stderr == ""
    assert here.stdout == there.stdout
    through_the_command = run("run", *words, cwd=tmp_path, before=("-m", "studio"))
    assert (through_the_command.stdout, through_the_command.stderr) == (there.stdout, "")


@pytest.mark.parametrize(
    ("code", "status", "out", "err"),
    [
        ("import sys; sys.exit(5)", 5, "", ""),
        ("import sys; print('a'); sys.exit('no such file')", 1, "a\n", "no such file\n"),
        ("raise SystemExit", 0, "", ""),
        (
            "import paddle\n\npaddle.nn.Lineer(2, 3)",
            1,
            "",
            "{}:3: paddle.nn.Lineer: the engine has no such name; did you mean paddle.nn.Linear?\n",
        ),
        (
            "import paddle.nn.functional as F\nfrom paddle.vision.dataset import MNIST",
            1,
            "",
            "{}:2: paddle.vision.dataset: the engine has no such name; "
            "did you mean paddle.vision.datasets?\n",
        ),
        (
            "import sys\nsys.excepthook = lambda kind, value, trace: print('mine', value)\n1 / 0",
            1,
            "mine division by zero\n",
            "",
        ),
    ],
    ids=["number", "text", "nothing", "attribute", "import", "own hook"],
)
def test_the_exit_status_is_that_of_the_script(
    code: str, status: int, out: str, err: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(code)
    done = run("script.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (status, out, err.format(script))


MISUSE = """import paddle

def step(x):
    return net(x)

net = paddle.nn.Linear(3, 4)
try:
    step(paddle.ones([2, 2]))
except ValueError as error:
    raise RuntimeError("no luck") from error
"""


def test_a_traceback_shows_the_users_lines_only(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(MISUSE)
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "line 8, in <module>\n" in done.stderr
    assert "line 4, in step\n    return net(x)\n" in done.stderr
    assert "float32[2, 2]" in done.stderr
    assert "The above exception was the direct cause" in done.stderr
    assert done.stderr.endswith("RuntimeError: no luck\n")
    assert "<apply" not in done.stderr
    assert f"{ROOT}{os.sep}engine" not in done.stderr


def test_a_name_that_the_users_layer_lacks_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import paddle\nclass Net(paddle.nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = paddle.nn.Linear(2, 2)\n    def forward(self, x):\n        return self.fc2(x)\n"
        "Net()(paddle.ones([1, 2]))\n"
    )
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "line 7, in forward\n" in done.stderr
    assert done.stderr.endswith("AttributeError: 'Net' object has no attribute 'fc2'. Did you mean: 'fc'?\n")
    assert f"{ROOT}{os.sep}engine" not in done.stderr


def test_a_variable_that_a_converted_branch_leaves_unset_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import paddle\n@paddle.jit.to_static\ndef f(x):\n    if x.sum() > 0:\n        y = x\n    return y\n"
        "f(-paddle.ones([2]))\n"
    )
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "line 7, in <module>\n    f(-paddle.ones([2]))\n" in done.stderr  # only the run knows
    assert "script.py:4 it gets a value where the condition is true" in done.stderr
    assert "assign it on both paths" in done.stderr
    assert f"{ROOT}{os.sep}engine" not in done.stderr


BETWEEN = """import paddle, paddle.fluid as fluid

exec("def enter(place):\\n    with fluid.dygraph.guard(place): pass")
enter(fluid.CUDAPlace(7))
"""


def test_frames_between_the_users_and_the_engines_are_left_out_with_them(tmp_path: Path) -> None:
    """``with`` goes through contextlib; what the engine caught and reported in its own words is not shown."""
    (tmp_path / "script.py").write_text(BETWEEN)
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 1
    head, *frames, last = done.stderr.splitlines()
    assert head == "Traceback (most recent call last):"
    assert [line for line in frames if line.startswith("  File")] == [
        f'  File "{tmp_path / "script.py"}", line 4, in <module>',
        '  File "<string>", line 2, in enter',
    ]
    assert last.startswith("engine.core.errors.")
    assert "--device cpu" in last


def test_a_fault_of_the_engine_shows_its_frames(tmp_path: Path) -> None:
    """Made here by breaking one of its functions."""
    (tmp_path / "script.py").write_text(
        "import engine.nn.functional.common as broken\nbroken.linalg = None\n"
        "import paddle\npaddle.nn.Linear(2, 2)(paddle.ones([1, 2]))\n"
    )
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert f"{ROOT}{os.sep}engine" in done.stderr


def test_wrong_use(tmp_path: Path) -> None:
    assert run(cwd=tmp_path).returncode == 2
    done = run("nothing.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("run: can't open the script: nothing.py: No such file or directory; ")
    assert done.stderr.count("\n") == 1
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ny = = 2\n")
    done = run("broken.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "line 2\n" in done.stderr
    assert done.stderr.endswith("SyntaxError: invalid syntax\n")


SPAWNS = """
import multiprocessing
import paddle
from paddle.nn import Linear

def work(x):
    return paddle.to_tensor(x).sum().item(), Linear.__module__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [[1, 2]]))
"""


def test_processes_that_a_script_spawns_import_paddle_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNS)
    done = run("script.py", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[(3, 'engine.nn.layer.common')]\n", "")


SLIM = """
import multiprocessing
import sys
{imports}

def work(x):
    import paddleslim.models
    return paddleslim.__version__, paddleslim.models.MobileNet.__module__

if __name__ == "__main__":
    assert slim is sys.modules["engine.slim"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1]))
"""


@pytest.mark.parametrize("imports", ["import paddle\nimport paddleslim as slim", "import paddleslim as slim"])
def test_paddleslim_is_importable_in_a_script_and_in_its_processes(imports: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SLIM.format(imports=imports))
    said = ("[('2.6.0', 'engine.slim.models.mobilenet')]\n", "")
    done = run("script.py", cwd=tmp_path)
    assert (done.stdout, done.stderr) == said
    done = run("-m", "script", cwd=tmp_path)
    assert (done.stdout, done.stderr) == said


def test_without_the_runner_paddleslim_is_not_there(tmp_path: Path) -> None:
    code = "import importlib.util as u, engine; print(u.find_spec('paddleslim'), u.find_spec('paddle'))"
    done = run("-c", code, cwd=tmp_path, before=())
    assert (done.stdout, done.stderr) == ("None None\n", "")
