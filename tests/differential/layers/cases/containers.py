"""Containers, layers with buffers and shared parameters, nn.utils, initial values of layers."""

_INITIALIZERS = {
    "Constant": "init.Constant(0.3)",
    "Uniform": "init.Uniform(-0.2, 0.4)",
    "Normal": "init.Normal(0.1, 2.0)",
    "TruncatedNormal": "init.TruncatedNormal(0.0, 0.5)",
    "TruncatedNormal/bounds": "init.TruncatedNormal(0.0, 1.0, a=-1.0, b=1.5)",
    "XavierNormal": "init.XavierNormal()",
    "XavierNormal/fans": "init.XavierNormal(fan_in=3, fan_out=7)",
    "XavierUniform": "init.XavierUniform()",
    "KaimingNormal": "init.KaimingNormal()",
    "KaimingNormal/leaky": "init.KaimingNormal(negative_slope=0.2, nonlinearity='leaky_relu')",
    "KaimingUniform": "init.KaimingUniform(fan_in=5)",
    "Orthogonal": "init.Orthogonal(gain=2.0)",
    "Assign": "init.Assign(np.arange(12.0).reshape(3, 4))",
    "Assign/list": "init.Assign([[0.5] * 4] * 3)",
    "Assign/tensor": "init.Assign(t([3, 4]))",
}
CASES = {
    **{
        f"initializer/{name}": (f"nn.Linear(3, 4, weight_attr={made})", "t([2, 3])")
        for name, made in _INITIALIZERS.items()
    },
    **{
        f"initializer/convolution/{name}": (
            f"nn.Conv2D(2, 4, 3, weight_attr={made}, bias_attr={made})",
            "t([1, 2, 4, 4])",
        )
        for name, made in _INITIALIZERS.items()
        if name in ("Uniform", "Normal", "TruncatedNormal", "XavierNormal", "KaimingUniform")
    },
    "initializer/Dirac groups": ("nn.Conv1D(4, 4, 3, weight_attr=init.Dirac(groups=2))", "t([1, 4, 5])"),
    "initializer/Dirac rank": ("nn.Linear(4, 4, weight_attr=init.Dirac())", "t([1, 4])"),
    "initializer/Orthogonal rank": ("nn.Linear(4, 4, bias_attr=init.Orthogonal())", "t([1, 4])"),
    "initializer/Assign shape": ("nn.Linear(4, 4, weight_attr=init.Assign(np.ones([2, 2])))", "t([1, 4])"),
    "initializer/global": (
        "init.set_global_initializer(init.Constant(0.1), init.Constant(0.2))\nmade = nn.Linear(3, 4)\n"
        "init.set_global_initializer(None)\nmade",
        "t([2, 3])",
    ),
    "Sequential": ("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))", "t([2, 3])"),
    "Sequential/named": ("nn.Sequential(('first', nn.Linear(3, 4)), ('second', nn.Tanh()))", "t([2, 3])"),
    "Sequential/list": ("nn.Sequential(['first', nn.Linear(3, 4)], ['second', nn.Tanh()])", "t([2, 3])"),
    "Sequential/sliced": ("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))[:2]", "t([2, 3])"),
    "Sequential/empty": ("nn.Sequential()", "t([2, 3])"),
    "Sequential/nested": (
        "nn.Sequential(nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU()), "
        "nn.Flatten(), nn.Linear(18, 2))",
        "t([2, 1, 5, 5])",
    ),
    "Sequential/eval": (
        "evaluated(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.BatchNorm1D(4), nn.LogSoftmax()))",
        "t([2, 3])",
    ),
    "Sequential/changed": (
        "made = nn.Sequential(nn.Linear(3, 4), nn.ReLU())\nmade[1] = nn.Tanh()\nmade",
        "t([2, 3])",
    ),
    "Sequential/added": (
        "made = nn.Sequential(nn.Linear(3, 4))\nmade.add_sublayer('last', nn.Linear(4, 1, "
        "bias_attr=False))\nmade",
        "t([2, 3])",
    ),
    "Sequential/repeated": ("one = nn.Linear(3, 3)\nnn.Sequential(one, nn.ReLU(), one)", "t([2, 3])"),
    "LayerList": ("Listed([nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)])", "t([2, 3])"),
    "LayerList/changed": (
        "made = Listed([nn.Linear(3, "
        "4)])\nmade.layers.append(nn.ReLU())\nmade.layers.insert(0, nn.Linear(3, 3))\n"
        "made.layers.extend([nn.Linear(4, 2)])\nmade",
        "t([2, 3])",
    ),
    "LayerDict": ("Named({'a': nn.Linear(3, 4), 'b': nn.ReLU()})", "t([2, 3])"),
    "LayerDict/changed": (
        "made = Named({'a': nn.Linear(3, 4), 'b': nn.ReLU()})\nmade.layers.pop('b')\n"
        "made.layers.update([('c', nn.Linear(4, 2))])\nmade",
        "t([2, 3])",
    ),
    "ParameterList": ("Scaled(2)", "t([2, 3])"),
    "ParameterList/appended": (
        "made = Scaled(1)\nmade.scales.append(paddle.create_parameter([3], 'float32'))\nmade",
        "t([2, 3])",
    ),
    "buffers": ("Counted()", "t([2, 3])"),
    "shared layer": ("Residual()", "t([2, 3])"),
    "frozen layer": ("Frozen()", "t([2, 3])"),
    "tied weights": ("Tied()", "ints([2, 3], 5)"),
    "dict": ("Mapped()", "{'x': t([2, 3]), 'y': t([2, 2], seed=1)}"),
    "branch": ("Deciding()", "t([2, 3])"),
    "forward missing": ("nn.Layer()", "t([2, 3])"),
    "hooks": (
        "nn.Sequential(hooked(nn.Linear(3, 4), True, True), hooked(nn.ReLU(), False, True))",
        "t([2, 3])",
    ),
    "weight_norm": ("nn.utils.weight_norm(nn.Linear(3, 4))", "t([2, 3])"),
    "weight_norm/dim 1": ("nn.utils.weight_norm(nn.Conv2D(2, 3, 3), dim=1)", "t([1, 2, 4, 4])"),
    "weight_norm/no dim": ("nn.utils.weight_norm(nn.Conv2D(2, 3, 3), dim=None)", "t([1, 2, 4, 4])"),
    "weight_norm/bias": ("nn.utils.weight_norm(nn.Linear(3, 4), name='bias')", "t([2, 3])"),
    "weight_norm/removed": (
        "nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(3, 4)))",
        "t([2, 3])",
    ),
    "weight_norm/twice": ("nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(3, 4)))", "t([2, 3])"),
    "weight_norm/wrong": ("nn.utils.remove_weight_norm(nn.Linear(3, 4))", "t([2, 3])"),
    "spectral_norm": ("nn.utils.spectral_norm(nn.Linear(3, 4))", "t([2, 3])"),
    "spectral_norm/conv": (
        "nn.utils.spectral_norm(nn.Conv2D(2, 3, 3), n_power_iterations=2)",
        "t([1, 2, 4, 4])",
    ),
    "spectral_norm/transpose eval": (
        "evaluated(nn.utils.spectral_norm(nn.Conv2DTranspose(2, 3, 3), dim=1))",
        "t([1, 2, 4, 4])",
    ),
    "spectral_norm/wrong": ("nn.utils.spectral_norm(nn.Linear(3, 4), n_power_iterations=0)", "t([2, 3])"),
    "vector": (
        "made = nn.Linear(3, 4)\n"
        "vector = nn.utils.parameters_to_vector(made.parameters())\n"
        "nn.utils.vector_to_parameters(vector * 2, made.parameters())\nmade",
        "t([2, 3])",
    ),
    "full name": ("Listed([nn.Linear(3, 4), nn.Linear(4, 4), nn.Conv2D(1, 1, 1)][:2])", "t([2, 3])"),
    "float64 network": (
        "paddle.set_default_dtype('float64')\nnn.Sequential(nn.Conv2D(1, 2, 3), "
        "nn.BatchNorm2D(2), nn.PReLU())",
        "t([1, 1, 4, 4], 'float64')",
    ),
    "float16 network": ("nn.Linear(3, 4).float16()", "t([2, 3], 'float16')"),
}
