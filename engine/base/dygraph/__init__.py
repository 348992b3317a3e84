"""Paddle's ``base.dygraph``: eager mode under its older names."""

from engine.base.dygraph.base import guard, to_variable
from engine.eager.grad_mode import no_grad
from engine.framework import disable_static as enable_dygraph
from engine.framework import enable_static as disable_dygraph
from engine.framework import in_dynamic_mode as enabled
from engine.program.backward.grad import grad

__all__ = ["disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable"]
