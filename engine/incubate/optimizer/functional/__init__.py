"""Minimization of functions."""

from engine.incubate.optimizer.functional.quasi_newton import minimize_bfgs, minimize_lbfgs

__all__ = ["minimize_bfgs", "minimize_lbfgs"]
