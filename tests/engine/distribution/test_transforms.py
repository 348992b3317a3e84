"""Changes of volume against the determinant of the numerical derivative; inverses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distribution as D
from engine.distribution import constraint, variable

T = paddle.to_tensor


def _affine() -> Any:
    return D.AffineTransform(T([1.0, 2.0, 3.0], dtype="float64"), T([2.0, -3.0, 0.5], dtype="float64"))


OF_VECTORS = {
    "StickBreaking": D.StickBreakingTransform(),
    "Reshape": D.ReshapeTransform((3,), (3, 1)),
    "Exp": D.IndependentTransform(D.ExpTransform(), 1),
    "Affine": D.IndependentTransform(_affine(), 1),
    "Power": D.IndependentTransform(D.PowerTransform(T([2.0, 3.0, 0.5], dtype="float64")), 1),
    "Tanh": D.IndependentTransform(D.TanhTransform(), 1),
    "Sigmoid": D.IndependentTransform(D.SigmoidTransform(), 1),
    "Chain": D.ChainTransform([_affine(), D.TanhTransform(), D.StickBreakingTransform()]),
    "Stack": D.IndependentTransform(
        D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 0), 1
    ),
}


@pytest.mark.parametrize("name", sorted(OF_VECTORS))
def test_volume_and_inverse(name: str) -> None:
    transform = OF_VECTORS[name]
    x = np.array([0.3, 0.9, 0.4])

    def forward(x: Any) -> Any:
        # Of shares that sum to 1 all but the last are free.
        return transform.forward(T(x)).numpy().reshape(-1)[:3]

    columns = [(forward(x + d) - forward(x - d)) / 2e-6 for d in np.eye(3) * 1e-6]
    wanted = np.log(abs(np.linalg.det(np.stack(columns, axis=1))))
    y = transform.forward(T(x))
    assert float(transform.forward_log_det_jacobian(T(x))) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert float(transform.inverse_log_det_jacobian(y)) == pytest.approx(-wanted, rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x, rtol=1e-9)
    assert list(transform.forward_shape((3,))) == y.shape
    assert list(transform.inverse_shape(tuple(y.shape))) == [3]


def test_a_transform_of_ones_own() -> None:
    class Cube(D.Transform):
        _type = D.transform.Type.BIJECTION

        def _forward(self, x: Any) -> Any:
            return x**3

        def _inverse(self, y: Any) -> Any:
            return paddle.sign(y) * paddle.abs(y) ** (1 / 3)

        def _inverse_log_det_jacobian(self, y: Any) -> Any:
            return -paddle.log(3.0 * paddle.abs(y) ** (2 / 3))

    cube, x = Cube(), T([0.5, -2.0])
    np.testing.assert_allclose(cube.forward_log_det_jacobian(x).numpy(), np.log([0.75, 12.0]), rtol=1e-5)
    made = cube(D.Normal(T(0.0), T(1.0)))
    assert isinstance(made, D.TransformedDistribution)
    points = np.linspace(-5.0, 5.0, 20000) ** 3  # close to 0, where the density is infinite
    density = made.prob(T(points.astype("float32"))).numpy()
    assert np.trapezoid(density, points) == pytest.approx(1.0, abs=0.02)


def test_stick_breaking_makes_batch_dimensions_part_of_the_event() -> None:
    normal = D.Normal(T([0.0, 1.0, 2.0]), T([1.0, 2.0, 3.0]))
    value = T([0.1, 0.2, 0.3, 0.4])
    made = D.TransformedDistribution(normal, [D.StickBreakingTransform()])
    same = D.TransformedDistribution(D.Independent(normal, 1), [D.StickBreakingTransform()])
    assert made.batch_shape == ()
    assert made.event_shape == (4,)
    assert float(made.log_prob(value)) == float(same.log_prob(value))
    drawn = made.rsample([5]).numpy()
    np.testing.assert_allclose(drawn.sum(axis=-1), np.ones(5), rtol=1e-5)


def test_constraints_of_several_events() -> None:
    shares = T([[0.5, 0.5], [0.5, 0.6], [1.5, -0.5]])
    assert constraint.simplex(shares).tolist() == [True, False, False]
    assert constraint.Range(0, 1)(T([0.0, 0.5, 1.0, 1.1])).tolist() == [True, True, True, False]
    assert variable.Independent(variable.positive, 1).constraint(T([[1.0, -2.0], [1.0, 2.0]])).tolist() == [
        False,
        True,
    ]
    stacked = variable.Stack([variable.real, variable.positive])
    assert stacked.constraint(T([[1.0, -2.0], [-1.0, 2.0]])).tolist() == [[True, True], [False, True]]
    with pytest.raises(ValueError, match="needs 3 dimensions"):
        variable.Independent(variable.positive, 3).constraint(T([1.0]))
    with pytest.raises(NotImplementedError):
        constraint.Constraint()(T([1.0]))
    with pytest.raises(NotImplementedError):
        variable.Variable().constraint(T([1.0]))
