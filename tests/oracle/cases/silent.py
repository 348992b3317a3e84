"""Calls whose results once differed silently: sizes, dtypes, logarithms, and arguments that are refused."""

_R = "x = paddle.arange(12).astype('float32')\n"
_SIZES = ([-2, 6], [-3, 4], [3, -4], [2, -1, -3], [-1, -1])
_SCALES = (0.7999999999999999, 0.7, 0.1, 0.3, 1.1, 2.3, 0.6, 0.9, 1.7)
_MODES = {
    "nearest": ("[1, 1, 10, 15]", "NCHW"),
    "linear": ("[1, 1, 10]", "NCW"),
    "bilinear": ("[1, 1, 10, 15]", "NCHW"),
    "bicubic": ("[1, 1, 10, 15]", "NCHW"),
    "trilinear": ("[1, 1, 12, 10, 11]", "NCDHW"),
}


def _interpolated() -> dict[str, str]:
    calls = {}
    for mode, (shape, layout) in _MODES.items():
        call = f"F.interpolate({{}}, scale_factor={{}}, mode='{mode}', data_format='{layout}')"
        rank = len(layout) - 2
        for scale in _SCALES:
            forms = {
                "number": str(scale),
                "list": f"[{scale}] * {rank}",
                "Tensor": f"paddle.to_tensor({scale})",
                "list of Tensors": f"[paddle.to_tensor({scale})] * {rank}",
            }
            for form, text in forms.items():
                calls[f"interpolate/{mode} {scale} {form}"] = call.format(f"t({shape})", text) + ".shape"
            fed = f"x=t({shape}).numpy()"
            calls[f"interpolate/{mode} {scale} program"] = (
                f"program(lambda x: {call.format('x', scale)}, {fed})[0].shape"
            )
            made = f"paddle.full([1], {scale}, 'float32')"
            calls[f"interpolate/{mode} {scale} Variable"] = (
                f"program(lambda x: {call.format('x', made)}, {fed})[0].shape"
            )
    for scale in (0.7, 1.7, 2.3):
        calls[f"interpolate/nearest {scale} values"] = (
            f"F.interpolate(paddle.arange(200.0).reshape([1, 1, 10, 20]), scale_factor={scale})"
        )
    return calls


_KINDS = ("int32", "int64", "float32", "float64")


def _ranges() -> dict[str, str]:
    calls = {}
    for kind in _KINDS:
        five = f"paddle.to_tensor(5, dtype='{kind}')"
        calls[f"arange/{kind}"] = f"paddle.arange({five})"
        calls[f"arange/1, {kind}"] = f"paddle.arange(1, {five})"
        calls[f"arange/1.0, {kind}"] = f"paddle.arange(1.0, {five})"
        calls[f"arange/step {kind}"] = f"paddle.arange(1, 9, {five})"
        calls[f"arange/scalar {kind}"] = f"paddle.arange(np.{kind}(5))"
        calls[f"arange/array {kind}"] = f"paddle.arange(np.array(5, '{kind}'))"
        for other in _KINDS:
            first = f"paddle.to_tensor(1, dtype='{other}')"
            calls[f"arange/{other}, {kind}"] = f"paddle.arange({first}, {five})"
            calls[f"arange/program {other}, {kind}"] = (
                "program(lambda: paddle.arange("
                f"paddle.full([1], 1, '{other}'), paddle.full([1], 5, '{kind}')))"
            )
    double = "paddle.set_default_dtype('float64')\n"
    calls["arange/by default float64"] = double + "paddle.arange(paddle.to_tensor(5.0, dtype='float32'))"
    return calls


def _assigned() -> dict[str, str]:
    calls = {}
    for kind in (*_KINDS, "bool", "float16"):
        for name, value in {
            "ints": "[2, 3]",
            "floats": "[2.5, 3]",
            "array": "np.array([2, 3], 'int32')",
            "Tensor": "paddle.to_tensor([2.0, 3.0])",
            "other shape": "[1, 2, 3]",
        }.items():
            calls[f"assign/{name} to {kind}"] = (
                f"o = paddle.zeros([2], '{kind}')\nsame = paddle.assign({value}, output=o) is o\n[o, same]"
            )
        calls[f"assign/program {kind}"] = (
            "def build():\n"
            f"    o = paddle.zeros([2], '{kind}')\n    paddle.assign([2, 3], output=o)\n    return o\n"
            "program(build)"
        )
    return calls


_LOGITS = {
    "wide": "[[1000.0, -1000.0]]",
    "65": "[[0.0, -65.0]]",
    "63": "[[0.0, -63.0]]",
    "three": "[[100.0, 0, -100]]",
    "infinite": "[[0.0, -float('inf')]]",
    "nan": "[[float('nan'), 0.0]]",
    "many": "[[i * 2.0 for i in range(400)]]",
}
_PROBABILITIES = {
    "zero": "[[0.0, 1.0]]",
    "tiny": "[[1e-30, 1.0]]",
    "usual": "[[0.25, 0.75]]",
    "infinite": "[[float('inf'), 1.0]]",
}


def _entropies() -> dict[str, str]:
    calls = {}
    for dtype in ("float32", "float64"):
        for name, values in _LOGITS.items():
            x = f"x = paddle.to_tensor({values}, '{dtype}', stop_gradient=False)\n"
            for label in (0, 1):
                calls[f"cross_entropy/{name} {label} {dtype}"] = x + (
                    f"v = F.cross_entropy(x, paddle.to_tensor([{label}]))\nv.backward()\n[v, x.grad]"
                )
                soft = f"F.one_hot(paddle.to_tensor([{label}]), x.shape[1]).astype(x.dtype)"
                calls[f"cross_entropy/soft {name} {label} {dtype}"] = x + (
                    f"F.cross_entropy(x, {soft}, soft_label=True)"
                )
                calls[f"cross_entropy/smooth {name} {label} {dtype}"] = x + (
                    f"F.cross_entropy(x, paddle.to_tensor([{label}]), label_smoothing=0.1)"
                )
        for name, values in _PROBABILITIES.items():
            x = f"x = paddle.to_tensor({values}, '{dtype}', stop_gradient=False)\n"
            calls[f"cross_entropy/probability {name} {dtype}"] = x + (
                "v = F.cross_entropy(x, paddle.to_tensor([0]), use_softmax=False)\nv.backward()\n[v, x.grad]"
            )
            calls[f"cross_entropy/probability soft {name} {dtype}"] = x + (
                "F.cross_entropy(x, paddle.full_like(x, 0.5), use_softmax=False, soft_label=True)"
            )
    for value, label in ((1.0, 0.0), (0.0, 1.0), (0.9999, 0.0), (0.5, 0.5), (0.0, 0.0)):
        x = f"x = paddle.to_tensor([[{value}]], stop_gradient=False)\n"
        for epsilon in ("1e-4", "1e-7"):
            calls[f"log_loss/{value}, {label} {epsilon}"] = x + (
                f"v = F.log_loss(x, paddle.to_tensor([[{label}]]), {epsilon})\nv.backward()\n[v, x.grad]"
            )
    return calls


_STEP = (
    "w = paddle.create_parameter([2], 'float32', default_initializer=nn.initializer.Constant(1.0))\n"
    "(w * 3).sum().backward()\n"
    "o = paddle.optimizer.SGD(0.5, parameters=[w], grad_clip={})\no.step()"
)
_SAVE = "import io\n"


def _refused() -> dict[str, str]:
    calls = {}
    refused = {
        "expand/0": "paddle.expand(paddle.ones([2, 1]), [2, 0])",
        "expand/-2": "paddle.expand(paddle.ones([2, 1]), [-2, 3])",
        "broadcast_to/0": "paddle.broadcast_to(paddle.ones([2, 1]), [2, 0])",
        "tile/0": "paddle.tile(paddle.ones([2]), [0])",
        "tile/0, 2": "paddle.tile(paddle.ones([2]), [0, 2])",
        "tile/-1": "paddle.tile(paddle.ones([2]), [-1])",
        "tile/Tensor": "paddle.tile(paddle.ones([2]), paddle.to_tensor([0]))",
        "repeat_interleave/0": "paddle.repeat_interleave(paddle.ones([2]), 0)",
        "repeat_interleave/-1": "paddle.repeat_interleave(paddle.ones([2]), -1)",
        "crop/0": "paddle.crop(paddle.ones([4]), [0], [0])",
        "clip/min above max": "paddle.clip(paddle.ones([2]), 2, 1)",
        "clip/nan": "paddle.clip(paddle.ones([2]), float('nan'), 1.0)",
        "temporal_shift/ratio": "F.temporal_shift(paddle.ones([2, 4, 2, 2]), 2, 0.5)",
        "temporal_shift/zero": "F.temporal_shift(paddle.ones([2, 4, 2, 2]), 2, 0.0)",
        "clip_grad_value_/-1": (
            "[setattr(w := paddle.ones([2]), 'stop_gradient', False), (w * 3).sum().backward(), "
            "nn.utils.clip_grad_value_([w], -1.0)]"
        ),
    }
    refused.update({f"reshape/{s}": f"paddle.reshape(paddle.ones([12]), {s})" for s in _SIZES})
    refused.update({f"reshape_/{s}": f"paddle.reshape_(paddle.ones([12]), {s})" for s in _SIZES})
    refused.update({f"view/{s}": f"paddle.ones([12]).view({s})" for s in _SIZES})
    refused.update({f"unflatten/{s}": f"paddle.unflatten(paddle.ones([12]), 0, {s})" for s in _SIZES})
    refused.update({f"Unflatten/{s}": f"nn.Unflatten(0, {s})(paddle.ones([12]))" for s in _SIZES})
    refused.update(
        {f"reshape/Tensor {s}": f"paddle.reshape(paddle.ones([12]), paddle.to_tensor({s}))" for s in _SIZES}
    )
    for name, code in refused.items():
        calls[f"kind/{name}"] = f"refusal(lambda: {code}, ValueError)"
    calls.update(
        {
            f"{clip}/raises": _STEP.format(f"nn.{clip}") + "\nw"
            for clip in (
                "ClipGradByNorm(-1.0)", "ClipGradByNorm(0)", "ClipGradByNorm(float('nan'))",
                "ClipGradByValue(1.0, 2.0)", "ClipGradByValue(-1, None)", "ClipGradByValue(0.0)",
            )
        }
    )
    for value in ("0", "1", "5", "2.0", "'2'", "True", "None", "-1"):
        calls[f"save/raises protocol {value}"] = _SAVE + f"paddle.save({{}}, io.BytesIO(), protocol={value})"
    for value in ("'False'", "1", "0", "None"):
        calls[f"save/raises binary {value}"] = _SAVE + (
            f"paddle.save(paddle.ones([1]), io.BytesIO(), use_binary_format={value})"
        )
    calls["save/raises binary dict"] = _SAVE + "paddle.save({}, io.BytesIO(), use_binary_format=True)"
    calls["save/raises option"] = _SAVE + "paddle.save({}, io.BytesIO(), other=1)"
    calls["save/raises no name"] = "paddle.save({}, '')"
    calls["save/raises folder"] = "paddle.save({}, 'folder/')"
    for epsilon in (0.0011, -1e-8):
        calls[f"layer_norm/raises {epsilon}"] = f"F.layer_norm(paddle.ones([2, 4]), [4], epsilon={epsilon})"
    return calls


CALLS: dict[str, str] = {
    **_interpolated(),
    **_ranges(),
    **_assigned(),
    **_entropies(),
    **_refused(),
    "reshape/unknown": _R + "[x.reshape([-1]).shape, x.reshape([3, -1]).shape, x.reshape([0, 1]).shape]",
}
# Paddle smooths labels in float32.
TOLERANCES = {name: 1e-6 for name in CALLS if name.startswith("cross_entropy/smooth") and "float64" in name}
