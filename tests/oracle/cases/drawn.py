"""Calls that differed when tests.differential drew them at random."""

_AXES = ("0", "-1", "[0]", "[-1]", "[0, -1]")
_REDUCED = "max min amax amin sum mean prod var std logsumexp nanmean nansum nanmedian count_nonzero"


def _without_dimensions() -> dict[str, str]:
    """Reductions of a tensor without dimensions over its axis 0 or -1."""
    calls = {}
    for name in _REDUCED.split():
        for axis in _AXES:
            for keepdim in (False, True):
                text = f"paddle.{name}(x, axis={axis}, keepdim={keepdim})"
                calls[f"0d/{name} {axis} {keepdim}"] = f"x = t([])\n{text}"
        calls[f"0d/{name} 1 raises"] = f"paddle.{name}(t([]), axis=1)"
        calls[f"0d/{name} program"] = f"program(lambda x: paddle.{name}(x, axis=-1), x=t([]).numpy())"
    for name in ("max", "amin", "sum", "mean", "prod", "logsumexp"):
        calls[f"0d/{name} gradient"] = f"grad(lambda x: paddle.{name}(x, axis=0), t([]))"
    for name in ("all", "any"):
        for axis in _AXES:
            calls[f"0d/{name} {axis}"] = f"paddle.{name}(t([]) > 0, axis={axis})"
    for name in ("sort", "argsort", "mode", "cumsum", "logcumsumexp", "cummax", "cummin"):
        calls[f"0d/{name} 1 raises"] = f"paddle.{name}(t([]), axis=1)"
        calls[f"0d/{name} -1"] = f"paddle.{name}(t([]), axis=-1)"
    for name in ("softmax", "log_softmax"):
        calls[f"0d/{name} 1 raises"] = f"F.{name}(t([]), axis=1)"
        calls[f"0d/{name} -1"] = f"F.{name}(t([]), axis=-1)"
    for axis in ("0", "-1"):
        calls[f"0d/median {axis}"] = f"paddle.median(t([]), axis={axis})"
        calls[f"0d/quantile {axis} raises"] = f"paddle.quantile(t([]), 0.5, axis={axis})"
    return calls


_LEAF = "x = t([2, 3])\nx.stop_gradient = False\n"
_FILLED = _LEAF + "y = x * 2\n{}\n[y, y.stop_gradient, paddle.grad(weighted(y * y), x)[0]]"
_MASKS = {
    "int32": "paddle.to_tensor([[1, 0, 2], [0, -1, 0]], dtype='int32')",
    "float32": "paddle.to_tensor([[0.5, 0, 2], [0, -1, 0]])",
}

CALLS: dict[str, str] = {
    **_without_dimensions(),
    "fill_/gradient": _FILLED.format("y.fill_(3.0)"),
    "zero_/gradient": _FILLED.format("y.zero_()"),
    "fill_/part": _LEAF + "y = x * 2\nz = y * y\ny2 = y + 0\ny2.fill_(1.5)\n"
    "paddle.grad(weighted([z, y2]), x)[0]",
    "fill_/leaf raises": _LEAF + "x.fill_(3.0)",
    "zero_/leaf raises": _LEAF + "x.zero_()",
    "fill_/leaf without gradient": _LEAF + "with paddle.no_grad():\n    x.fill_(3.0)\n[x, x.stop_gradient]",
    **{f"cov/{shape}": f"paddle.linalg.cov(t({shape}))" for shape in ("[1, 4]", "[4, 1]", "[4]", "[2, 4]")},
    "cov/columns": "paddle.linalg.cov(t([4, 1]), rowvar=False)",
    "cov/program": "program(lambda x: paddle.linalg.cov(x), x=t([1, 4]).numpy())",
    "corrcoef/one": "paddle.linalg.corrcoef(t([1, 4]))",
    **{f"masked_fill/{kind}": f"paddle.masked_fill(t([2, 3]), {mask}, 7.0)" for kind, mask in _MASKS.items()},
    **{f"masked_fill_/{kind}": f"t([2, 3]).masked_fill_({mask}, 7.0)" for kind, mask in _MASKS.items()},
    "binary_cross_entropy_with_logits/pos_weight": (
        "F.binary_cross_entropy_with_logits(t([2, 3]), paddle.ones([2, 3]), reduction='none', "
        "pos_weight=paddle.to_tensor([2.0, 3.0, 0.5]))"
    ),
}
