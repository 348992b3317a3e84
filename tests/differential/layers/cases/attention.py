"""Attention and transformers: masks, other sizes of keys, caches, dropout, normalization before."""

CASES = {
    "MultiHeadAttention": ("nn.MultiHeadAttention(4, 2)", "t([2, 3, 4])"),
    "MultiHeadAttention/three": (
        "nn.MultiHeadAttention(4, 2, kdim=3, vdim=2)",
        "t([2, 3, 4]), t([2, 5, 3], seed=1), t([2, 5, 2], seed=2)",
    ),
    "MultiHeadAttention/mask": (
        "nn.MultiHeadAttention(4, 2)",
        "t([2, 3, 4]), None, None, (bools([2, 2, 3, 3]).astype('float32') - 1) * 1e4",
    ),
    "MultiHeadAttention/bool mask": (
        "nn.MultiHeadAttention(4, 2)",
        "t([2, 3, 4]), attn_mask=paddle.tril(paddle.ones([3, 3], 'bool'))",
    ),
    "MultiHeadAttention/int mask": (
        "nn.MultiHeadAttention(4, 2)",
        "t([2, 3, 4]), attn_mask=paddle.tril(paddle.ones([3, 3], 'int64'))",
    ),
    "MultiHeadAttention/weights": ("nn.MultiHeadAttention(4, 2, need_weights=True)", "t([2, 3, 4])"),
    "MultiHeadAttention/no bias": ("nn.MultiHeadAttention(4, 2, bias_attr=False)", "t([2, 3, 4])"),
    "MultiHeadAttention/dropout": ("nn.MultiHeadAttention(4, 2, dropout=0.3)", "t([2, 3, 4])"),
    "MultiHeadAttention/dropout eval": (
        "evaluated(nn.MultiHeadAttention(4, 2, dropout=0.3))",
        "t([2, 3, 4])",
    ),
    "MultiHeadAttention/wrong heads": ("nn.MultiHeadAttention(4, 3)", "t([2, 3, 4])"),
    "TransformerEncoderLayer": ("nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)", "t([2, 3, 4])"),
    "TransformerEncoderLayer/before": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation='gelu', normalize_before=True)",
        "t([2, 3, 4])",
    ),
    "TransformerEncoderLayer/dropouts": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.2, attn_dropout=0.1, act_dropout=0.3)",
        "t([2, 3, 4])",
    ),
    "TransformerEncoderLayer/attributes": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, weight_attr=[init.Constant(0.1), "
        "init.Constant(0.2)], "
        "bias_attr=[False, None])",
        "t([2, 3, 4])",
    ),
    "TransformerEncoderLayer/mask": (
        "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)",
        "t([2, 3, 4]), bools([2, 1, 3, 3])",
    ),
    "TransformerEncoderLayer/wrong": ("nn.TransformerEncoderLayer(4, 2, 0)", "t([2, 3, 4])"),
    "TransformerEncoder": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0), 2)",
        "t([2, 3, 4])",
    ),
    "TransformerEncoder/norm": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0), 2, norm=nn.LayerNorm(4))",
        "t([2, 3, 4]), t([2, 2, 3, 3], seed=4)",
    ),
    "TransformerEncoder/eval": (
        "evaluated(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.4), 1))",
        "t([2, 3, 4])",
    ),
    "TransformerDecoderLayer": (
        "nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0)",
        "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    ),
    "TransformerDecoderLayer/masks": (
        "nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, normalize_before=True)",
        "t([1, 3, 4]), t([1, 2, 4], seed=1), t([1, 2, 3, 3], seed=2), t([1, 2, 3, 2], seed=3)",
    ),
    "TransformerDecoder": (
        "nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0), 2, nn.LayerNorm(4))",
        "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    ),
    "Transformer": ("nn.Transformer(4, 2, 1, 1, 6, dropout=0.0)", "t([1, 3, 4]), t([1, 2, 4], seed=1)"),
    "Transformer/before": (
        "nn.Transformer(4, 2, 1, 2, 6, dropout=0.0, normalize_before=True, activation='gelu')",
        "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    ),
    "Transformer/masks": (
        "nn.Transformer(4, 2, 1, 1, 6, dropout=0.0)",
        "t([1, 3, 4]), t([1, 2, 4], seed=1), t([1, 2, 3, 3], seed=2), t([1, 2, 2, 2], "
        "seed=3), t([1, 2, 2, 3], seed=4)",
    ),
    "Transformer/own": (
        "nn.Transformer(4, 2, "
        "custom_encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 1), "
        "custom_decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, 0.0), 1))",
        "t([1, 3, 4]), t([1, 2, 4], seed=1)",
    ),
    "Halved": ("Halved()", "t([2, 3, 4])"),
    "FusedLinear": ("paddle.incubate.nn.FusedLinear(3, 4)", "t([2, 3])"),
    "FusedDropoutAdd": ("paddle.incubate.nn.FusedDropoutAdd(p=0.0)", "t([2, 3]), t([2, 3], seed=1)"),
}
