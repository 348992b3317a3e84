"""Transforms of random variables, and the distributions that they make."""

_D = "D, T = paddle.distribution, paddle.to_tensor\n"
_N = "D.Normal(T([0.0, 1.0, 2.0]), T([1.0, 2.0, 3.0]))"
_A = "D.AffineTransform(T(1.0), T(2.0))"
_ROWS = "T([[0.3, 0.9, 0.4], [0.1, 0.2, 0.5]])"
_TRANSFORMS = {
    "Abs": "D.AbsTransform()", "Affine": _A, "Exp": "D.ExpTransform()", "Power": "D.PowerTransform(T(2.0))",
    "Affine of vectors": "D.AffineTransform(T([1.0, 2.0, 3.0]), T([2.0, -3.0, 1.0]))",
    "Affine of columns": "D.AffineTransform(T([[1.0], [2.0]]), T(2.0))",
    "Power of vectors": "D.PowerTransform(T([2.0, 3.0, 0.5]))",
    "Reshape": "D.ReshapeTransform((2, 3), (3, 2))", "Sigmoid": "D.SigmoidTransform()",
    "Softmax": "D.SoftmaxTransform()", "StickBreaking": "D.StickBreakingTransform()",
    "Tanh": "D.TanhTransform()", "Chain": f"D.ChainTransform([{_A}, D.ExpTransform()])",
    "Chain of stick": f"D.ChainTransform([{_A}, D.StickBreakingTransform()])",
    "Chain of events": "D.ChainTransform([D.ExpTransform(), D.IndependentTransform(D.ExpTransform(), 1)])",
    "Independent": "D.IndependentTransform(D.ExpTransform(), 1)",
    "Independent of two": "D.IndependentTransform(D.ExpTransform(), 2)",
    "Stack": "D.StackTransform([D.ExpTransform(), D.TanhTransform()])",
    "Stack of columns": "D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 1)",
    "Stack of last": "D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], -1)",
    "Stack of events": "D.StackTransform([D.IndependentTransform(D.ExpTransform(), 1)] * 2, 0)"
}
_NO_VOLUME = ("Abs", "Softmax")


def _transforms() -> dict[str, str]:
    calls = {}
    for name, made in _TRANSFORMS.items():
        head = f"{_D}t, x = {made}, {_ROWS}\n"
        calls[f"{name}Transform/forward"] = f"{head}y = t.forward(x)\n(y, t.inverse(y), t(x))"
        calls[f"{name}Transform/ranks"] = (
            f"{head}(t._domain.event_rank, t._codomain.event_rank, t._is_injective())"
        )
        calls[f"{name}Transform/raises for a number"] = f"{head}t.forward(0.5)"
        calls[f"{name}Transform/raises for a list"] = f"{head}t.inverse([0.5])"
        calls[f"{name}Transform/raises for no shape"] = f"{head}t.forward_shape(3)"
        if name not in _NO_VOLUME:
            calls[f"{name}Transform/volume"] = (
                f"{head}(t.forward_log_det_jacobian(x), t.inverse_log_det_jacobian(t.forward(x)))"
            )
            calls[f"{name}Transform/gradient"] = (
                f"{_D}grad(lambda x: [{made}.forward(x), {made}.forward_log_det_jacobian(x) + x * 0.0], "
                f"{'T([0.3, 0.9, 0.4])' if 'Reshape' not in name else _ROWS})"
                if not name.startswith(("Stack", "Independent of two", "Reshape", "Affine of columns"))
                else f"{head}grad(t.forward, x)"
            )
        shape = "(2, 4)" if "tick" in name else "(3, 2)" if name == "Reshape" else "(2, 3)"
        calls[f"{name}Transform/shapes"] = f"{head}(t.forward_shape((2, 3)), t.inverse_shape({shape}))"
    return calls


def _composed() -> dict[str, str]:
    base = f"D.Independent({_N}, 1)"
    rows = {
        "AbsTransform/raises for volume": f"D.AbsTransform().forward_log_det_jacobian({_ROWS})",
        "AbsTransform/inverse volume": f"D.AbsTransform().inverse_log_det_jacobian({_ROWS})",
        "SoftmaxTransform/raises for volume": f"D.SoftmaxTransform().forward_log_det_jacobian({_ROWS})",
        "SoftmaxTransform/raises for inverse volume": (
            f""
            f"D.SoftmaxTransform().inverse_log_det_jacobian({_ROWS})"
        ),
        "SoftmaxTransform/raises for 0-d": "D.SoftmaxTransform().forward(T(0.5))",
        "StickBreakingTransform/raises for 0-d": "D.StickBreakingTransform().forward(T(0.5))",
        "StickBreakingTransform/shape": "D.StickBreakingTransform().forward_shape((5, 1, 3))",
        "AffineTransform/raises for numbers": "D.AffineTransform(1.0, 2.0)",
        "AffineTransform/parameters": f"({_A}.loc, {_A}.scale, {_A}.forward_shape([2, 3]))",
        "PowerTransform/raises for numbers": "D.PowerTransform(2.0)",
        "PowerTransform/parameter": "D.PowerTransform(T(2.0)).power",
        "ReshapeTransform/parameters": (
            "t = D.ReshapeTransform([2, 3], [6])\n(t.in_event_shape, "
            "t.out_event_shape)"
        ),
        "ReshapeTransform/batch": "D.ReshapeTransform((2, 3), (6,)).forward(t([4, 2, 3]))",
        "ReshapeTransform/volume of batch": (
            "D.ReshapeTransform((2, 3), (6,)).forward_log_det_jacobian(t([4, 2, 3]))"
        ),
        "ReshapeTransform/raises for sizes": "D.ReshapeTransform((3,), (2,))",
        "ReshapeTransform/raises for numbers": "D.ReshapeTransform(3, (3,))",
        "ReshapeTransform/raises for another shape": "D.ReshapeTransform((3,), (3, 1)).forward_shape((2,))",
        "ReshapeTransform/raises for few dimensions": "D.ReshapeTransform((2, 3), (6,)).forward_shape((3,))",
        "ReshapeTransform/raises for another tensor": "D.ReshapeTransform((4,), (2, 2)).forward(t([2, 3]))",
        "ChainTransform/raises for numbers": "D.ChainTransform([1])",
        "ChainTransform/raises for a transform": "D.ChainTransform(D.ExpTransform())",
        "ChainTransform/of a call": f"{_A}(D.ExpTransform()).forward(T([1.0]))",
        "IndependentTransform/raises for 0": "D.IndependentTransform(D.ExpTransform(), 0)",
        "IndependentTransform/raises for a number": "D.IndependentTransform(1, 1)",
        "IndependentTransform/raises for 0-d": "D.IndependentTransform(D.ExpTransform(), 1).forward(T(0.5))",
        "StackTransform/raises for nothing": "D.StackTransform([])",
        "StackTransform/raises for numbers": "D.StackTransform([1])",
        "StackTransform/raises for a transform": "D.StackTransform(D.ExpTransform())",
        "StackTransform/raises for half an axis": "D.StackTransform([D.ExpTransform()], 1.5)",
        "StackTransform/raises for an axis": f"D.StackTransform([D.ExpTransform()] * 3, 5).forward({_ROWS})",
        "StackTransform/raises for parts": f"D.StackTransform([D.ExpTransform()] * 4, 0).forward({_ROWS})",
        "Transform/raises for forward": f"D.Transform().forward({_ROWS})",
        "Transform/raises for inverse": f"D.Transform().inverse({_ROWS})",
        "Transform/raises for volume": f"D.Transform().forward_log_det_jacobian({_ROWS})",
        "Transform/shape": "(D.Transform().forward_shape((2,)), D.Transform().inverse_shape([3]))",
        "Transform/kinds": "[str(kind) for kind in D.transform.Type]",
        "TanhTransform/far": "D.TanhTransform().forward_log_det_jacobian(T([20.0, -30.0]))",
        "SigmoidTransform/far": "D.SigmoidTransform().forward_log_det_jacobian(T([50.0, -60.0]))",
        "TransformedDistribution": (
            f"d = D.TransformedDistribution({_N}, [D.ExpTransform()])\n"
            "x = T([0.3, 0.9, 0.4])\n"
            "(d.log_prob(x), d.prob(x), d.batch_shape, d.event_shape, d.sample([4]).shape)"
        ),
        "TransformedDistribution/two": (
            f"D.TransformedDistribution({_N}, [{_A}, D.TanhTransform()]).log_prob(T([0.3, 0.9, 0.4]))"
        ),
        "TransformedDistribution/none": f"D.TransformedDistribution({_N}, []).log_prob(T([0.3, 0.9, 0.4]))",
        "TransformedDistribution/of a call": f"D.ExpTransform()({_N}).log_prob(T([0.3, 0.9, 0.4]))",
        "TransformedDistribution/events": (
            f"d = D.TransformedDistribution({base}, [D.StickBreakingTransform()])\n"
            "(d.log_prob(T([0.1, 0.2, 0.3, 0.4])), d.batch_shape, d.event_shape, d.sample().shape)"
        ),
        "TransformedDistribution/events of a number": (
            f"D.TransformedDistribution({base}, [{_A}]).log_prob(T([0.1, 0.2, 0.3]))"
        ),
        "TransformedDistribution/elements of events": (
            f"D.TransformedDistribution({base}, [D.ExpTransform()]).log_prob(T([0.1, 0.2, 0.3]))"
        ),
        "TransformedDistribution/shapes of events": (
            f"d = D.TransformedDistribution({base}, [D.ReshapeTransform((3,), (3, 1))])\n"
            "(d.log_prob(T([[0.1], [0.2], [0.3]])), d.event_shape, d.sample([2]).shape)"
        ),
        "TransformedDistribution/stack": (
            "t = D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 0)\n"
            f"D.TransformedDistribution({_N}, [t]).log_prob(T([0.1, 0.2, 0.3]))"
        ),
        "TransformedDistribution/stack of events": (
            "t = D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 0)\n"
            f"D.TransformedDistribution({base}, [t]).log_prob(T([0.1, 0.2, 0.3]))"
        ),
        "TransformedDistribution/Dirichlet": (
            "d = D.Dirichlet(T([0.5, 1.5]))\n"
            "D.TransformedDistribution(d, [D.ExpTransform()]).log_prob(T([1.3, 1.9]))"
        ),
        "TransformedDistribution/broadcast": (
            "d = D.TransformedDistribution(D.Normal(T(0.0), T(1.0)), "
            "[D.AffineTransform(T([1.0, 2.0]), T([1.0, 2.0]))])\n(d.batch_shape, d.log_prob(T([0.4, 0.5])))"
        ),
        "TransformedDistribution/gradient": (
            "grad(lambda m, s, v: D.TransformedDistribution(D.Normal(m, s), [D.ExpTransform()]).log_prob(v), "
            "T([0.1, 0.2]), T([1.1, 1.2]), T([0.3, 0.8]))"
        ),
        "TransformedDistribution/raises for a transform": (
            f"D.TransformedDistribution({_N}, "
            f"D.ExpTransform())"
        ),
        "TransformedDistribution/raises for numbers": f"D.TransformedDistribution({_N}, [1])",
        "TransformedDistribution/raises for a base": "D.TransformedDistribution(1, [D.ExpTransform()])",
        "TransformedDistribution/raises for few dimensions": (
            "D.TransformedDistribution(D.Normal(T(0.0), T(1.0)), [D.StickBreakingTransform()])"
        ),
        "TransformedDistribution/raises for entropy": (
            f"D.TransformedDistribution({_N}, [D.ExpTransform()]).entropy()"
        )
    }
    return {name: _D + code for name, code in rows.items()}


CALLS: dict[str, str] = {**_transforms(), **_composed()}
