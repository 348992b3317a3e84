"""Probability distributions and their divergence."""

_D = "D, T = paddle.distribution, paddle.to_tensor\n"

# What each distribution is made with, in several ways: name -> constructor.
_TWO = {
    "Normal": "D.Normal", "Uniform": "D.Uniform", "Cauchy": "D.Cauchy", "Laplace": "D.Laplace",
    "LogNormal": "D.LogNormal", "Gumbel": "D.Gumbel", "Beta": "D.Beta"
}
_ARGUMENTS = {
    "numbers": "(0.5, 1.5)", "whole numbers": "(1, 2)", "tensors": "(T([0.5, 0.6]), T([1.5, 1.6]))",
    "float64": "(T([0.5, 0.6], dtype='float64'), T([1.5, 1.6], dtype='float64'))",
    "0-d": "(T(0.5), T(1.5))"
}
_BROADCAST = "(T([[0.5], [0.6]]), T([1.5, 1.6]))"
_LISTS = {
    "lists": "([0.5, 0.6], [1.5, 1.6])", "whole lists": "([1, 2], [2, 3])", "tuples": "((0.5,), (1.5,))",
    "float32 arrays": "(np.array([0.5, 0.6], 'float32'), np.array([1.5, 1.6], 'float32'))",
    "float64 arrays": "(np.array([0.5, 0.6]), np.array([1.5, 1.6]))",
    "integer arrays": "(np.array([1, 2]), np.array([2, 3]))", "a list and a number": "([0.5, 0.6], 1.5)",
    "a number and rows": "(0.5, [[1.5], [1.6]])", "an array and a number": "(np.array([0.5, 0.6]), 2.0)"
}
_FLOAT64 = ("float64 arrays", "an array and a number")
_TAKES_LISTS = ("Normal", "Uniform", "LogNormal")
_PARAMETERS = {"Uniform": ("low", "high"), "Beta": ("alpha", "beta")}
_OTHER = "(T([0.2, 0.3]), T([1.0, 2.0]))"
_MOMENTS = {
    "Normal": ("mean", "variance"), "Laplace": ("mean", "variance", "stddev"),
    "LogNormal": ("mean", "variance"), "Gumbel": ("mean", "variance", "stddev"), "Beta": ("mean", "variance")
}
_DENSITIES = {
    "Normal": ("prob", "probs", "log_prob"), "Uniform": ("prob", "probs", "log_prob"),
    "Cauchy": ("prob", "log_prob", "cdf"), "Laplace": ("prob", "log_prob", "cdf", "icdf"),
    "LogNormal": ("prob", "probs", "log_prob"), "Gumbel": ("prob", "log_prob", "cdf"),
    "Beta": ("prob", "log_prob")
}
_VALUES = {
    "same": "T([0.3, 0.9])", "0-d": "T(0.7)", "broadcast": "T([[0.2], [0.4], [0.8]])",
    "float64": "T([0.3, 0.9], dtype='float64')"
}


def _two_parameters() -> dict[str, str]:
    calls = {}
    for name, made in _TWO.items():
        first, second = _PARAMETERS.get(name, ("loc", "scale"))
        ways = {**_ARGUMENTS, **(_LISTS if name in _TAKES_LISTS else {})}
        moments = ", ".join(f"d.{moment}" for moment in _MOMENTS.get(name, ()))
        for how, arguments in ways.items():
            calls[f"{name}/{how}"] = (
                f"{_D}d = {made}{arguments}\n"
                f"(d.batch_shape, d.event_shape, d.{first}, d.{second}, d.entropy(), {moments})"
            )
        calls[f"{name}/broadcast"] = f"{_D}d = {made}{_BROADCAST}\n(d.entropy(), d.log_prob(T([0.55, 0.7])))"
        for density in _DENSITIES[name]:
            for how, value in _VALUES.items():
                calls[f"{name}/{density} {how}"] = f"{_D}{made}{_ARGUMENTS['tensors']}.{density}({value})"
        calls[f"{name}/gradient"] = (
            f"{_D}grad(lambda a, b, v: {made}(a, b).log_prob(v), T([0.1, 0.2]), T([1.1, 1.2]), T([0.3, 0.8]))"
        )
        if name in ("Normal", "LogNormal", "Uniform"):  # Paddle crashes for the others
            calls[f"{name}/gradient of entropy"] = (
                f"{_D}grad(lambda b: {made}(T([0.1, 0.2]), b).entropy(), T([1.1, 1.2]))"
            )
        calls[f"{name}/shapes of samples"] = (
            f"{_D}d = {made}{_ARGUMENTS['tensors']}\ns = d.sample([2, 3])\n"
            "(s.shape, str(s.dtype), d.sample([]).shape)"
        )
        if name != "Beta":  # Paddle crashes
            calls[f"{name}/raises for text"] = f"{_D}{made}('a', 'b')"
            calls[f"{name}/raises for None"] = f"{_D}{made}(None, 1.0)"
        calls[f"{name}/raises for a sample shape that is none"] = f"{_D}{made}(0.5, 1.5).sample(3)"
    for name in _TAKES_LISTS:
        calls[f"{name}/raises for a tensor and a number"] = f"{_D}{_TWO[name]}(T([0.5]), 1.5)"
        calls[f"{name}/raises for a scalar of NumPy"] = f"{_D}{_TWO[name]}(np.float32(0.5), np.float32(1.5))"
    for name in ("Cauchy", "Laplace", "Gumbel"):
        calls[f"{name}/raises for lists"] = f"{_D}{_TWO[name]}([0.5], [1.5])"
        calls[f"{name}/raises for shapes"] = f"{_D}{_TWO[name]}(T([0.5, 0.6]), T([1.0, 2.0, 3.0]))"
        calls[f"{name}/a tensor and a number"] = (
            f"{_D}d = {_TWO[name]}(T([0.5, 0.6]), 1.5)\n(d.batch_shape, d.loc, d.scale)"
        )
        calls[f"{name}/broadcast parameters"] = (
            f"{_D}d = {_TWO[name]}{_BROADCAST}\n(d.batch_shape, d.loc, d.scale)"
        )
    for name in ("Normal", "Cauchy", "Laplace", "LogNormal", "Beta"):
        calls[f"{name}/divergence"] = (
            f"{_D}p, q = {_TWO[name]}{_ARGUMENTS['tensors']}, {_TWO[name]}{_OTHER}\nD.kl_divergence(p, q)"
        )
        calls[f"{name}/divergence from one"] = (
            f"{_D}D.kl_divergence({_TWO[name]}(0.5, 0.6), {_TWO[name]}{_OTHER})"
        )
        if name != "Beta":
            calls[f"{name}/divergence by method"] = (
                f"{_D}{_TWO[name]}{_ARGUMENTS['tensors']}.kl_divergence({_TWO[name]}{_OTHER})"
            )
    return calls


_MAKE = {
    "Bernoulli": "D.Bernoulli(T([0.3, 0.6]))", "Geometric": "D.Geometric(T([0.3, 0.6]))",
    "Dirichlet": "D.Dirichlet(T([0.5, 1.5]))", "Dirichlets": "D.Dirichlet(T([[0.5, 1.5], [1.0, 2.0]]))",
    "Multinomial": "D.Multinomial(10, T([0.3, 0.7]))",
    "Multinomials": "D.Multinomial(10, T([[0.3, 0.7], [2.0, 2.0]]))",
    "Categorical": "D.Categorical(T([0.3, 0.9, 0.4]))",
    "Categoricals": "D.Categorical(T([[0.3, 0.9, 0.4], [1.0, 2.0, 3.0]]))"
}


def _evaluated() -> dict[str, str]:
    rows = {
        "Bernoulli": "(d.probs, d.logits, d.mean, d.variance, d.entropy(), d.batch_shape, d.event_shape)",
        "Bernoulli/prob": "[d.prob(T([1.0, 0.0])), d.log_prob(T([0.0, 1.0])), d.log_prob(T([[1.0], [0.0]]))]",
        "Bernoulli/cdf": "[d.cdf(T([-1.0, 0.5])), d.cdf(T([[0.0], [1.0], [2.0]]))]",
        "Bernoulli/samples": "s = d.sample([2, 3])\n(s.shape, str(s.dtype), d.rsample([4], 0.5).shape)",
        "Bernoulli/divergence": "D.kl_divergence(d, D.Bernoulli(T([0.5, 0.2])))",
        "Bernoulli/divergence by method": "d.kl_divergence(D.Bernoulli(T([0.5, 0.2])))",
        "Bernoulli/certain": (
            "d = D.Bernoulli(T([0.0, 1.0]))\n(d.logits, d.log_prob(T([1.0, 0.0])), d.mean)"
        ),
        "Bernoulli/float64": "d = D.Bernoulli(T([0.0, 0.3], dtype='float64'))\n(d.probs, d.logits)",
        "Bernoulli/number": "d = D.Bernoulli(0.3)\n(d.probs, d.entropy(), d.prob(T([1.0])), d.batch_shape)",
        "Bernoulli/list": "D.Bernoulli([0.3, 0.4]).probs",
        "Bernoulli/raises for 1": "D.Bernoulli(1)",
        "Bernoulli/raises beyond 1": "D.Bernoulli(1.5)",
        "Bernoulli/raises below 0": "D.Bernoulli(T([-0.5]))",
        "Bernoulli/raises for text": "D.Bernoulli('a')",
        "Bernoulli/raises without a shape": "d.sample()",
        "Geometric": "(d.probs, d.mean, d.variance, d.stddev, d.entropy(), d.batch_shape, d.event_shape)",
        "Geometric/number": "d = D.Geometric(0.3)\n(d.probs, d.mean, d.entropy(), d.cdf(2), d.pmf(2))",
        "Geometric/pmf": "[d.pmf(T([0.0, 3.0])), d.log_pmf(T([[1.0], [2.0]])), d.pmf(2), d.log_pmf(4)]",
        "Geometric/cdf": "[d.cdf(T([0.0, 3.0])), d.cdf(3)]",
        "Geometric/samples": "s = d.sample((2, 3))\n(s.shape, str(s.dtype), d.rsample([4]).shape)",
        "Geometric/gradient": "grad(lambda p: D.Geometric(p).log_pmf(T([1.0, 2.0])), T([0.3, 0.6]))",
        "Geometric/divergence": "D.kl_divergence(d, D.Geometric(T([0.5, 0.2])))",
        "Geometric/divergence by method": "d.kl_divergence(D.Geometric(T([0.5, 0.2])))",
        "Geometric/raises for another": "d.kl_divergence(D.Uniform(0.0, 1.0))",
        "Geometric/raises for 0": "D.Geometric(0)",
        "Geometric/raises beyond 1": "D.Geometric(T([1.5]))",
        "Geometric/raises for a list": "D.Geometric([0.3])",
        "Geometric/raises for a broken count": "d.pmf(0.5)",
        "Geometric/raises for prob": "d.prob(T([1.0]))",
        "Dirichlet": "(d.mean, d.variance, d.entropy(), d.batch_shape, d.event_shape)",
        "Dirichlet/prob": "[d.prob(T([0.3, 0.7])), d.log_prob(T([[0.3, 0.7], [0.6, 0.4]]))]",
        "Dirichlet/value of float64": "d.log_prob(T([0.3, 0.7], dtype='float64'))",
        "Dirichlet/samples": "s = d.sample([2, 3])\n(s.shape, str(s.dtype), d.sample().shape)",
        "Dirichlet/gradient": "grad(lambda c, x: D.Dirichlet(c).log_prob(x), T([0.5, 1.5]), T([0.3, 0.7]))",
        "Dirichlet/divergence": "D.kl_divergence(d, D.Dirichlet(T([2.0, 3.0])))",
        "Dirichlet/raises for 0-d": "D.Dirichlet(T(0.3))",
        "Dirichlet/raises for a list": "D.Dirichlet([0.3, 0.4])",
        "Dirichlets": "(d.mean, d.variance, d.entropy(), d.batch_shape, d.event_shape)",
        "Dirichlets/prob": "[d.prob(T([0.3, 0.7])), d.log_prob(T([[0.3, 0.7], [0.6, 0.4]]))]",
        "Dirichlets/divergence": "D.kl_divergence(d, D.Dirichlet(T([2.0, 3.0])))",
        "Multinomial": (
            "(d.mean, d.variance, d.entropy(), d.probs, d.total_count, d.batch_shape, "
            "d.event_shape)"
        ),
        "Multinomial/prob": (
            "[d.prob(T([3.0, 7.0])), d.log_prob(T([3, 7])), d.log_prob(T([[1.0, 9.0], [2.0, "
            "8.0]]))]"
        ),
        "Multinomial/impossible": (
            "D.Multinomial(3, T([0.5, 0.0, 0.5])).log_prob(T([[1.0, 0.0, 2.0], [1.0, 1.0, 1.0]]))"
        ),
        "Multinomial/samples": "s = d.sample((2, 3))\n(s.shape, str(s.dtype), s.sum(-1))",
        "Multinomial/whole weights": "D.Multinomial(10, T([1, 2])).probs",
        "Multinomial/once": "D.Multinomial(1, T([0.5, 0.5])).entropy()",
        "Multinomial/raises for no draws": "D.Multinomial(0, T([0.3, 0.7]))",
        "Multinomial/raises for half a draw": "D.Multinomial(1.5, T([0.3, 0.7]))",
        "Multinomial/raises for 0-d": "D.Multinomial(10, T(0.3))",
        "Multinomial/raises for a list": "D.Multinomial(10, [0.3, 0.7])",
        "Multinomial/raises for divergence": "D.kl_divergence(d, d)",
        "Multinomials": "(d.mean, d.variance, d.entropy(), d.probs, d.batch_shape, d.event_shape)",
        "Multinomials/prob": "[d.prob(T([3.0, 7.0])), d.log_prob(T([[1.0, 9.0], [2.0, 8.0]]))]",
        "Multinomials/samples": "s = d.sample([5])\n(s.shape, s.sum(-1))",
        "Categorical": "(d.logits, d.entropy())",
        "Categorical/probs": (
            "[d.probs(T([0, 2, 1])), d.prob(T([0, 1])), d.log_prob(T([[0, 1], [1, 2]])), "
            "d.probs(T(1))]"
        ),
        "Categorical/int32": "d.probs(T([0, 1], dtype='int32'))",
        "Categorical/samples": "s = d.sample([2, 3])\n(s.shape, str(s.dtype), d.sample([]).shape)",
        "Categorical/lists": "d = D.Categorical([[0.5, 0.2, 0.1], [0.1, 0.1, 0.2]])\n(d.logits, d.entropy())",
        "Categorical/arrays": "D.Categorical(np.array([0.5, 0.2, 0.1])).probs(T([1]))",
        "Categorical/divergence": "D.kl_divergence(d, D.Categorical(T([0.5, 0.2, 0.1])))",
        "Categorical/gradient": "grad(lambda x: D.Categorical(x).log_prob(T([0, 2])), T([0.3, 0.9, 0.4]))",
        "Categorical/gradient of entropy": "grad(lambda x: D.Categorical(x).entropy(), T([0.3, 0.9, 0.4]))",
        "Categorical/raises for a whole number": "D.Categorical(1)",
        "Categorical/raises for mean": "d.mean",
        "Categoricals": "(d.logits, d.entropy())",
        "Categoricals/probs": "[d.probs(T([0, 2, 1])), d.prob(T([[0, 1], [1, 2]])), d.log_prob(T([0, 1]))]",
        "Categoricals/samples": "d.sample([2, 3]).shape",
        "Categoricals/divergence": "d.kl_divergence(D.Categorical(T([[0.5, 0.2, 0.1]])))",
        "Categoricals/raises for 0-d": "d.probs(T(1))",
        "Categoricals/raises for three dimensions": "d.probs(T([[[0, 1, 2], [1, 2, 0]]]))"
    }
    return {name: f"{_D}d = {_MAKE[name.partition('/')[0]]}\n{code}" for name, code in rows.items()}


_N = "D.Normal(T([0.0, 1.0, 2.0]), T([1.0, 2.0, 3.0]))"
_B = "D.Beta(T([[0.5, 0.6], [1.0, 2.0]]), T([[1.5, 0.7], [2.0, 1.0]]))"


def _others() -> dict[str, str]:
    rows = {
        "Independent": (
            f"d = D.Independent({_B}, 1)\nx = T([[0.3, 0.9], [0.4, 0.2]])\n"
            "(d.log_prob(x), d.prob(x), d.entropy(), d.mean, d.variance, d.batch_shape, d.event_shape)"
        ),
        "Independent/two": (
            f"d = D.Independent({_B}, 2)\n(d.log_prob(T([[0.3, 0.9], [0.4, 0.2]])), d.event_shape)"
        ),
        "Independent/samples": f"d = D.Independent({_B}, 1)\n(d.sample([3]).shape, d.sample().shape)",
        "Independent/of another": f"D.Independent(D.Independent({_B}, 1), 1).event_shape",
        "Independent/raises for 0": f"D.Independent({_B}, 0)",
        "Independent/raises for many": f"D.Independent({_B}, 3)",
        "Independent/raises for a number": "D.Independent(1, 1)",
        "Distribution": "(D.Distribution().batch_shape, D.Distribution([2], [3]).event_shape)",
        "Distribution/raises for mean": "D.Distribution().mean",
        "Distribution/raises for variance": "D.Distribution().variance",
        "Distribution/raises for sample": "D.Distribution().sample()",
        "Distribution/raises for entropy": "D.Distribution().entropy()",
        "Distribution/raises for prob": "D.Distribution().prob(T([1.0]))",
        "Distribution/raises for probs": "D.Distribution().probs(T([1.0]))",
        "Distribution/raises for a number": "D.Distribution(2)",
        "kl_divergence/raises for numbers": "D.kl_divergence(1, 2)",
        "kl_divergence/raises for others": f"D.kl_divergence({_N}, {_B})",
        "kl_divergence/subclass": "D.kl_divergence(type('M', (D.Normal,), {})(0.0, 1.0), D.Normal(1.0, 2.0))",
        "register_kl/raises": "D.register_kl(int, D.Normal)",
        "register_kl": (
            "class P(D.Distribution):\n    pass\n@D.register_kl(P, P)\ndef formula(p, q):\n    return 5\n"
            "(D.kl_divergence(P(), P()), formula(None, None))"
        ),
        "Cauchy/raises for mean": "D.Cauchy(0.0, 1.0).mean",
        "Cauchy/raises for variance": "D.Cauchy(0.0, 1.0).variance",
        "Cauchy/raises for stddev": "D.Cauchy(0.0, 1.0).stddev",
        "Cauchy/raises for a value": "D.Cauchy(0.0, 1.0).log_prob(0.7)",
        "Cauchy/raises for another": "D.Cauchy(0.0, 1.0).kl_divergence(D.Uniform(0.0, 1.0))",
        "Normal/raises for a value": "D.Normal(0.0, 1.0).log_prob(0.7)",
        "Normal/seed": (
            "d = D.Normal(0.5, 2.0)\nbool((d.sample([3], seed=10) == d.sample([3], "
            "seed=10)).all())"
        ),
        "Normal/batch of a broadcast": f"D.Normal{_BROADCAST}.batch_shape",
        "Normal/names": "(D.Normal(0.0, 1.0).name, D.Normal(0.0, 1.0, name='q').name)",
        "LogNormal/raises for a value": "D.LogNormal(0.0, 1.0).log_prob(0.7)",
        "Laplace/numbers as values": "d = D.Laplace(0.0, 1.0)\n[d.log_prob(0.7), d.cdf(0.7), d.icdf(0.7)]",
        "Laplace/ends": "D.Laplace(0.0, 1.0).icdf(T([0.0, 0.5, 1.0]))",
        "Gumbel/numbers as values": (
            "d = D.Gumbel(0.0, 1.0)\n[d.log_prob(0.7), d.cdf(0.7), d.prob(np.array([0.5], "
            "'float32'))]"
        ),
        "Uniform/ends": (
            "d = D.Uniform(0.0, 1.0)\n[d.log_prob(T([2.0, 0.0, 1.0])), d.probs(T([0.0, 0.5, "
            "1.0]))]"
        ),
        "Beta/a tensor and a number": "d = D.Beta(T([1.0, 0.5]), 2.0)\n(d.alpha, d.beta, d.mean)",
        "ExponentialFamily": (
            "class E(D.ExponentialFamily):\n"
            "    def __init__(self, rate):\n        self.rate = rate\n        super().__init__(rate.shape)\n"
            "    @property\n    def _natural_parameters(self):\n        return (-self.rate,)\n"
            "    def _log_normalizer(self, x):\n        return -paddle.log(-x)\n"
            "    @property\n    def _mean_carrier_measure(self):\n        return 0\n"
            "p, q = E(T([2.0, 3.0])), E(T([1.0, 3.0]))\n(p.entropy().numpy(), D.kl_divergence(p, q).numpy())"
        ),
        "ExponentialFamily/raises": "D.ExponentialFamily().entropy()",
        "constraint": (
            "[D.constraint.real(T([float('nan'), 1.0])), D.constraint.positive(T([-1.0, 0.0, 1.0])), "
            "D.constraint.simplex(T([0.5, 0.5])), D.constraint.simplex(T([0.5, 0.6]))]"
        ),
        "variable": (
            "v = D.variable\n"
            "(v.real.event_rank, v.positive.is_discrete, v.positive.constraint(T([1.0, -1.0])), "
            "v.Independent(v.real, 2).event_rank, v.Stack([v.real, v.positive]).event_rank)"
        )
    }
    return {name: _D + code for name, code in rows.items()}


_CALLED = """
    Bernoulli Beta Categorical Cauchy Dirichlet Distribution ExponentialFamily Multinomial Normal Uniform
    kl_divergence register_kl Independent TransformedDistribution Laplace LogNormal Gumbel Geometric
    AffineTransform ChainTransform IndependentTransform PowerTransform ReshapeTransform StackTransform
    variable.Variable variable.Real variable.Independent variable.Stack constraint.Range
"""
_METHODS = """
    Bernoulli.sample Bernoulli.rsample Bernoulli.cdf Beta.sample Categorical.sample Categorical.probs
    Cauchy.sample Cauchy.rsample Dirichlet.sample Distribution.sample Distribution.kl_divergence
    Multinomial.sample Normal.sample Normal.rsample Normal.log_prob Uniform.sample Independent.sample
    TransformedDistribution.sample Laplace.sample Laplace.rsample Laplace.icdf LogNormal.probs Gumbel.sample
    Gumbel.rsample Geometric.sample Geometric.rsample Geometric.pmf Transform.forward Transform.inverse
    Transform.forward_shape Transform.forward_log_det_jacobian Transform.__call__
"""


def _signatures() -> dict[str, str]:
    calls = {f"signature/{name}": f"{_D}signature(D.{name})" for name in _CALLED.split()}
    calls.update({f"signature/{n}": f"{_D}signature(D.{n}, method=True)" for n in _METHODS.split()})
    calls["signature/all names"] = _D + "[D.__all__, D.transform.__all__]"
    return calls


CALLS: dict[str, str] = {**_two_parameters(), **_evaluated(), **_others(), **_signatures()}

# Paddle rounds constants, and arrays of float64, to float32 on the way to float64.
TOLERANCES = dict.fromkeys(
    [
        *(f"{name}/{how}" for name in ("Normal", "Uniform", "LogNormal") for how in _FLOAT64),
        *(f"{name}/float64" for name in ("Normal", "LogNormal", "Gumbel")),
        *(f"{name}/{density} float64" for name in ("Gumbel", "Beta") for density in ("prob", "log_prob")),
        "Dirichlet/value of float64", "Categorical/arrays",
    ],
    2e-6
)
