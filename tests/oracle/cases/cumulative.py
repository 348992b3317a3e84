"""Running sums, products and extremes; differences and integrals."""

_TIES = "paddle.to_tensor([[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, 1.0, 2.0]])"


def _calls() -> dict[str, str]:
    calls = {}
    for axis in ("", ", axis=0", ", axis=-1"):
        for name in ("cumsum", "logcumsumexp", "cummax", "cummin"):
            calls[f"{name}/{axis}"] = f"paddle.{name}(t([3, 4]){axis})"
            first = "[0]" if name in ("cummax", "cummin") else ""
            code = f"grad(lambda x: paddle.{name}(x{axis}){first}, t([3, 4], 'float64'))"
            calls[f"{name}/gradient {axis}"] = code
            calls[f"{name}/3-d {axis}"] = f"paddle.{name}(t([2, 2, 3], 'float64'){axis})"
    for name in ("cumsum", "logcumsumexp", "cummax", "cummin"):
        calls[f"{name}/0-d"] = f"paddle.{name}(t([]))"
        calls[f"{name}/method"] = f"t([2, 3]).{name}(1)"
        calls[f"{name}/raises for axis"] = f"paddle.{name}(t([2, 3]), axis=2)"
    for name in ("cumsum", "cummax", "cummin"):
        calls[f"{name}/int64"] = f"paddle.{name}(ints([2, 3], 9), axis=1)"
        calls[f"{name}/int32"] = f"paddle.{name}(ints([2, 3], 9, 'int32'), axis=0)"
    for name in ("cummax", "cummin"):
        calls[f"{name}/ties"] = f"paddle.{name}({_TIES}, axis=1)"
        calls[f"{name}/ties gradient"] = f"grad(lambda x: paddle.{name}(x, axis=1)[0], {_TIES})"
        calls[f"{name}/nan"] = f"paddle.{name}(paddle.to_tensor([1.0, float('nan'), 3.0, 0.0]))"
        calls[f"{name}/dtype"] = f"paddle.{name}(t([4]), dtype='int32')"
        calls[f"{name}/raises for dtype"] = f"paddle.{name}(t([4]), dtype='float32')"
    for dim in (0, 1, -1):
        calls[f"cumprod/{dim}"] = f"paddle.cumprod(t([3, 4]), dim={dim})"
        calls[f"cumprod/gradient {dim}"] = (
            f"grad(lambda x: paddle.cumprod(x, dim={dim}), t([3, 4], 'float64'))"
        )
        calls[f"diff/{dim}"] = f"paddle.diff(t([3, 4]), axis={dim})"
        calls[f"trapezoid/{dim}"] = f"paddle.trapezoid(t([3, 4]), axis={dim})"
        calls[f"cumulative_trapezoid/{dim}"] = f"paddle.cumulative_trapezoid(t([3, 4]), axis={dim})"
        calls[f"trapezoid/gradient {dim}"] = f"grad(lambda y: paddle.trapezoid(y, axis={dim}), t([3, 4]))"
    for name in ("trapezoid", "cumulative_trapezoid"):
        calls[f"{name}/x"] = f"paddle.{name}(t([2, 4]), x=paddle.cumsum(pos([4])))"
        calls[f"{name}/x of shape"] = f"paddle.{name}(t([2, 4]), x=t([2, 4], seed=1))"
        calls[f"{name}/dx"] = f"paddle.{name}(t([2, 4]), dx=0.5, axis=0)"
        calls[f"{name}/float64"] = f"paddle.{name}(t([4], 'float64'))"
        calls[f"{name}/gradient of both"] = (
            f"grad(lambda y, x: paddle.{name}(y, x), t([2, 4]), t([2, 4], seed=1))"
        )
        calls[f"{name}/raises for both"] = f"paddle.{name}(t([4]), x=t([4]), dx=1.0)"
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "cumsum/dtype": "paddle.cumsum(ints([4], 9), dtype='float64')",
    "cumprod/dtype": "paddle.cumprod(ints([4], 9) + 1, dim=0, dtype='float64')",
    "cumprod/int64": "paddle.cumprod(ints([2, 3], 5) + 1, dim=1)",
    "cumprod/0-d": "paddle.cumprod(t([]), dim=0)",
    "cumprod/gradient at 0": (
        "grad(lambda x: paddle.cumprod(x, dim=0), paddle.to_tensor([2.0, 0.0, 3.0, 4.0]))"
    ),
    "cumprod/gradient at two zeros": (
        "grad(lambda x: paddle.cumprod(x, dim=0), paddle.to_tensor([2.0, 0.0, 3.0, 0.0, 5.0]))"
    ),
    "cumprod/raises without dim": "paddle.cumprod(t([2, 2]))",
    "cumprod/raises for dim": "paddle.cumprod(t([2, 2]), dim=2)",
    "logcumsumexp/dtype": "paddle.logcumsumexp(t([4]), dtype='float64')",
    "logcumsumexp/large": "paddle.logcumsumexp(paddle.to_tensor([1000.0, 1000.0, -1000.0]))",
    "diff/n": "paddle.diff(t([2, 5]), n=2)",
    "diff/int64": "paddle.diff(ints([6], 9))",
    "diff/bool": "paddle.diff(bools([6]))",
    "diff/prepend, append": "paddle.diff(t([2, 3]), prepend=t([2, 1], seed=1), append=t([2, 2], seed=2))",
    "diff/gradient": "grad(lambda x, y: paddle.diff(x, n=2, prepend=y), t([2, 3]), t([2, 1], seed=1))",
    "diff/method": "t([4]).diff()",
    "diff/raises for n": "paddle.diff(t([4]), n=0)",
    "diff/raises for axis": "paddle.diff(t([4]), axis=1)"
}
