"""``fluid.optimizer``: update rules that take their parameters from the guard or from the Program."""

from __future__ import annotations

from typing import Any

from engine import optimizer as modern
from engine.core import mode as modes
from engine.core.alias.absent import refusing
from engine.fluid import update_rules as rules
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.nn.forms import form
from engine.fluid.optimizing import FluidOptimizer as Optimizer
from engine.fluid.wrappers import LookaheadOptimizer, RecomputeOptimizer
from engine.incubate.optimizer import model_average as averaging
from engine.static import ExponentialMovingAverage

__all__ = [
    "SGD", "Adadelta", "AdadeltaOptimizer", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer",
    "Adamax", "AdamaxOptimizer", "DecayedAdagrad", "DecayedAdagradOptimizer", "ExponentialMovingAverage",
    "Ftrl", "FtrlOptimizer", "Lamb", "LambOptimizer", "LarsMomentum",
    "LarsMomentumOptimizer", "LookaheadOptimizer", "ModelAverage", "Momentum", "MomentumOptimizer",
    "Optimizer", "RMSProp", "RMSPropOptimizer", "RecomputeOptimizer", "SGDOptimizer",
]  # fmt: skip


class SGDOptimizer(Optimizer, modern.SGD):
    """``parameter -= learning_rate * gradient``."""

    FORM = form(
        lambda learning_rate, parameter_list=None, regularization=None, grad_clip=None, name=None: None
    )


class MomentumOptimizer(Optimizer, modern.Momentum):
    """``velocity = momentum * velocity + gradient; parameter -= learning_rate * velocity``, or Nesterov's."""

    FORM = form(
        lambda learning_rate, momentum, parameter_list=None, use_nesterov=False, regularization=None,
        grad_clip=None, name=None: None
    )  # fmt: skip


class AdagradOptimizer(Optimizer, modern.Adagrad):
    """Steps scaled by the sum of all past squared gradients."""

    FORM = form(
        lambda learning_rate, epsilon=1e-06, parameter_list=None, regularization=None, grad_clip=None,
        name=None, initial_accumulator_value=0.0: None
    )  # fmt: skip


class AdamOptimizer(Optimizer, modern.Adam):
    """Steps scaled by running means of the gradient and of its square."""

    FORM = form(
        lambda learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameter_list=None,
        regularization=None, grad_clip=None, name=None, lazy_mode=False: None
    )  # fmt: skip


class AdamaxOptimizer(Optimizer, modern.Adamax):
    """Adam with the largest past gradient in place of the mean of squares."""

    FORM = form(
        lambda learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameter_list=None,
        regularization=None, grad_clip=None, name=None: None
    )  # fmt: skip


class AdadeltaOptimizer(Optimizer, modern.Adadelta):
    """Steps scaled by running means of squared steps and squared gradients."""

    FORM = form(
        lambda learning_rate, epsilon=1e-06, rho=0.95, parameter_list=None, regularization=None,
        grad_clip=None, name=None: None
    )  # fmt: skip


class RMSPropOptimizer(Optimizer, modern.RMSProp):
    """Steps scaled by a running mean of squared gradients."""

    FORM = form(
        lambda learning_rate, rho=0.95, epsilon=1e-06, momentum=0.0, centered=False, parameter_list=None,
        regularization=None, grad_clip=None, name=None: None
    )  # fmt: skip


class LambOptimizer(Optimizer, modern.Lamb):
    """Adam's step scaled to the size of each parameter."""

    FORM = form(
        lambda learning_rate=0.001, lamb_weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-06,
        parameter_list=None, regularization=None, grad_clip=None, exclude_from_weight_decay_fn=None,
        name=None: None
    )  # fmt: skip


class DecayedAdagradOptimizer(Optimizer, rules.DecayedAdagrad):
    """Adagrad whose sum of squares decays."""

    FORM = form(
        lambda learning_rate, decay=0.95, epsilon=1e-06, parameter_list=None, regularization=None,
        grad_clip=None, name=None: None
    )  # fmt: skip


class FtrlOptimizer(Optimizer, rules.Ftrl):
    """Follow the regularized leader: many weights become 0 with ``l1``."""

    FORM = form(
        lambda learning_rate, l1=0.0, l2=0.0, lr_power=-0.5, parameter_list=None, regularization=None,
        grad_clip=None, name=None: None
    )  # fmt: skip


class LarsMomentumOptimizer(Optimizer, rules.LarsMomentum):
    """Momentum with a rate for each parameter, by its norm and its gradient's."""

    FORM = form(
        lambda learning_rate, momentum, lars_coeff=0.001, lars_weight_decay=0.0005, parameter_list=None,
        regularization=None, grad_clip=None, name=None, exclude_from_weight_decay=None, epsilon=0: None
    )  # fmt: skip


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


SGD = SGDOptimizer
Momentum = MomentumOptimizer
Adagrad = AdagradOptimizer
Adam = AdamOptimizer
Adamax = AdamaxOptimizer
Adadelta = AdadeltaOptimizer
RMSProp = RMSPropOptimizer
Lamb = LambOptimizer
DecayedAdagrad = DecayedAdagradOptimizer
Ftrl = FtrlOptimizer
LarsMomentum = LarsMomentumOptimizer

__getattr__ = refusing(__name__)
