"""Calls: nested functions, closures, recursion, lambdas, methods, decorators, partial, generators."""

from __future__ import annotations

import functools

import numpy as np

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()
FACTOR = 3.0


def power(a, count):
    if count <= 0:
        return a * 0 + 1
    return a * power(a, count - 1)


def clipped(a, *, low=0.0, high=10.0):
    if a.max() > high:
        a = a - high
    return a + low


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@twice
def decorated(a):
    if a.sum() > 0:
        return a
    return a * 5


class Shape:
    scale = 2.0

    def __init__(self, offset):
        self.offset = offset

    def apply(self, a):
        if a.sum() > 0:
            return self._inner(a) * self.size
        return a

    def _inner(self, a):
        return a + self.offset

    def __call__(self, a):
        return self.apply(a) + 1

    @property
    def size(self):
        return self.scale

    @staticmethod
    def fixed(a):
        return a if a.sum() > 0 else -a

    @classmethod
    def made(cls, a):
        return cls(1.0).apply(a) * cls.scale


class Round(Shape):
    def apply(self, a):
        return super().apply(a) * 10


@case()
def recursion(a):
    return power(a, 3)


@case()
def keyword_only(a):
    return clipped(a, low=1.0) + clipped(a, high=2.0)


@case()
def a_decorated_function(a):
    return decorated(a)


@case()
def methods_and_super(a):
    return Round(0.5).apply(a) + Shape.fixed(a) + Shape.made(a) + Shape(1.0)(a)


@case()
def a_lambda(a):
    choose = lambda b: b * 2 if b.sum() > 3 else b  # noqa: E731
    return choose(a)


@case()
def a_closure_with_nonlocal(a):
    calls = 0

    def step(b):
        nonlocal calls
        calls += 1
        if b.sum() > 0:
            b = b + calls
        return b

    return step(step(a)) * calls


@case((x(), n(3)))
def nonlocal_in_a_loop(a, count):
    total = a

    def add(b):
        nonlocal total
        total = total + b

    for i in range(count):
        add(a * i)
    return total


@case()
def partial_of_a_function(a):
    return functools.partial(power, count=2)(a) + functools.partial(clipped, high=1.0)(a)


@case()
def star_arguments(a):
    def weighted(b, *others, scale=1.0, **more):
        total = b * scale + more.get("bias", 0.0)
        for other in others:
            total = total + other if other.sum() > 0 else total - other
        return total

    return weighted(a, a * 2, *[a * 3], scale=2.0, **{"bias": 1.0})


@case()
def globals_and_numpy(a):
    return a * FACTOR * float(np.sqrt(4.0)) + np.ones(3, "float32")


@case()
def map_and_sorted(a):
    doubled = list(map(lambda b: b * 2 if b.sum() > 0 else b, [a, a + 1]))  # noqa: C417
    order = sorted([3, 1, 2])
    return doubled[0] * order[0] + doubled[1] * order[1]


@case()
def isinstance_of_a_tensor(a):
    if isinstance(a, paddle.Tensor) and not isinstance(a, (list, tuple)):
        return a + 1
    return a


@case()
def lengths_and_shapes(a):
    rows, columns = a.shape
    return a.reshape([columns, rows]) * len(a) + a.ndim + a.shape[-1]


@case()
def casts(a):
    return a * int(a.max()) + float(a.mean())


@case(unknown=False)
def texts(a):
    name = f"{a.ndim}-D {'big' if a.shape[0] > 1 else 'small'} {3.14159:.2f}"
    return a * len(name)


@case()
def type_hints(a: paddle.Tensor) -> paddle.Tensor:
    y: paddle.Tensor = a + 1
    z: float
    z = 2.0
    return y * z


@case()
def not_converted(a):
    @paddle.jit.not_to_static
    def helper(b):
        return b * 2

    return helper(a) if a.sum() > 0 else a


@case()
def deleted_variable(a):
    y = a + 1
    z = y * 2
    del y
    return z


@case()
def docstring_and_pass(a):
    """Says nothing."""
    if a.sum() > 0:
        pass
    else:
        a = a * 2
    return a


@case((x(),), (-x(),))
def masks(a):
    return paddle.where(a > 2, a, a * 0) + a[a.abs() > 2].sum()


@case()
def a_static_function_called_inside(a):
    inner = paddle.jit.to_static(clipped)
    return inner(a) * 2
