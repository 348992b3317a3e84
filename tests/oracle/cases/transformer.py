"""Attention and transformers, with masks, caches and gradients."""

_MHA = "net = formula(nn.MultiHeadAttention(8, 2{}))\nnet.eval()\n"
_ENCODER = "net = formula(nn.TransformerEncoderLayer(8, 2, 6{}))\nnet.eval()\n"
_DECODER = "net = formula(nn.TransformerDecoderLayer(8, 2, 6{}))\nnet.eval()\n"
# Paddle's layer_norm gives a wrong gradient where only its input needs one, so they are taken by backward().
_BACK = (
    "x, y = {}, {}\nx.stop_gradient = y.stop_gradient = False\nweighted(net({})).backward()\n[x.grad, y.grad]"
)
# The gradient of a key's bias is 0: what is computed is rounding.
_WEIGHTS = "[p.grad for name, p in net.named_parameters() if 'k_proj.bias' not in name]"
_X, _Y = "t([2, 3, 8])", "t([2, 5, 8], seed=1)"

CALLS: dict[str, str] = {
    "MHA/self": _MHA.format("") + f"net({_X})",
    "MHA/key and value": _MHA.format("") + f"net({_X}, {_Y}, t([2, 5, 8], seed=2))",
    "MHA/kdim vdim": _MHA.format(", kdim=3, vdim=5") + f"net({_X}, t([2, 4, 3]), t([2, 4, 5]))",
    "MHA/weights": _MHA.format(", need_weights=True") + f"net({_X}, {_Y}, {_Y})",
    "MHA/float mask": _MHA.format("") + f"net({_X}, attn_mask=t([2, 2, 3, 3]))",
    "MHA/bool mask": _MHA.format(", need_weights=True") + f"net({_X}, attn_mask=bools([2, 1, 3, 3]))",
    "MHA/int mask": _MHA.format(", need_weights=True") + f"net({_X}, attn_mask=ints([3, 3], 2))",
    "MHA/all masked": _MHA.format(", need_weights=True") + f"net({_X}, attn_mask=bools([1, 3]) < False)",
    "MHA/no bias": _MHA.format(", bias_attr=False") + f"[net({_X}), list(net.state_dict())]",
    "MHA/gradient": _MHA.format("") + f"grad(lambda x, y: net(x, y, y), {_X}, {_Y})",
    "MHA/gradients of weights": _MHA.format("") + f"weighted(net({_X}, {_Y}, {_Y})).backward()\n" + _WEIGHTS,
    "MHA/empty cache": _MHA.format("") + f"cache = net.gen_cache({_X})\n[cache.k.shape, cache.v.dtype]",
    "MHA/cache": _MHA.format("") + f"cache = net.gen_cache({_X})\nout, cache = net({_X}, cache=cache)\n"
    f"again, cache = net({_X} * 0.5, cache=cache)\n[out, again, cache.k, cache.v]",
    "MHA/given cache": _MHA.format("") + "cache = net.gen_cache(t([2, 2, 3, 4]), t([2, 2, 3, 4], seed=1))\n"
    f"out, cache = net({_X}, cache=cache)\n[out, cache.k.shape, type(cache).__name__]",
    "MHA/static cache": _MHA.format("") + f"cache = net.gen_cache({_Y}, {_Y}, net.StaticCache)\n"
    f"out, cache = net({_X}, {_Y}, {_Y}, cache=cache)\n[out, cache.k, type(cache).__name__]",
    "MHA/text": "str(nn.MultiHeadAttention(8, 2))",
    "MHA/names": "net = nn.MultiHeadAttention(8, 2)\n[[p.name for p in net.parameters()], "
    "list(net.state_dict())]",
    "MHA/raises heads": "nn.MultiHeadAttention(8, 3)",
    "MHA/raises size": "nn.MultiHeadAttention(0, 2)",
    "MHA/raises features": "nn.MultiHeadAttention(8, 2)(t([2, 3, 7]))",
    "MHA/raises mask": "nn.MultiHeadAttention(8, 2)(t([2, 3, 8]), attn_mask=t([4, 4]))",
    "encoder layer/plain": _ENCODER.format("") + f"net({_X})",
    "encoder layer/before": _ENCODER.format(", normalize_before=True") + f"net({_X})",
    "encoder layer/gelu": _ENCODER.format(", activation='gelu'") + f"net({_X})",
    "encoder layer/mask": _ENCODER.format("") + f"net({_X}, bools([3, 3]))",
    "encoder layer/cache": _ENCODER.format("") + f"net({_X}, None, net.gen_cache({_X}))[0]",
    "encoder layer/no dropout": "net = formula(nn.TransformerEncoderLayer(8, 2, 6, dropout=0.0))\n"
    + _BACK.format(_X, _X, "x"),
    "encoder layer/gradients of weights": _ENCODER.format("")
    + f"weighted(net({_X})).backward()\n"
    + _WEIGHTS,
    "encoder layer/attributes": "net = nn.TransformerEncoderLayer(8, 2, 6, weight_attr=[None, None], "
    "bias_attr=[False, None])\n[list(net.state_dict()), net.self_attn.q_proj.bias is None]",
    "encoder layer/text": "str(nn.TransformerEncoderLayer(8, 2, 6, 0.2, act_dropout=0.3))",
    "encoder layer/raises activation": "nn.TransformerEncoderLayer(8, 2, 6, activation='nothing')",
    "encoder layer/raises attributes": "nn.TransformerEncoderLayer(8, 2, 6, weight_attr=[None])",
    "encoder/three": "net = formula(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6), "
    "3))\nnet.eval()\n"
    f"[net({_X}), list(net.state_dict())]",
    "encoder/norm and mask": "net = formula(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6), 2, "
    f"nn.LayerNorm(8)))\nnet.eval()\nnet({_X}, ints([2, 1, 3, 3], 2))",
    "encoder/cache": "net = formula(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6), "
    "2))\nnet.eval()\n"
    f"out, caches = net({_X}, cache=net.gen_cache({_X}))\n[out, len(caches), caches[1].k]",
    "decoder layer/plain": _DECODER.format("") + f"net({_X}, {_Y})",
    "decoder layer/before": _DECODER.format(", normalize_before=True") + f"net({_X}, {_Y})",
    "decoder layer/masks": _DECODER.format("") + f"net({_X}, {_Y}, bools([3, 3]), t([2, 1, 3, 5]))",
    "decoder layer/cache": _DECODER.format("") + f"out, (a, b) = net({_X}, {_Y}, cache=net.gen_cache({_Y}))\n"
    "[out, a.k, b.v]",
    "decoder layer/gradient": _DECODER.format("") + _BACK.format(_X, _Y, "x, y"),
    "decoder/two": "net = formula(nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 6), 2, "
    "nn.LayerNorm(8)))\n"
    f"net.eval()\nnet({_X}, {_Y})",
    "decoder/cache": "net = formula(nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 6), "
    "2))\nnet.eval()\n"
    f"out, caches = net({_X}, {_Y}, cache=net.gen_cache({_Y}))\n[out, caches[1][0].k]",
    "decoder/zipped cache": "net = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 6), 2)\n"
    f"a, b = net.gen_cache({_Y}, do_zip=True)\n[len(a), a[0].k.shape, b[1].v.shape]",
    "transformer/small": "net = formula(nn.Transformer(8, 2, 1, 2, 6))\nnet.eval()\n"
    f"net({_Y}, {_X}, tgt_mask=net.generate_square_subsequent_mask(3))",
    "transformer/masks": "net = formula(nn.Transformer(8, 2, 1, 1, 6, normalize_before=True))\nnet.eval()\n"
    f"net({_Y}, {_X}, bools([5, 5]), bools([3, 3]), ints([3, 5], 2))",
    "transformer/gradient": "net = formula(nn.Transformer(8, 2, 1, 1, 6, dropout=0.0))\n"
    + _BACK.format(_Y, _X, "x, y"),
    "transformer/keys": "net = nn.Transformer(8, 2, 1, 1, 6)\n[list(net.state_dict()), str(net), "
    "[p.name for p in net.parameters()]]",
    "transformer/attributes": "net = nn.Transformer(8, 2, 1, 1, 6, weight_attr=[None, None], "
    "bias_attr=[False])\n"
    "list(net.state_dict())",
    "transformer/subsequent mask": "nn.Transformer(8, 2, 1, 1, 6).generate_square_subsequent_mask(4)",
    "transformer/raises attributes": "nn.Transformer(8, 2, 1, 1, 6, weight_attr=[None] * 4)",
    "transformer/raises size": "nn.Transformer(-8, 2)",
    "sdpa/plain": "F.scaled_dot_product_attention(t([2, 3, 2, 4]), t([2, 5, 2, 4], seed=1), t([2, 5, 2, 4], "
    "seed=2))",
    "sdpa/gradient": "grad(F.scaled_dot_product_attention, t([2, 3, 2, 4]), t([2, 5, 2, 4], seed=1), "
    "t([2, 5, 2, 4], seed=2))",
}
