"""``paddle.amp``: mixed precision, with loss scaling and tools that look for lost numbers."""

from engine.amp import amp_lists, debugging, grad_scaler
from engine.amp.amp_lists import black_list, white_list
from engine.amp.casting import amp_guard, auto_cast, is_bfloat16_supported, is_float16_supported, on_cpu
from engine.amp.decoration import amp_decorate, decorate
from engine.amp.grad_scaler import AmpScaler, GradScaler, OptimizerState

__all__ = [
    "AmpScaler",
    "GradScaler",
    "OptimizerState",
    "amp_decorate",
    "amp_guard",
    "amp_lists",
    "auto_cast",
    "black_list",
    "debugging",
    "decorate",
    "grad_scaler",
    "is_bfloat16_supported",
    "is_float16_supported",
    "on_cpu",
    "white_list",
]
