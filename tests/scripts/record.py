"""Records what scripts print: ``python tests/scripts/record.py [--slim] [NAME ...]``, with Paddle 2.6.2.

Each of ``tutorials``, or with ``--slim`` of ``slim``, runs in an empty folder; its output goes to
``recorded/NAME.txt``, after a line with the versions. Scripts of ``slim`` need paddleslim 2.6.0, too. That
has no ``paddleslim.models``, of which its pages speak: they get those of ``engine.slim``, built with Paddle.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "engine" / "slim" / "models"
WITH_MODELS = """
import runpy, sys, types
import paddle, paddleslim
for name in ("", ".layers", ".mobilenet"):
    module = types.ModuleType("paddleslim.models" + name)
    sys.modules[module.__name__] = module
    if name:
        source = open(f"{sys.argv[1]}/{name[1:]}.py").read()
        source = source.replace("from engine.slim.", "from paddleslim.").replace("from engine", "from paddle")
        exec(source, module.__dict__)
models = sys.modules["paddleslim.models"]
models.MobileNet = sys.modules["paddleslim.models.mobilenet"].MobileNet
paddleslim.models = models
runpy.run_path(sys.argv[2], run_name="__main__")
"""


def main() -> None:
    import numpy
    import paddle

    words = sys.argv[1:]
    slim = "--slim" in words
    scripts = HERE / ("slim" if slim else "tutorials")
    names = [w for w in words if w != "--slim"] or sorted(path.stem for path in scripts.glob("*.py"))
    (HERE / "recorded").mkdir(exist_ok=True)
    versions = f"# paddlepaddle {paddle.__version__}, numpy {numpy.__version__}"
    for name in names:
        script = str(scripts / f"{name}.py")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, *(["-c", WITH_MODELS, str(MODELS)] if slim else []), script],
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
            )
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        more = ", paddleslim 2.6.0" if slim else ""
        (HERE / "recorded" / f"{name}.txt").write_text(f"{versions}{more}\n{done.stdout}")
        print(name)


if __name__ == "__main__":
    main()
