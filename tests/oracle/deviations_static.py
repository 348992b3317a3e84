"""Deliberate differences of static graphs; see deviations.py and docs/decisions."""

_NAMES = "the engine builds it of other operators than Paddle, so that its result is called otherwise"
_NO_GRADIENT = "whole numbers and truth values have no gradient; Paddle says they have"

STATIC: dict[str, str] = {
    "static_values:gradient/gather": "Paddle's gradient takes an axis given as a Variable for 0",
    **{
        f"static_shapes:{expression}": _NO_GRADIENT
        for expression in (
            "m > 0",
            "m == v",
            "paddle.isnan(m)",
            "paddle.numel(m)",
            "static.accuracy(F.softmax(m), k[:, :1])",
        )
    },
    **{
        f"static_shapes:{expression}": _NAMES
        for expression in (
            "paddle.var(m)",
            "paddle.einsum('bi,ij->bj', m, w)",
            "m[None]",
            "m[:, ::2]",
            "w[1:3, [0, 2]]",
            "m[b]",
            "F.nll_loss(F.log_softmax(m), k[:, 0])",
            "nn.GRU(4, 5)(x)[1]",
        )
    },
    "static_shapes:m // 2.": "the whole part has no gradient; Paddle says it has",
    "static_shapes:paddle.cumsum(m)": "the size of what is flattened is not known; Paddle says it is -4",
    "static_shapes:paddle.reshape(x, [0, -1])": "the size that remains is known, 12; Paddle says -1",
    "static_shapes:paddle.expand_as(v, m)": "what is expanded has no gradient; Paddle says it has",
    "static_shapes:static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * 2], "
    "[paddle.zeros([1], 'int64'), m])": (
        "a loop gives values of its own; Paddle writes into those that it begins with"
    ),
    "static_programs:program/text again": "to_string() is the text, too; Paddle's is that of its protobuf",
    "static_programs:variable/raises len": "ConversionError, as wherever a value is not known yet",
    "static_programs:run/tensors": "return_numpy=False gives Tensors; Paddle's are of a kind without methods",
    "static_programs:gradients/several": (
        "a target that another one depends on keeps its own share of the gradient, 1; Paddle loses it"
    ),
    **dict.fromkeys(
        ["static_layers:group_norm", "static_layers:group_norm/plain"],
        "Paddle's gradient without scale is wrong; the engine's is that of the value (checked numerically)",
    ),
    **dict.fromkeys(
        [
            "signal:static/paddle.signal.stft(x, 8) [20]",
            "signal:static/paddle.signal.istft(x, 8, center=False, length=12) [5, 9]",
        ],
        "one signal gives what it gives eagerly; Paddle's Programs leave a dimension of 1 in front",
    ),
    "static_layers:while_loop/not once": (
        "a loop that does not run once gives what it read no gradient, 0; Paddle gives no value at all"
    ),
    "static_layers:while_loop/a branch inside": (
        "Paddle loses gradients of a branch within a loop; the engine's are those of x * w * w + x * w + x"
    ),
}
