"""``fluid.optimizer``: update rules that take their parameters from the guard or from the Program."""

from __future__ import annotations

from engine import optimizer as modern
from engine.core.alias.absent import refusing
from engine.fluid.dygraph.nn.forms import form
from engine.fluid.optimizing import FluidOptimizer as Optimizer

__all__ = [
    "SGD", "Adadelta", "AdadeltaOptimizer", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "Adamax",
    "AdamaxOptimizer", "LambOptimizer", "Momentum", "MomentumOptimizer", "Optimizer",
    "RMSPropOptimizer", "SGDOptimizer",
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


SGD = SGDOptimizer
Momentum = MomentumOptimizer
Adagrad = AdagradOptimizer
Adam = AdamOptimizer
Adamax = AdamaxOptimizer
Adadelta = AdadeltaOptimizer

__getattr__ = refusing(__name__)
