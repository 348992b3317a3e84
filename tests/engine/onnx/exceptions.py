"""What a runtime of ONNX can't run of the operator table: ``(operator or case, runtime)`` with the reason.

Runtimes are ``onnxruntime`` and ``reference``; ``unknown`` is a case that is not written with unknown shapes.
"""

from __future__ import annotations

_NOTHING = "ONNX Runtime fails, or stops the process, in a Scan over tensors without elements"

EXCEPTIONS: dict[tuple[str, str], str] = {
    **{
        (case, "unknown"): _NOTHING
        for case in (
            "cummax(0x3;axis=0)",
            "cummax(0x3;axis=1)",
            "cummin(0x3;axis=0)",
            "cummin(0x3;axis=1)",
            "cumprod(0x3;dim=0)",
            "cumprod(0x3;dim=1)",
            "logcumsumexp(0x3;axis=0)",
            "logcumsumexp(0x3;axis=1)",
        )
    },
    ("reduce_mean(0x3;axis=[0])", "unknown"): "the mean of nothing is NaN here, and 0 in ONNX Runtime",
    ("unstack(2x0;axis=1,num=0)", "onnxruntime"): "it refuses a model without results",
}
