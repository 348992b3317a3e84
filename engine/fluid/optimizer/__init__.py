"""``fluid.optimizer``: update rules that take their parameters from the guard or from the Program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import optimizer as modern
from engine.core import mode as modes
from engine.core.alias.absent import refusing
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.nn.forms import form
from engine.fluid.optimizer import update_rules as rules
from engine.fluid.optimizer.base import FluidOptimizer as Optimizer
from engine.fluid.optimizer.wrappers import LookaheadOptimizer as LookaheadOptimizer
from engine.fluid.optimizer.wrappers import RecomputeOptimizer as RecomputeOptimizer
from engine.fluid.renamed.refused import refused
from engine.incubate.optimizer import model_average as averaging
from engine.static import ExponentialMovingAverage as ExponentialMovingAverage

# fmt: off
OPTIMIZERS: tuple[tuple[str, type[modern.Optimizer], Callable[..., None], str], ...] = (
    ("SGDOptimizer", modern.SGD,
     lambda learning_rate, parameter_list=None, regularization=None, grad_clip=None, name=None: None,
     "``parameter -= learning_rate * gradient``."),
    ("MomentumOptimizer", modern.Momentum,
     lambda learning_rate, momentum, parameter_list=None, use_nesterov=False, regularization=None,
     grad_clip=None, name=None: None,
     "``velocity = momentum * velocity + gradient; parameter -= learning_rate * velocity``, or Nesterov's."),
    ("AdagradOptimizer", modern.Adagrad,
     lambda learning_rate, epsilon=1e-06, parameter_list=None, regularization=None, grad_clip=None, name=None,
     initial_accumulator_value=0.0: None,
     "Steps scaled by the sum of all past squared gradients."),
    ("AdamOptimizer", modern.Adam,
     lambda learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameter_list=None,
     regularization=None, grad_clip=None, name=None, lazy_mode=False: None,
     "Steps scaled by running means of the gradient and of its square."),
    ("AdamaxOptimizer", modern.Adamax,
     lambda learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameter_list=None,
     regularization=None, grad_clip=None, name=None: None,
     "Adam with the largest past gradient in place of the mean of squares."),
    ("AdadeltaOptimizer", modern.Adadelta,
     lambda learning_rate, epsilon=1e-06, rho=0.95, parameter_list=None, regularization=None, grad_clip=None,
     name=None: None,
     "Steps scaled by running means of squared steps and squared gradients."),
    ("RMSPropOptimizer", modern.RMSProp,
     lambda learning_rate, rho=0.95, epsilon=1e-06, momentum=0.0, centered=False, parameter_list=None,
     regularization=None, grad_clip=None, name=None: None,
     "Steps scaled by a running mean of squared gradients."),
    ("LambOptimizer", modern.Lamb,
     lambda learning_rate=0.001, lamb_weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-06,
     parameter_list=None, regularization=None, grad_clip=None, exclude_from_weight_decay_fn=None,
     name=None: None,
     "Adam's step scaled to the size of each parameter."),
    ("DecayedAdagradOptimizer", rules.DecayedAdagrad,
     lambda learning_rate, decay=0.95, epsilon=1e-06, parameter_list=None, regularization=None,
     grad_clip=None, name=None: None,
     "Adagrad whose sum of squares decays."),
    ("FtrlOptimizer", rules.Ftrl,
     lambda learning_rate, l1=0.0, l2=0.0, lr_power=-0.5, parameter_list=None, regularization=None,
     grad_clip=None, name=None: None,
     "Follow the regularized leader: many weights become 0 with ``l1``."),
    ("LarsMomentumOptimizer", rules.LarsMomentum,
     lambda learning_rate, momentum, lars_coeff=0.001, lars_weight_decay=0.0005, parameter_list=None,
     regularization=None, grad_clip=None, name=None, exclude_from_weight_decay=None, epsilon=0: None,
     "Momentum with a rate for each parameter, by its norm and its gradient's."),
)
# fmt: on
"""Optimizers that are an update rule with the arguments of fluid: their names, rules, arguments and texts.

Each also has its name without "Optimizer".
"""

for _name, _rule, _arguments, _text in OPTIMIZERS:
    _made = type(
        _name, (Optimizer, _rule), {"__doc__": _text, "__module__": __name__, "FORM": form(_arguments)}
    )
    globals().update({_name: _made, _name.removesuffix("Optimizer"): _made})


REFUSED = {
    "DGCMomentumOptimizer": "sends compressed gradients between GPUs; use MomentumOptimizer",
    "Dpsgd": "adds noise by Paddle's own generator; use SGDOptimizer",
    "DpsgdOptimizer": "adds noise by Paddle's own generator; use SGDOptimizer",
    "PipelineOptimizer": "cuts a Program into parts on several devices; use the optimizer that it wraps",
}
globals().update({name: refused(name, "fluid.optimizer", why) for name, why in REFUSED.items()})


class ModelAverage(averaging.ModelAverage):
    """Adds up the parameters after each step; ``apply`` puts their mean in their place for a while.

    In static mode create it after ``minimize``. ``regularization`` is not used.
    """

    def __init__(
        self, average_window_rate: float, min_average_window: int = 10000, max_average_window: int = 10000,
        regularization: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        tracer = None if modes.is_static() else tracers.current()
        parameters = None if tracer is None else tracer.all_parameters()
        super().__init__(average_window_rate, parameters, min_average_window, max_average_window, name)


__all__ = [
    "ExponentialMovingAverage",
    "LookaheadOptimizer",
    "ModelAverage",
    "Optimizer",
    "RecomputeOptimizer",
    *REFUSED,
    *(name for row in OPTIMIZERS for name in (row[0], row[0].removesuffix("Optimizer"))),
]
__getattr__ = refusing(__name__)
