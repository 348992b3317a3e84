"""What a runtime of ONNX can't run of the operator table: ``(operator or case, runtime)`` with the reason.

Runtimes are ``onnxruntime`` and ``reference``; ``unknown`` is a case that is not written with unknown shapes.
"""

from __future__ import annotations

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("unstack(2x0;axis=1,num=0)", "onnxruntime"): "it refuses a model without results",
}
