"""Layers with weights from a formula: results, gradients of their parameters, training and evaluation."""

_ONE = {
    "Linear": ("nn.Linear(3, 4)", "t([2, 3])"),
    "Linear/no bias": ("nn.Linear(3, 4, bias_attr=False)", "t([2, 3])"),
    "Linear/three dimensions": ("nn.Linear(3, 2)", "t([2, 2, 3])"),
    "Linear/vector": ("nn.Linear(3, 2)", "t([3])"),
    "Conv2D": ("nn.Conv2D(2, 3, 3)", "t([1, 2, 5, 5])"),
    "Conv2D/stride and padding": ("nn.Conv2D(2, 4, 3, stride=2, padding=1)", "t([2, 2, 5, 5])"),
    "Conv2D/groups": ("nn.Conv2D(4, 4, 3, groups=2, padding=1)", "t([1, 4, 4, 4])"),
    "Conv2D/depthwise": ("nn.Conv2D(3, 6, 3, groups=3)", "t([1, 3, 4, 4])"),
    "Conv2D/dilation": ("nn.Conv2D(1, 2, 3, dilation=2)", "t([1, 1, 6, 6])"),
    "Conv2D/same": ("nn.Conv2D(1, 2, 3, stride=2, padding='SAME')", "t([1, 1, 5, 5])"),
    "Conv2D/reflect": ("nn.Conv2D(1, 2, 3, padding=1, padding_mode='reflect')", "t([1, 1, 4, 4])"),
    "Conv2D/last": ("nn.Conv2D(2, 3, 3, data_format='NHWC')", "t([1, 4, 4, 2])"),
    "Conv1D": ("nn.Conv1D(2, 3, 3, padding=1)", "t([2, 2, 5])"),
    "Conv3D": ("nn.Conv3D(1, 2, 2)", "t([1, 1, 3, 3, 3])"),
    "Conv1DTranspose": ("nn.Conv1DTranspose(2, 3, 3, stride=2)", "t([1, 2, 4])"),
    "Conv2DTranspose": ("nn.Conv2DTranspose(2, 3, 3, stride=2, padding=1)", "t([1, 2, 3, 3])"),
    "Conv2DTranspose/output padding": (
        "nn.Conv2DTranspose(2, 3, 3, stride=2, output_padding=1)", "t([1, 2, 3, 3])",
    ),
    "BatchNorm1D": ("nn.BatchNorm1D(3)", "t([4, 3])"),
    "BatchNorm1D/sequence": ("nn.BatchNorm1D(3)", "t([2, 3, 4])"),
    "BatchNorm2D": ("nn.BatchNorm2D(2)", "t([2, 2, 3, 3])"),
    "BatchNorm2D/last": ("nn.BatchNorm2D(2, data_format='NHWC')", "t([2, 3, 3, 2])"),
    "BatchNorm2D/no scale": ("nn.BatchNorm2D(2, weight_attr=False, bias_attr=False)", "t([2, 2, 2, 2])"),
    "BatchNorm3D": ("nn.BatchNorm3D(2)", "t([2, 2, 2, 2, 2])"),
    "BatchNorm2D/global statistics": ("nn.BatchNorm2D(2, use_global_stats=True)", "t([2, 2, 2, 2])"),
    "LayerNorm": ("nn.LayerNorm(4)", "t([3, 4])"),
    "LayerNorm/two dimensions": ("nn.LayerNorm([2, 3], epsilon=1e-3)", "t([2, 2, 3])"),
    "GroupNorm": ("nn.GroupNorm(2, 4)", "t([2, 4, 3])"),
    "InstanceNorm2D": ("nn.InstanceNorm2D(2)", "t([2, 2, 3, 3])"),
    "LocalResponseNorm": ("nn.LocalResponseNorm(3)", "t([1, 4, 2, 2])"),
    "Embedding": ("nn.Embedding(5, 3)", "ints([2, 3], 5)"),
    "Embedding/padding": ("nn.Embedding(5, 3, padding_idx=2)", "ints([2, 3], 5)"),
    "PReLU": ("nn.PReLU(3)", "t([2, 3, 2])"),
    "Bilinear": ("nn.Bilinear(2, 3, 4)", "t([2, 2]), t([2, 3], seed=1)"),
    "Sequential": ("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.Softmax())", "t([2, 3])"),
    "SimpleRNN": ("nn.SimpleRNN(3, 4)", "t([2, 5, 3])"),
    "SimpleRNN/relu": ("nn.SimpleRNN(3, 4, activation='relu')", "t([2, 5, 3])"),
    "LSTM": ("nn.LSTM(3, 4)", "t([2, 5, 3])"),
    "LSTM/two layers": ("nn.LSTM(3, 4, 2)", "t([2, 5, 3])"),
    "LSTM/both directions": ("nn.LSTM(3, 4, direction='bidirect')", "t([2, 5, 3])"),
    "LSTM/time first": ("nn.LSTM(3, 4, time_major=True)", "t([5, 2, 3])"),
    "GRU": ("nn.GRU(3, 4)", "t([2, 5, 3])"),
    "GRU/both directions": ("nn.GRU(3, 4, 2, direction='bidirect')", "t([2, 4, 3])"),
    "LSTMCell": ("nn.LSTMCell(3, 4)", "t([2, 3])"),
    "GRUCell": ("nn.GRUCell(3, 4)", "t([2, 3])"),
    "SimpleRNNCell": ("nn.SimpleRNNCell(3, 4)", "t([2, 3])"),
    "MultiHeadAttention": ("nn.MultiHeadAttention(4, 2)", "t([2, 3, 4])"),
    "MultiHeadAttention/three": (
        "nn.MultiHeadAttention(4, 2, kdim=3, vdim=2)", "t([2, 3, 4]), t([2, 5, 3]), t([2, 5, 2])",
    ),
    "TransformerEncoderLayer": ("nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)", "t([2, 3, 4])"),
    "TransformerEncoderLayer/normalized first": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation='gelu', normalize_before=True)",
        "t([2, 3, 4])",
    ),
    "TransformerEncoder": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0), 2)", "t([1, 3, 4])",
    ),
    "TransformerDecoderLayer": (
        "nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0)", "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    ),
    "Transformer": (
        "nn.Transformer(4, 2, 1, 1, 6, dropout=0.0)", "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    )
}
_NO_PARAMETERS = {
    "MaxPool2D": ("nn.MaxPool2D(2)", "t([1, 2, 4, 4])"),
    "MaxPool2D/ceil": ("nn.MaxPool2D(2, ceil_mode=True)", "t([1, 1, 5, 5])"),
    "MaxPool2D/mask": ("nn.MaxPool2D(2, return_mask=True)", "t([1, 1, 4, 4])"),
    "AvgPool2D": ("nn.AvgPool2D(3, stride=2, padding=1)", "t([1, 1, 5, 5])"),
    "AvgPool2D/inclusive": ("nn.AvgPool2D(3, stride=2, padding=1, exclusive=False)", "t([1, 1, 5, 5])"),
    "MaxPool1D": ("nn.MaxPool1D(2)", "t([1, 2, 4])"),
    "AvgPool1D": ("nn.AvgPool1D(2, 1)", "t([1, 2, 4])"),
    "MaxPool3D": ("nn.MaxPool3D(2)", "t([1, 1, 4, 4, 4])"),
    "AvgPool3D": ("nn.AvgPool3D(2)", "t([1, 1, 4, 4, 4])"),
    "AdaptiveAvgPool2D": ("nn.AdaptiveAvgPool2D((2, 3))", "t([1, 1, 5, 5])"),
    "AdaptiveMaxPool2D": ("nn.AdaptiveMaxPool2D(2)", "t([1, 1, 5, 5])"),
    "AdaptiveAvgPool1D": ("nn.AdaptiveAvgPool1D(2)", "t([1, 2, 5])"),
    "Flatten": ("nn.Flatten()", "t([2, 3, 2])"),
    "Unflatten": ("nn.Unflatten(1, [2, 2])", "t([2, 4])"),
    "Identity": ("nn.Identity()", "t([2])"),
    "Pad2D": ("nn.Pad2D([1, 0, 2, 1], value=5.0)", "t([1, 1, 2, 2])"),
    "Pad2D/reflect": ("nn.Pad2D(1, mode='reflect')", "t([1, 1, 3, 3])"),
    "Pad1D": ("nn.Pad1D([1, 2], mode='replicate')", "t([1, 1, 3])"),
    "Pad3D": ("nn.Pad3D(1, mode='circular')", "t([1, 1, 2, 2, 2])"),
    "ZeroPad2D": ("nn.ZeroPad2D(1)", "t([1, 1, 2, 2])"),
    "Upsample/nearest": ("nn.Upsample(scale_factor=2)", "t([1, 1, 2, 3])"),
    "Upsample/bilinear": ("nn.Upsample(size=[4, 5], mode='bilinear')", "t([1, 1, 2, 3])"),
    "Upsample/aligned": ("nn.Upsample(size=[4, 5], mode='bilinear', align_corners=True)", "t([1, 1, 2, 3])"),
    "UpsamplingBilinear2D": ("nn.UpsamplingBilinear2D([4, 4])", "t([1, 1, 2, 2])"),
    "PixelShuffle": ("nn.PixelShuffle(2)", "t([1, 4, 2, 2])"),
    "PixelUnshuffle": ("nn.PixelUnshuffle(2)", "t([1, 1, 4, 4])"),
    "ChannelShuffle": ("nn.ChannelShuffle(2)", "t([1, 4, 2, 2])"),
    "Unfold": ("nn.Unfold(2)", "t([1, 2, 3, 3])"),
    "Fold": ("nn.Fold([3, 3], 2)", "t([1, 8, 4])"),
    "CosineSimilarity": ("nn.CosineSimilarity(axis=1)", "t([2, 3]), t([2, 3], seed=1)"),
    "PairwiseDistance": ("nn.PairwiseDistance()", "t([2, 3]), t([2, 3], seed=1)"),
    "Maxout": ("nn.Maxout(2)", "t([1, 4, 2, 2])"),
    "GLU": ("nn.GLU()", "t([2, 4])"),
    "Softmax2D": ("nn.Softmax2D()", "t([1, 3, 2, 2])"),
}
_STATISTICS = "l = formula(nn.BatchNorm2D(2, momentum=0.8))\nl(t([2, 2, 3, 3]))\nl(t([2, 2, 3, 3], seed=1))\n"


def _trained(make: str, given: str) -> str:
    return (
        f"l = formula({make})\nx = [{given}]\nx[0].stop_gradient = 'int' in str(x[0].dtype)\nout = l(*x)\n"
        "first = out[0] if isinstance(out, (list, tuple)) else out\n"
        "weighted(first).backward()\n"
        "(first.detach(), [None if p.grad is None else p.grad.numpy() for p in [x[0], *l.parameters()]])"
    )


# The gradient of a key's bias is 0: what is computed is rounding. Others are differences of large numbers.
_ATTENTION = [name for name, (make, _) in _ONE.items() if "Transformer" in make or "Attention" in make]


def _without_key_bias(code: str) -> str:
    named = "[p for n, p in l.named_parameters() if 'k_proj.bias' not in n]"
    return code.replace("l.parameters()", named)


CALLS: dict[str, str] = {
    **{name: _trained(*case) for name, case in _ONE.items() if name not in _ATTENTION},
    **{name: _without_key_bias(_trained(*_ONE[name])) for name in _ATTENTION},
    **{name: f"({make})({given})" for name, (make, given) in _NO_PARAMETERS.items()},
    **{
        f"state/{name}": f"l = formula({make})\nout, state = l({given})\nweighted(state)"
        for name, make, given in [
            ("LSTM", "nn.LSTM(3, 4, 2)", "t([2, 5, 3])"),
            ("GRU", "nn.GRU(3, 4)", "t([2, 5, 3])"),
            ("SimpleRNN", "nn.SimpleRNN(3, 4, direction='bidirect')", "t([2, 5, 3])"),
        ]
    },
    "start/GRU": "formula(nn.GRU(3, 4))(t([2, 5, 3]), t([1, 2, 4], seed=3))[0].detach()",
    "start/LSTM": "formula(nn.LSTM(3, 4))(t([2, 5, 3]), (t([1, 2, 4]), t([1, 2, 4], seed=1)))[0].detach()",
    "lengths/LSTM": (
        "out, (h, c) = formula(nn.LSTM(3, 4))(t([2, 5, 3]), sequence_length=paddle.to_tensor([3, 5]))\n"
        "(out.detach(), h.detach())"
    ),
    "lengths/GRU both directions": (
        "out, h = formula(nn.GRU(3, 2, direction='bidirect'))(t([2, 4, 3]), "
        "sequence_length=paddle.to_tensor([2, 4]))\n(out.detach(), h.detach())"
    ),
    "RNN/cell": "nn.RNN(formula(nn.GRUCell(3, 4)))(t([2, 3, 3]))[0].detach()",
    "RNN/reversed": "nn.RNN(formula(nn.LSTMCell(3, 4)), is_reverse=True)(t([2, 3, 3]))[0].detach()",
    "BiRNN": ("nn.BiRNN(formula(nn.GRUCell(3, 2)), formula(nn.GRUCell(3, 2)))(t([2, 3, 3]))[0].detach()"),
    "MultiHeadAttention/mask": (
        "formula(nn.MultiHeadAttention(4, 2))(t([1, 3, 4]), attn_mask=paddle.tril(paddle.ones([3, "
        "3])).astype('bool'))"
        ".detach()"
    ),
    "MultiHeadAttention/float mask": (
        "formula(nn.MultiHeadAttention(4, 2))(t([1, 3, 4]), attn_mask=t([1, 1, 3, 3], seed=2)).detach()"
    ),
    "MultiHeadAttention/weights": (
        "out, w = formula(nn.MultiHeadAttention(4, 2, need_weights=True))(t([1, 3, 4]))\nw.detach()"
    ),
    "MultiHeadAttention/cache": (
        "m = formula(nn.MultiHeadAttention(4, 2))\ncache = m.gen_cache(t([1, 2, 4]))\n"
        "out, cache = m(t([1, 1, 4]), t([1, 1, 4]), t([1, 1, 4]), None, cache)\n(out.detach(), cache.k.shape)"
    ),
    "Transformer/mask": "nn.Transformer(4, 2, 1, 1, 6).generate_square_subsequent_mask(3)",
    "BatchNorm2D/statistics": _STATISTICS + "(l._mean, l._variance)",
    "BatchNorm2D/evaluated": _STATISTICS + "l.eval()\nl(t([2, 2, 2, 2])).detach()",
    "BatchNorm1D/one sample": "formula(nn.BatchNorm1D(2))(t([1, 2])).detach()",
    "InstanceNorm1D": "formula(nn.InstanceNorm1D(2))(t([2, 2, 4])).detach()",
    "GroupNorm/last": "formula(nn.GroupNorm(2, 4, data_format='NHWC'))(t([1, 2, 2, 4])).detach()",
    "Dropout/evaluated twice": "l = nn.Dropout(0.5)\nl.eval()\nl(t([3, 2]))",
    "Dropout/downscale": "l = nn.Dropout(0.5, mode='downscale_in_infer')\nl.eval()\nl(t([3, 2]))",
    "Dropout/kept values": (
        "x = paddle.ones([200])\ny = nn.Dropout(0.25)(x)\nsorted(set(np.round(y.numpy(), 4).tolist()))"
    ),
    "Dropout/axis": "y = F.dropout(paddle.ones([20, 3]), 0.5, axis=0)\nbool((y == y[:, :1]).all())",
    "Dropout/everything": "F.dropout(t([3]), 1.0)",
    "Dropout/nothing": "F.dropout(t([3]), 0.0)",
    "Dropout2D/channels": (
        "y = nn.Dropout2D(0.5)(paddle.ones([4, 8, 2, 2]))\nbool((y == y[:, :, :1, :1]).all())"
    ),
    "SpectralNorm/shape": "nn.SpectralNorm([3, 4], power_iters=2)(t([3, 4])).shape",
    "float64/Linear": (
        "paddle.set_default_dtype('float64')\nl = nn.Linear(2, 2)\n"
        "l.weight.set_value(t([2, 2], 'float64'))\nl(t([3, 2], 'float64')).detach()"
    ),
}

TOLERANCES = dict.fromkeys(_ATTENTION, 1e-3)
