"""Records what PaddleSlim's observers and quanters find: run with an interpreter that has paddleslim==2.6.0.

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
    import paddleslim.quant.quanters
    from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

    from tests.engine.slim.quant.samples import observed, trained

    # PaddleSlim 2.6.0 is written for a Paddle whose single numbers had shape [1].
    kept = paddle.Tensor.set_value
    paddle.Tensor.set_value = lambda self, value: kept(
        self, value.reshape(self.shape) if isinstance(value, paddle.Tensor) else value
    )
    found = {
        "observers": observed(paddle, paddleslim.quant.observers),
        "quanters": trained(paddle, paddleslim.quant.quanters, FakeQuanterWithAbsMaxObserver),
    }
    for name, numbers in found.items():
        path = HERE / "recorded" / f"{name}.json"
        text = json.dumps({"paddleslim": version("paddleslim"), "numbers": numbers}, separators=(",", ":"))
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
