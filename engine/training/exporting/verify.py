"""The clean process of an export's check: loads inference files, answers images, measures."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

REPEATS = 30
BATCH = 256


def main(count: str, asked: str, answered: str, *prefixes: str) -> int:
    """Let the models of ``prefixes`` answer samples, each into ``answered`` and its number. Print what was
    measured; 1 and one line on failure. There are ``count`` inputs: ``asked`` and its number is the file of
    each.

    The models predict one sample in alternation, so that other load on the machine slows all of them.
    """
    from engine import jit
    from engine.core.errors import EngineError
    from engine.eager.grad_mode import no_grad
    from engine.files.data.npy import open_npy
    from engine.tensor.creation import to_tensor

    try:
        layers, loaded = [], []
        for prefix in prefixes:
            begin = time.perf_counter()
            layer = jit.load(prefix, for_prediction=True)
            layer.eval()
            loaded.append(time.perf_counter() - begin)
            layers.append(layer)
        inputs = [open_npy(f"{asked}{number}.npy") for number in range(int(count))]
        there = inputs[0].shape[0]

        def taken_of(places: np.ndarray) -> list[Any]:
            return [to_tensor(each.take(places)) for each in inputs]

        times: list[list[float]] = [[] for _ in layers]
        with no_grad():
            for number, layer in enumerate(layers):
                batches = np.split(np.arange(there), range(BATCH, there, BATCH))
                parts = [layer(*taken_of(batch)).numpy() for batch in batches]
                np.save(f"{answered}{number}.npy", np.concatenate(parts), allow_pickle=False)
            one = taken_of(np.arange(1))
            for _ in range(REPEATS):
                for layer, taken in zip(layers, times, strict=True):
                    begin = time.perf_counter()
                    layer(*one).numpy()
                    taken.append(time.perf_counter() - begin)
    except (EngineError, ValueError, TypeError, OSError) as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    latencies = [float(np.median(taken)) for taken in times]
    print(json.dumps({"latencies": latencies, "seconds_to_load": loaded}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
