"""Values that PaddleSlim's observers and quanters are shown, for the recorder and the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN = 0.6180339887498949
WEIGHTS = ("AbsMaxChannelWiseWeightObserver", "MSEChannelWiseWeightObserver")
# Name, signs of the values, batches. MSE and EMD see one batch, EMD and KL positive values: PaddleSlim
# makes something else of more (see their docstrings).
INPUTS = (
    ("AVGObserver", 1, 3),
    ("AVGObserver", 2, 3),
    ("AbsmaxObserver", 2, 3),
    ("MSEObserver", 1, 1),
    ("MSEObserver", 2, 1),
    ("EMDObserver", 1, 1),
    ("HistObserver", 1, 3),
    ("HistObserver", 2, 3),
    ("KLObserver", 1, 3),
)


def values(shape: tuple[int, ...], seed: int, signs: int = 2) -> Any:
    """Values in (-1, 1), most of them small; below 0 nothing with ``signs`` 1."""
    even = ((np.arange(int(np.prod(shape))) + 1) * GOLDEN + seed * 0.377) % 1.0 * 2 - 1
    found = (np.sign(even) * np.abs(even) ** 3).astype("float32").reshape(shape)
    return np.maximum(found, 0) if signs == 1 else found


def observed(paddle: Any, observers: Any) -> dict[str, list[float]]:
    """The scales that each observer finds."""
    found = {}
    for name, signs, batches in INPUTS:
        each = getattr(observers, name)()._instance(None)
        for n in range(batches):
            each(paddle.to_tensor(values((4, 16, 5, 5), n, signs) * np.float32(1 + 0.4 * n)))
        found[f"{name} {signs}"] = [float(np.asarray(each.scales()).reshape(-1)[0])]
    for name in WEIGHTS:
        for layer, shape in ((paddle.nn.Conv2D(3, 4, 3), (4, 3, 3, 3)), (paddle.nn.Linear(6, 5), (6, 5))):
            each = getattr(observers, name)()._instance(layer)
            each(paddle.to_tensor(values(shape, 2)))
            found[f"{name} {type(layer).__name__}"] = [float(v) for v in np.asarray(each.scales())]
    return found


def trained(paddle: Any, quanters: Any, fake: Any) -> dict[str, list[float]]:
    """What each quanter makes of values, call by call: results, gradients and scales, as flat lists.

    ``fake`` is the class FakeQuanterWithAbsMaxObserver.
    """
    conv, linear = paddle.nn.Conv2D(3, 4, 3), paddle.nn.Linear(6, 5)
    cases = {
        "channels of a convolution": (quanters.FakeQuanterChannelWiseAbsMaxObserver(), conv, (4, 3, 3, 3)),
        "channels of a Linear": (quanters.FakeQuanterChannelWiseAbsMaxObserver(bit_length=4), linear, (6, 5)),
        "PACT": (quanters.PACTQuanter(fake(), init_value=0.4), linear, (6, 5)),
        "weight": (quanters.WeightLSQplusQuanter(quant_bits=8), linear, (6, 5)),
        "values": (quanters.ActLSQplusQuanter(quant_bits=8), linear, (6, 5)),
        "values with an offset": (quanters.ActLSQplusQuanter(symmetric=False, batch_init=1), linear, (6, 5)),
    }
    found = {}
    for name, (factory, layer, shape) in cases.items():
        each = factory._instance(layer)
        numbers: list[float] = []
        for n in range(2):
            x = paddle.to_tensor(values(shape, n))
            x.stop_gradient = False
            out = each(x)
            (out * paddle.to_tensor(values(shape, 7))).sum().backward()
            learned = [p for p in each.parameters() if p.grad is not None]
            for part in (out, x.grad, *(p.grad for p in learned), *each.parameters()):
                numbers += [float(v) for v in part.detach().numpy().reshape(-1)]
            each.clear_gradients()
        found[name] = numbers
    return found
