"""Records what PaddleSlim's observers find: run with an interpreter that has paddleslim==2.6.0.

python tests/engine/slim/quant/record.py
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[3])]


def main() -> None:
    from importlib.metadata import version

    import paddle
    import paddleslim.quant.observers

    from tests.engine.slim.quant.samples import observed

    path = HERE / "recorded" / "observers.json"
    found = {"paddleslim": version("paddleslim"), "scales": observed(paddle, paddleslim.quant.observers)}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
