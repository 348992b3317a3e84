"""The maximum with 0 is bitwise identical to NumPy's, for all layouts and sizes, in place and not."""

import numpy as np
import pytest

from engine.ops.elementwise.mask import rectified

LAYOUTS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "samples last": lambda x: np.moveaxis(x, 0, -1),
    "every other": lambda x: x[..., ::2],
    "backwards": lambda x: x[::-1],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("shape", [(3, 5), (64, 70), (8192,), (3, 5, 40, 41)])
def test_the_maximum_with_zero_is_that_of_numpy(shape, dtype):
    x = (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)
    if x.dtype.kind == "f":
        x.flat[3], x.flat[5], x.flat[7], x.flat[-1] = np.nan, -0.0, -np.inf, np.nan
    for name, lie in LAYOUTS.items():
        given = lie(x)
        expected = np.maximum(given, 0)
        made = rectified(np, given)
        assert (made.strides, made.tobytes()) == (expected.strides, expected.tobytes()), name
        own = given.copy("K")
        assert rectified(np, own, own) is own
        assert own.tobytes() == expected.tobytes(), name
