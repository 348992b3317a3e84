"""Reductions and statistics."""

_AXES = ("", ", axis=0", ", axis=-1", ", axis=[0, 2]", ", axis=1, keepdim=True", ", keepdim=True")
_SMOOTH = ("sum", "mean", "max", "min", "amax", "amin", "prod", "logsumexp", "nansum", "nanmean")
_ONE_AXIS = ("std", "var")
_NAN = "paddle.to_tensor([[1.0, float('nan'), 3.0], [float('nan'), float('nan'), float('nan')]])"


def _calls() -> dict[str, str]:
    calls = {}
    for name in (*_SMOOTH, *_ONE_AXIS):
        for axes in _AXES:
            calls[f"{name}/{axes}"] = f"paddle.{name}(t([2, 3, 2]){axes})"
            calls[f"{name}/gradient {axes}"] = (
                f"grad(lambda x: paddle.{name}(x{axes}), t([2, 3, 2], 'float64'))"
            )
        calls[f"{name}/1-d"] = f"paddle.{name}(t([4], 'float64'))"
        calls[f"{name}/method"] = f"t([2, 3]).{name}(axis=1)"
        calls[f"{name}/raises for axis"] = f"paddle.{name}(t([2, 3]), axis=2)"
        if name not in _ONE_AXIS:
            calls[f"{name}/0-d"] = f"paddle.{name}(t([]))"
    for name in ("sum", "mean", "max", "min", "amax", "amin", "prod", "nansum"):
        for dtype in ("int32", "int64"):
            if (name, dtype) != ("mean", "int32") and (name, dtype) != ("mean", "int64"):
                calls[f"{name}/{dtype}"] = f"paddle.{name}(ints([2, 3], 9, '{dtype}'), axis=1)"
    for name in ("all", "any"):
        for axes in _AXES:
            calls[f"{name}/{axes}"] = f"paddle.{name}(bools([2, 3, 2]){axes})"
        calls[f"{name}/0-d"] = f"paddle.{name}(bools([]))"
        calls[f"{name}/raises for axis"] = f"paddle.{name}(bools([2, 3]), axis=2)"
    for name in ("argmax", "argmin"):
        for axes in ("", ", axis=0", ", axis=-1", ", axis=1, keepdim=True", ", dtype='int32'"):
            calls[f"{name}/{axes}"] = f"paddle.{name}(t([2, 3, 2]){axes})"
        calls[f"{name}/ties"] = f"paddle.{name}(paddle.to_tensor([3, 1, 3, 1]))"
        calls[f"{name}/0-d"] = f"paddle.{name}(t([]))"
        calls[f"{name}/raises for axis"] = f"paddle.{name}(t([2, 3]), axis=2)"
    for axes in _AXES:
        calls[f"count_nonzero/{axes}"] = f"paddle.count_nonzero(ints([2, 3, 2], 3){axes})"
    for axis in ("", ", axis=0", ", axis=1", ", axis=-1, keepdim=True"):
        calls[f"median/{axis}"] = f"paddle.median(t([3, 4]){axis})"
        calls[f"median/odd {axis}"] = f"paddle.median(t([3, 3], 'float64'){axis})"
        calls[f"median/gradient {axis}"] = f"grad(lambda x: paddle.median(x{axis}), t([3, 4]))"
        calls[f"nanmedian/{axis}"] = f"paddle.nanmedian({_NAN}{axis})"
        calls[f"nanmedian/gradient {axis}"] = f"grad(lambda x: paddle.nanmedian(x{axis}), t([3, 4]))"
        for q in ("0.3", "[0.25, 0.5]"):
            calls[f"quantile/{q} {axis}"] = f"paddle.quantile(t([3, 4]), {q}{axis})"
            calls[f"nanquantile/{q} {axis}"] = f"paddle.nanquantile({_NAN}, {q}{axis})"
        calls[f"quantile/gradient {axis}"] = (
            f"grad(lambda x: paddle.quantile(x, 0.3{axis}), t([3, 4], 'float64'))"
        )
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "sum/bool": "paddle.sum(bools([2, 3]), axis=0)",
    "sum/dtype": "paddle.sum(t([2, 3]), axis=0, dtype='float64')",
    "sum/int8": "paddle.sum(ints([3], 100, 'int8'))",
    "sum/empty axis": "paddle.sum(t([2, 3]), axis=[])",
    "prod/dtype": "paddle.prod(t([2, 3]), axis=0, dtype='float64')",
    "prod/gradient at 0": "grad(paddle.prod, paddle.to_tensor([1.0, 0.0, 2.0]))",
    "prod/gradient at two zeros": "grad(paddle.prod, paddle.to_tensor([0.0, 0.0, 2.0]))",
    "max/ties": "grad(paddle.max, paddle.to_tensor([1.0, 3.0, 3.0]))",
    "amax/ties": "grad(paddle.amax, paddle.to_tensor([1.0, 3.0, 3.0]))",
    "amin/ties": (
        "grad(lambda x: paddle.amin(x, axis=1), paddle.to_tensor([[1.0, 1.0, 3.0], [2.0, 1.0, 2.0]]))"
    ),
    "max/nan": f"paddle.max({_NAN}, axis=1)",
    "max/raises for empty": "paddle.max(paddle.zeros([0, 3]))",
    "amin/raises for empty": "paddle.amin(paddle.zeros([0, 3]), axis=0)",
    "logsumexp/large": "paddle.logsumexp(paddle.to_tensor([1000.0, 1000.0, -1000.0]))",
    "logsumexp/infinite": "paddle.logsumexp(paddle.to_tensor([-float('inf'), 0.0]))",
    "nansum/nan": f"paddle.nansum({_NAN}, axis=1)",
    "nansum/gradient of nan": f"grad(lambda x: paddle.nansum(x, axis=1), {_NAN})",
    "nansum/dtype": f"paddle.nansum({_NAN}, dtype='float64')",
    "nanmean/nan": f"paddle.nanmean({_NAN}, axis=1)",
    "nanmean/all": f"paddle.nanmean({_NAN})",
    "nanmean/gradient of nan": f"grad(lambda x: paddle.nanmean(x, axis=0), {_NAN})",
    "count_nonzero/float32": "paddle.count_nonzero(paddle.to_tensor([0.0, 1.0, -0.0, float('nan')]))",
    "count_nonzero/bool": "paddle.count_nonzero(bools([6]))",
    "var/biased": "paddle.var(t([2, 3]), axis=1, unbiased=False)",
    "std/biased": "paddle.std(t([2, 3]), unbiased=False)",
    "std/one element": "paddle.std(paddle.to_tensor([3.0]))",
    "var/0-d": "paddle.var(paddle.to_tensor(3.0), unbiased=False)",
    "std/raises for int64": "paddle.std(ints([3], 5))",
    "median/int64": "paddle.median(ints([4], 9))",
    "median/nan": f"paddle.median({_NAN}, axis=1)",
    "median/0-d": "paddle.median(t([]))",
    "median/raises for empty": "paddle.median(paddle.zeros([0]))",
    "median/raises for axis": "paddle.median(t([2, 3]), axis=2)",
    "nanmedian/int64": "paddle.nanmedian(ints([4], 9))",
    "nanmedian/axes": f"paddle.nanmedian({_NAN}, axis=[0, 1], keepdim=True)",
    "nanmedian/raises for no axis": f"paddle.nanmedian({_NAN}, axis=[])",
    "nanmedian/0-d": "paddle.nanmedian(t([]))",
    "quantile/axes": "paddle.quantile(t([2, 3, 4]), [0.1, 0.9], axis=[0, 2], keepdim=True)",
    "quantile/nan": f"paddle.quantile({_NAN}, 0.5, axis=1)",
    "quantile/int64": "paddle.quantile(ints([5], 9), 0.3)",
    "quantile/0-d": "paddle.quantile(t([]), 0.5)",
    "quantile/ends": "paddle.quantile(t([5]), [0, 1])",
    "quantile/raises for range": "paddle.quantile(t([3]), 1.5)",
    "quantile/raises for tensor": "paddle.quantile(t([3]), t([2]))",
    "quantile/raises for nothing": "paddle.quantile(t([3]), [])",
    "quantile/raises for axis": "paddle.quantile(t([3]), 0.5, axis=1)",
    "histogram/": "paddle.histogram(t([20]), bins=5)",
    "histogram/range": "paddle.histogram(t([20]), bins=4, min=-1, max=2)",
    "histogram/int64": "paddle.histogram(ints([20], 9), bins=4, min=1, max=7)",
    "histogram/int32": "paddle.histogram(ints([20], 9, 'int32'), bins=4)",
    "histogram/one value": "paddle.histogram(paddle.ones([3]), bins=4)",
    "histogram/empty": "paddle.histogram(paddle.zeros([0]), bins=3)",
    "histogram/raises for range": "paddle.histogram(t([3]), bins=4, min=2, max=1)",
    "histogram/raises for bins": "paddle.histogram(t([3]), bins=0)",
    "bincount/": "paddle.bincount(ints([9], 5))",
    "bincount/int32": "paddle.bincount(ints([9], 5, 'int32'))",
    "bincount/minlength": "paddle.bincount(ints([9], 5), minlength=8)",
    "bincount/weights": "paddle.bincount(ints([9], 5), weights=pos([9]))",
    "bincount/weights of int64": "paddle.bincount(ints([9], 5), weights=ints([9], 4, seed=1))",
    "bincount/weights of float64": "paddle.bincount(ints([9], 5), weights=pos([9], 'float64'), minlength=7)",
    "bincount/raises for negative": "paddle.bincount(paddle.to_tensor([1, -1]))",
    "bincount/raises for 2-d": "paddle.bincount(ints([2, 2], 5))",
    "bincount/raises for float32": "paddle.bincount(t([3]))",
    "bincount/empty with minlength": "paddle.bincount(paddle.zeros([0], 'int64'), minlength=3)",
    "cov/": "paddle.linalg.cov(t([3, 5]))",
    "cov/columns": "paddle.linalg.cov(t([3, 5]), rowvar=False)",
    "cov/vector": "paddle.linalg.cov(t([5]))",
    "cov/n": "paddle.linalg.cov(t([3, 5]), ddof=False)",
    "cov/counts": "paddle.linalg.cov(t([3, 4]), fweights=paddle.to_tensor([1, 2, 3, 1]))",
    "cov/weights": "paddle.linalg.cov(t([3, 4]), aweights=pos([4]))",
    "cov/both": "paddle.linalg.cov(t([3, 4]), fweights=paddle.to_tensor([1, 2, 3, 1]), aweights=pos([4]))",
    "cov/gradient": "grad(paddle.linalg.cov, t([3, 4], 'float64'))",
    "cov/raises for 3-d": "paddle.linalg.cov(t([2, 2, 2]))",
    "corrcoef/": "paddle.linalg.corrcoef(t([3, 5]))",
    "corrcoef/columns": "paddle.linalg.corrcoef(t([3, 5]), rowvar=False)",
    "corrcoef/vector": "paddle.linalg.corrcoef(t([5]))"
}
