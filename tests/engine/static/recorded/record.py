"""Records the texts of Programs: run with an interpreter that has paddlepaddle==2.6.2 and numpy<2.

python tests/engine/static/recorded/record.py
"""

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import json
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[3])]


def main() -> None:
    import numpy as np
    import paddle

    from tests.engine.static.networks import NETWORKS, build

    warnings.simplefilter("ignore")
    texts = {}
    for name, code in NETWORKS.items():
        print(name)
        texts[name] = {"code": code, **build(paddle, np, code)}
    head = {"paddle": paddle.__version__}
    (HERE / "programs.json").write_text(
        json.dumps({**head, "programs": texts}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
