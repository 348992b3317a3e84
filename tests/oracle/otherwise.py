"""Public names whose parameters are not Paddle's, each with the reason."""

from __future__ import annotations

_MADE = "the engine makes it: scripts get it from Blocks and files, and do not call it"

OTHERWISE: dict[str, str] = {
    "paddle.Tensor": "to_tensor makes tensors; Paddle's own constructor is bound from C++, without defaults",
    "paddle.static.Variable": _MADE,
    "paddle.jit.TranslatedLayer": _MADE,
    "paddle.Tensor.coalesce": "a dense tensor refuses it whatever is passed; sparse ones take the name",
    "paddle.check_shape": "None stands for Paddle's defaults, which are lists of types",
}
