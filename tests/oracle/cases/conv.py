"""Convolutions and transposed ones of all ranks: paddings, formats, gradients, layers, refusals."""

_X = {1: [2, 4, 9], 2: [1, 4, 7, 6], 3: [1, 4, 4, 3, 5]}
_LAST = {1: "NLC", 2: "NHWC", 3: "NDHWC"}


def _calls(rank: int) -> dict[str, str]:
    name = f"conv{rank}d"
    x, w = f"t({_X[rank]})", f"t({[6, 4] + [3] * rank}, seed=1)"
    half = f"t({[6, 2] + [3] * rank}, seed=1)"
    pairs = [[0, 0], [0, 0]] + [[1, 2]] * rank
    each = [1, 0] * rank
    found = {
        "": f"F.{name}({x}, {w})",
        "bias": f"F.{name}({x}, {w}, t([6], seed=2))",
        "float64": f"F.{name}({x[:-1]}, 'float64'), {w[:-1]}, dtype='float64'))",
        "stride": f"F.{name}({x}, {w}, stride=2)",
        "strides": f"F.{name}({x}, {w}, stride={[2, 1, 3][:rank]})",
        "padding": f"F.{name}({x}, {w}, padding=1)",
        "padding list": f"F.{name}({x}, {w}, padding={[1, 0, 2][:rank]})",
        "padding both sides": f"F.{name}({x}, {w}, padding={each})",
        "padding pairs": f"F.{name}({x}, {w}, padding={pairs})",
        "same": f"F.{name}({x}, {w}, padding='SAME')",
        "same strided": f"F.{name}({x}, {w}, padding='same', stride=2)",
        "same dilated": f"F.{name}({x}, {w}, padding='SAME', dilation=2)",
        "valid": f"F.{name}({x}, {w}, padding='VALID', stride=2)",
        "dilation": f"F.{name}({x}, {w}, dilation=2, padding=2)",
        "groups": f"F.{name}({x}, {half}, groups=2, padding=1)",
        "depthwise": f"F.{name}({x}, t({[8, 1] + [3] * rank}, seed=1), groups=4, padding=1, stride=2)",
        "kernel of one": f"F.{name}({x}, t({[3, 4] + [1] * rank}, seed=1), stride=2)",
        "channels last": f"F.{name}(t({_X[rank][:1] + _X[rank][2:] + [4]}), {w}, t([6], seed=2), padding=1, "
        f"data_format='{_LAST[rank]}')",
        "gradients": f"grad(lambda x, w, b: F.{name}(x, w, b, stride=2, padding=1), {x}, {w}, "
        "t([6], seed=2))",
        "gradients of groups": f"grad(lambda x, w: F.{name}(x, w, groups=2, dilation=2), t("
        f"{[2, 4] + [6] * rank}), {half})",
        "gradients depthwise": f"grad(lambda x, w: F.{name}(x, w, groups=4, padding='SAME'), {x}, "
        f"t({[4, 1] + [3] * rank}, seed=1))",
        "raises for channels": f"F.{name}(t({[1, 3] + [5] * rank}), {w})",
        "raises for rank": f"F.{name}(t({[4] + [5] * rank}), {w})",
        "raises for groups": f"F.{name}({x}, {w}, groups=3)",
        "raises for groups of 0": f"F.{name}({x}, {w}, groups=0)",
        "raises for a padding": f"F.{name}({x}, {w}, padding='FULL')",
        "raises for a negative padding": f"F.{name}({x}, {w}, padding=-1)",
        "raises for a padded channel": f"F.{name}({x}, {w}, padding={[[0, 0], [1, 0]] + [[0, 0]] * rank})",
        "raises for a format": f"F.{name}({x}, {w}, data_format='NHCW')",
    }
    return {f"{name}/{k}".rstrip("/"): v for k, v in found.items()}


def _transposed(rank: int) -> dict[str, str]:
    name = f"conv{rank}d_transpose"
    shape = {1: [2, 4, 5], 2: [2, 4, 3, 4], 3: [1, 4, 2, 3, 2]}[rank]
    x, w = f"t({shape})", f"t({[4, 3] + [3] * rank}, seed=1)"
    small = f"t({[4, 2] + [2] * rank}, seed=1)"
    least = [(n - 1) * 2 + 3 for n in shape[2:]]
    found = {
        "": f"F.{name}({x}, {w})",
        "bias": f"F.{name}({x}, {w}, t([3], seed=2))",
        "stride": f"F.{name}({x}, {w}, stride=2)",
        "padding": f"F.{name}({x}, {w}, stride=2, padding=1)",
        "padding both sides": f"F.{name}({x}, {w}, stride=2, padding={[1, 0] * rank})",
        "same": f"F.{name}({x}, {w}, stride=2, padding='SAME')",
        "valid": f"F.{name}({x}, {w}, padding='VALID')",
        "dilation": f"F.{name}({x}, {w}, dilation=2)",
        "groups": f"F.{name}({x}, {small}, groups=2, stride=2)",
        "depthwise": f"F.{name}({x}, t({[4, 1] + [3] * rank}, seed=1), groups=4, stride=2, padding=1)",
        "output_padding": f"F.{name}({x}, {w}, stride=2, padding=1, output_padding=1)",
        "output_size": f"F.{name}({x}, {w}, stride=2, output_size={[n + 1 for n in least]})",
        "channels last": f"F.{name}(t({[shape[0], *shape[2:], 4]}), {w}, t([3], seed=2), stride=2, "
        f"data_format='{_LAST[rank]}')",
        "gradients": f"grad(lambda x, w, b: F.{name}(x, w, b, stride=2, padding=1, output_padding=1), {x}, "
        f"{w}, "
        "t([3], seed=2))",
        "gradients of groups": f"grad(lambda x, w: F.{name}(x, w, groups=2, stride=2), {x}, {small})",
        "raises for channels": f"F.{name}(t({[1, 3] + [4] * rank}), {w})",
        "raises for rank": f"F.{name}(t({[4] + [5] * rank}), {w})",
        "raises for an output_size": f"F.{name}({x}, {w}, stride=2, output_size={[n + 2 for n in least]})",
        "raises for both": f"F.{name}({x}, {w}, stride=2, output_size={least}, output_padding=1)",
        "raises for a format": f"F.{name}({x}, {w}, data_format='NHCW')",
    }
    return {f"{name}/{k}".rstrip("/"): v for k, v in found.items()}


def _layers(rank: int) -> dict[str, str]:
    first = {1: "NCL", 2: "NCHW", 3: "NCDHW"}[rank]
    x = f"t({_X[rank]})"
    found = {}
    for cls in (f"Conv{rank}D", f"Conv{rank}DTranspose"):
        found |= {
            cls: f"layer = formula(nn.{cls}(4, 6, 3))\nlayer({x})",
            f"{cls}/shapes": f"layer = nn.{cls}(4, 6, {[3, 2, 1][:rank]}, groups=2)\n"
            "[layer.weight.shape, layer.bias.shape, layer.weight.name, layer.full_name()]",
            f"{cls}/no bias": f"nn.{cls}(4, 6, 3, bias_attr=False).bias is None",
            f"{cls}/text": f"str(nn.{cls}(4, 6, 3))",
            f"{cls}/text of all": f"str(nn.{cls}(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, "
            f"data_format='{_LAST[rank]}'))",
            f"{cls}/text of lists": f"str(nn.{cls}(4, 6, {[3, 2, 1][:rank]}, padding={[1, 0, 2][:rank]}))",
            f"{cls}/gradients": f"layer = formula(nn.{cls}(4, 2, 2, stride=2))\nout = weighted(layer({x}))\n"
            "out.backward()\n[layer.weight.grad, layer.bias.grad]",
            f"{cls}/raises for channels": f"nn.{cls}(4, 6, 3)(t({[1, 5] + [5] * rank}))",
            f"{cls}/raises for weight_attr": f"nn.{cls}(4, 6, 3, weight_attr=False)",
            f"{cls}/raises for a format": f"nn.{cls}(4, 6, 3, data_format='{first[::-1]}')",
        }
    for mode in ("reflect", "replicate", "circular"):
        found[f"Conv{rank}D/{mode}"] = (
            f"layer = formula(nn.Conv{rank}D(4, 2, 3, padding=2, padding_mode='{mode}'))\nlayer({x})"
        )
        found[f"Conv{rank}D/{mode} text"] = f"str(nn.Conv{rank}D(4, 2, 3, padding=2, padding_mode='{mode}'))"
    found[f"Conv{rank}D/reflect, channels last"] = (
        f"layer = formula(nn.Conv{rank}D(4, 2, 3, padding=1, padding_mode='reflect', "
        f"data_format='{_LAST[rank]}'))\nlayer(t({_X[rank][:1] + _X[rank][2:] + [4]}))"
    )
    found[f"Conv{rank}D/raises for a mode"] = f"nn.Conv{rank}D(4, 2, 3, padding=1, padding_mode='mirror')"
    found[f"Conv{rank}D/raises for padding of a mode"] = (
        f"nn.Conv{rank}D(4, 2, 3, padding='SAME', padding_mode='reflect')"
    )
    found[f"Conv{rank}D/raises for groups"] = f"nn.Conv{rank}D(4, 6, 3, groups=3)"
    found[f"Conv{rank}DTranspose/output_size"] = (
        f"layer = formula(nn.Conv{rank}DTranspose(4, 2, 3, stride=2))\n"
        f"layer({x}, output_size={[(n - 1) * 2 + 4 for n in _X[rank][2:]]})"
    )
    found[f"Conv{rank}DTranspose/output_padding text"] = (
        f"str(nn.Conv{rank}DTranspose(4, 2, 3, stride=2, output_padding=1))"
    )
    return found


CALLS: dict[str, str] = {}
for _rank in (1, 2, 3):
    CALLS |= _calls(_rank) | _transposed(_rank) | _layers(_rank)
CALLS |= {
    "conv2d/second order": (
        "x, w = t([1, 2, 4, 4]), t([2, 2, 3, 3], seed=1)\nx.stop_gradient = w.stop_gradient = False\n"
        "g = paddle.grad((F.conv2d(x, w, padding=1) ** 2).sum(), x, create_graph=True)[0]\n"
        "paddle.grad((g * t([1, 2, 4, 4], seed=3)).sum(), [x, w])"
    ),
    "conv2d/large": "F.conv2d(t([2, 16, 8, 8]), t([32, 16, 3, 3], seed=1), padding=1).sum([0, 2, 3])",
    "conv2d/raises for dtypes": "F.conv2d(t([1, 2, 4, 4]), t([2, 2, 2, 2], dtype='float64'))",
    "conv2d/raises for integers": "F.conv2d(ints([1, 2, 4, 4], 5), ints([2, 2, 2, 2], 5))",
}
