"""The clean process of an export's check: loads inference files, answers pictures, measures."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

REPEATS = 30


def main(prefix: str, asked: str, answered: str) -> int:
    """Answer the pictures in ``asked`` into ``answered`` and print what was measured; 1 and one line on
    failure."""
    from engine import jit
    from engine.core.errors import EngineError
    from engine.eager.grad_mode import no_grad
    from engine.tensor.creation import to_tensor

    try:
        begin = time.perf_counter()
        layer = jit.load(prefix, for_prediction=True)
        layer.eval()
        loaded = time.perf_counter() - begin
        pictures = np.load(asked, allow_pickle=False)
        with no_grad():
            scores = layer(to_tensor(pictures)).numpy()
            one = to_tensor(pictures[:1])
            times = []
            for _ in range(REPEATS):
                begin = time.perf_counter()
                layer(one).numpy()
                times.append(time.perf_counter() - begin)
    except (EngineError, ValueError, TypeError, OSError) as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    np.save(answered, scores, allow_pickle=False)
    print(json.dumps({"latency": float(np.median(times)), "seconds_to_load": loaded}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
