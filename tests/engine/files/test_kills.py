"""A kill before any call that touches the disk leaves the old file or the new one, and one readable model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Forks a writer per point, which kills itself before its n-th call of any of these; then a reader looks.
DRIVER = """
import json, os, shutil, signal, sys
import numpy as np
from engine.core.errors import EngineError
from engine.files.atomic import atomic_write
from engine.files.inference import read_inference, write_inference
from engine.files.state import read_state, write_state

CALLS = ("open", "fsync", "replace", "unlink", "chmod", "rename")

def in_child(action):
    pid = os.fork()
    if pid == 0:
        try:
            action()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def killed_before(point, action):
    count = 0
    def guarded(real):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)
        return call
    for name in CALLS:
        setattr(os, name, guarded(getattr(os, name)))
    action()

def save_state(folder, value):
    write_state(folder / "a.h5", {"w": np.full(50_000, value)})

def load_state(folder):
    return int(read_state(folder / "a.h5")["w"][0])

def save_model(folder, value):
    write_inference(folder / "m", {"p": value}, {"w": np.full(100, value)}, {"i": value})

def load_model(folder):
    files = read_inference(folder / "m")
    values = {files.program["p"], int(files.weights["w"][0]), files.info["i"]}
    if len(values) != 1:
        return f"mixture {values}"
    # What the first reader has repaired, the files themselves now show.
    assert len({path.stat().st_size for path in folder.glob("m.*")}) <= 3
    return values.pop()

def main(what, folder, with_old):
    save, load = (save_state, load_state) if what == "state" else (save_model, load_model)
    seen = []
    for point in range(1, 200):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if with_old:
            save(folder, 1)
        code = in_child(lambda: killed_before(point, lambda: save(folder, 2)))
        assert code in (0, -9), code
        try:
            first = load(folder)
            assert load(folder) == first
        except EngineError as error:
            first = "missing" if isinstance(error, OSError) else str(error)
        save(folder, 3)
        assert load(folder) == 3
        left = sorted(path.name for path in folder.iterdir())
        model = ["m.pdiparams", "m.pdiparams.info", "m.pdmodel"]
        assert left == (["a.h5"] if what == "state" else model), left
        seen.append([code, first])
        if code == 0:
            break
    print(json.dumps(seen))

from pathlib import Path
main(sys.argv[1], Path(sys.argv[2]) / "work", sys.argv[3] == "old")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("what", ["state", "model"])
@pytest.mark.parametrize("before", ["old", "nothing"])
def test_every_point_of_a_save(tmp_path: Path, what: str, before: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, what, str(tmp_path), before],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    codes, values = [code for code, _ in seen], [value for _, value in seen]
    assert codes == [-9] * (len(seen) - 1) + [0]
    old = 1 if before == "old" else "missing"
    # First the old one, from some point on the new one, and nothing else ever.
    switch = values.index(2)
    assert values == [old] * switch + [2] * (len(values) - switch)
    assert switch >= 3
    assert len(values) - switch >= 2
    if what == "model":
        assert len(values) - switch >= 4  # killed between the renames, the reader finishes them
