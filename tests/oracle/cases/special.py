"""Special functions: error function, gamma function and derivatives, Bessel functions, logit."""

_DOMAINS = {
    "erf": "t({}) * 3",
    "erfinv": "t({})",
    "lgamma": "pos({}) * 8",
    "digamma": "pos({}) * 8",
    "i0": "t({}) * 9",
    "i0e": "t({}) * 9",
    "i1": "t({}) * 9",
    "i1e": "t({}) * 9",
    "logit": "pos({}) / 1.2",
}


def _calls() -> dict[str, str]:
    calls = {}
    for name, domain in _DOMAINS.items():
        for shape in ("[2, 3]", "[]", "[5], 'float64'"):
            calls[f"{name}/{shape}"] = f"paddle.{name}({domain.format(shape)})"
        argument = domain.format("[2, 3], 'float64'")
        calls[f"{name}/gradient"] = f"grad(paddle.{name}, {argument})"
        calls[f"{name}/method"] = f"({domain.format('[3]')}).{name}()"
    for n in (0, 1, 2, 5):
        calls[f"polygamma/{n}"] = f"paddle.polygamma(pos([2, 3]) * 8, {n})"
        calls[f"polygamma/float64 {n}"] = f"paddle.polygamma(pos([2, 3], 'float64') * 20, {n})"
        calls[f"polygamma/gradient {n}"] = (
            f"grad(lambda x: paddle.polygamma(x, {n}), pos([4], 'float64') + 1)"
        )
    for p in (1, 2, 4):
        calls[f"multigammaln/{p}"] = f"paddle.multigammaln(pos([2, 3]) + 2, {p})"
        calls[f"multigammaln/gradient {p}"] = f"grad(lambda x: paddle.multigammaln(x, {p}), pos([3]) + 2)"
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "erf/special values": "paddle.erf(paddle.to_tensor([float('inf'), -float('inf'), float('nan'), 0.0]))",
    "erf/tails": "paddle.erf(paddle.to_tensor([1e-10, 3.9, 4.1, 6.0, -9.0], dtype='float64'))",
    "erfinv/ends": "paddle.erfinv(paddle.to_tensor([-1.0, 1.0, 0.0]))",
    "erfinv/tails": "paddle.erfinv(paddle.to_tensor([1e-10, 0.999999, -0.9999999999], dtype='float64'))",
    "lgamma/poles": "paddle.lgamma(paddle.to_tensor([0.0, -1.0, -2.0]))",
    "lgamma/negative": "paddle.lgamma(paddle.to_tensor([-0.5, -1.5, -2.3], dtype='float64'))",
    "lgamma/large": "paddle.lgamma(paddle.to_tensor([1e-8, 100.0, 1e8], dtype='float64'))",
    "digamma/negative": "paddle.digamma(paddle.to_tensor([-0.5, -1.5, -2.3], dtype='float64'))",
    "digamma/poles": "paddle.digamma(paddle.to_tensor([0.0, -1.0, -2.0]))",
    "polygamma/poles": "paddle.polygamma(paddle.to_tensor([0.0, -1.0]), 1)",
    "polygamma/raises for negative order": "paddle.polygamma(pos([3]), -1)",
    "polygamma/raises for a broken order": "paddle.polygamma(pos([3]), 1.5)",
    "i0/large": "paddle.i0(paddle.to_tensor([0.0, 8.0, 20.0, 80.0], dtype='float64'))",
    "i1/large": "paddle.i1(paddle.to_tensor([0.0, -8.0, 20.0, -80.0], dtype='float64'))",
    "i1/gradient at 0": "grad(paddle.i1, paddle.to_tensor([0.0, 1.0]))",
    "i1e/gradient at 0": "grad(paddle.i1e, paddle.to_tensor([0.0, 1.0]))",
    "i0e/large": "paddle.i0e(paddle.to_tensor([500.0, -2000.0], dtype='float64'))",
    "logit/outside": "paddle.logit(paddle.to_tensor([-0.1, 0.0, 0.5, 1.0, 1.1]))",
    "logit/eps": "paddle.logit(paddle.to_tensor([-0.1, 0.0, 0.5, 1.0, 1.1]), eps=0.2)",
    "logit/gradient with eps": "grad(lambda x: paddle.logit(x, 0.2), paddle.to_tensor([0.1, 0.3, 0.6, 0.9]))",
    "multigammaln/raises for p": "paddle.multigammaln(pos([3]) + 2, 0)"
}
