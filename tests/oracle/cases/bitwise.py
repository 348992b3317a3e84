"""Bits of integers, divisors, comparison and logic."""

_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
_COMPARISONS = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
_LOGIC = ("logical_and", "logical_or", "logical_xor")


def _calls() -> dict[str, str]:
    calls = {}
    for name in _BITS:
        for dtype in ("uint8", "int8", "int16", "int32", "int64"):
            calls[f"{name}/{dtype}"] = (
                f"paddle.{name}(ints([4], 100, '{dtype}'), ints([4], 100, '{dtype}', seed=1))"
            )
        calls[f"{name}/bool"] = f"paddle.{name}(bools([4]), bools([4], seed=1))"
        calls[f"{name}/negative"] = f"paddle.{name}(ints([4], 100) - 50, ints([4], 100, seed=1) - 50)"
        calls[f"{name}/broadcast"] = f"paddle.{name}(ints([2, 1], 100), ints([3], 100, seed=1))"
        calls[f"{name}/0-d"] = f"paddle.{name}(ints([], 100), ints([], 100, seed=1))"
        calls[f"{name}/raises for float32"] = f"paddle.{name}(t([3]), t([3]))"
        calls[f"{name}/method"] = f"ints([3], 9).{name}(ints([3], 9, seed=1))"
    for name in (*_COMPARISONS, *_LOGIC):
        calls[f"{name}/float32"] = f"paddle.{name}(t([2, 3]), t([2, 3], seed=1))"
        calls[f"{name}/int64"] = f"paddle.{name}(ints([6], 3), ints([6], 3, seed=1))"
        calls[f"{name}/bool"] = f"paddle.{name}(bools([6]), bools([6], seed=1))"
        calls[f"{name}/broadcast"] = f"paddle.{name}(ints([2, 1], 3), ints([3], 3, seed=1))"
        calls[f"{name}/0-d"] = f"paddle.{name}(ints([], 3), ints([], 3))"
        calls[f"{name}/method"] = f"ints([6], 3).{name}(ints([6], 3, seed=1))"
        calls[f"{name}/raises for shapes"] = f"paddle.{name}(t([2, 3]), t([2]))"
    for name in _COMPARISONS:
        calls[f"{name}/nan"] = (
            f"paddle.{name}(paddle.to_tensor([float('nan')]), paddle.to_tensor([float('nan')]))"
        )
    for name in ("gcd", "lcm"):
        calls[f"{name}/int64"] = f"paddle.{name}(ints([2, 4], 60), ints([4], 60, seed=1))"
        calls[f"{name}/int32"] = f"paddle.{name}(ints([4], 60, 'int32'), ints([4], 60, 'int32', seed=1))"
        calls[f"{name}/signs"] = (
            f"paddle.{name}(paddle.to_tensor([-12, 12, 0, 0]), paddle.to_tensor([18, -18, 5, 0]))"
        )
        calls[f"{name}/0-d"] = f"paddle.{name}(paddle.to_tensor(12), paddle.to_tensor(18))"
        calls[f"{name}/method"] = f"(ints([3], 9) + 1).{name}(ints([3], 9, seed=1) + 1)"
    for name in ("isnan", "isinf", "isfinite"):
        calls[f"{name}/"] = (
            f"paddle.{name}(paddle.to_tensor([float('nan'), float('inf'), -float('inf'), 1.0]))"
        )
        calls[f"{name}/int64"] = f"paddle.{name}(ints([3], 5))"
        calls[f"{name}/0-d"] = f"paddle.{name}(t([]))"
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "operators": "x, y = ints([4], 50), ints([4], 50, seed=1)\n[x & y, x | y, x ^ y, ~x]",
    "operators/bool": "x, y = bools([4]), bools([4], seed=1)\n[x & y, x | y, x ^ y, ~x]",
    "bitwise_not/int64": "paddle.bitwise_not(ints([4], 100) - 50)",
    "bitwise_not/uint8": "paddle.bitwise_not(ints([4], 100, 'uint8'))",
    "bitwise_not/bool": "paddle.bitwise_not(bools([4]))",
    "bitwise_not/raises for float32": "paddle.bitwise_not(t([3]))",
    "logical_not/": "paddle.logical_not(t([3]))",
    "logical_not/int64": "paddle.logical_not(ints([6], 3))",
    "logical_not/bool": "paddle.logical_not(bools([4]))",
    "isclose/": "paddle.isclose(paddle.to_tensor([1.0, 1.1, 2.0]), paddle.to_tensor([1.0 + 1e-7, 1.0, 2.1]))",
    "isclose/tolerance": "paddle.isclose(t([4]), t([4], seed=1), rtol=0.1, atol=0.5)",
    "isclose/nan": (
        "x = paddle.to_tensor([float('nan'), float('inf')])\n[paddle.isclose(x, x), paddle.isclose(x, x, "
        "equal_nan=True)]"
    ),
    "isclose/float64": "paddle.isclose(t([3], 'float64'), t([3], 'float64') + 1e-9)",
    "allclose/": "paddle.allclose(t([4]), t([4]) + 1e-9)",
    "allclose/far": "paddle.allclose(t([4]), t([4], seed=1))",
    "allclose/tolerance": "paddle.allclose(t([4]), t([4], seed=1), atol=5.0)",
    "allclose/nan": (
        "x = paddle.to_tensor([float('nan')])\n[paddle.allclose(x, x), paddle.allclose(x, x, "
        "equal_nan=True)]"
    ),
    "equal_all/": (
        "[paddle.equal_all(ints([3], 5), ints([3], 5)), paddle.equal_all(ints([3], 5), ints([3], 5, "
        "seed=1))]"
    ),
    "equal_all/shapes": "paddle.equal_all(ints([3], 5), ints([4], 5))",
    "is_empty/": "[paddle.is_empty(t([3])), paddle.is_empty(paddle.zeros([0, 2]))]",
    "is_tensor/": "[paddle.is_tensor(t([3])), paddle.is_tensor(1)]"
}
