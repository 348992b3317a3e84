"""Records what the tutorials print: ``python tests/scripts/record.py [NAME ...]``, with Paddle 2.6.2.

Each runs in an empty folder; its output goes to ``recorded/NAME.txt``, after a line with the versions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    import numpy
    import paddle

    names = sys.argv[1:] or sorted(path.stem for path in (HERE / "tutorials").glob("*.py"))
    (HERE / "recorded").mkdir(exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, str(HERE / "tutorials" / f"{name}.py")],
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
            )
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        versions = f"# paddlepaddle {paddle.__version__}, numpy {numpy.__version__}\n"
        (HERE / "recorded" / f"{name}.txt").write_text(versions + done.stdout)
        print(name)


if __name__ == "__main__":
    main()
