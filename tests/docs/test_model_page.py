"""The page on ``Model`` is one script, which runs as it stands with ``import paddle``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRINTED = r"""The loss value printed in the log is the current step, .*
Epoch 1/2
step  8/16 - loss: N - acc: N - T
step 16/16 - loss: N - acc: N - T
save checkpoint at FOLDER/checkpoints/0
Eval begin\.\.\.
step 4/4 - loss: N - acc: N - T
Eval samples: 128
Epoch 2/2
step  8/16 - loss: N - acc: N - T
step 16/16 - loss: N - acc: N - T
save checkpoint at FOLDER/checkpoints/1
Eval begin\.\.\.
step 4/4 - loss: N - acc: N - T
Eval samples: 128
save checkpoint at FOLDER/checkpoints/final
save checkpoint at FOLDER/checkpoints/0
save checkpoint at FOLDER/checkpoints/final
16 losses, the last smaller
\['acc', 'loss'\]
\(128, 10\)
\[1, 10\]
The loss value .*
Epoch 1/1
step  8/16 - loss: N - T
step 16/16 - loss: N - T
"""


def test_the_page_on_model_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "model.md").read_text("utf-8")
    script = tmp_path / "digits.py"
    script.write_text("".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "engine.run", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0, run.stderr
    numbers = PRINTED.replace(": N", r": \d+\.\d+(?:e-\d+)?").replace(" T\n", r" \d+(?:s|ms|us)/step" + "\n")
    assert re.fullmatch(numbers.replace("FOLDER", re.escape(str(tmp_path))), run.stdout), run.stdout
