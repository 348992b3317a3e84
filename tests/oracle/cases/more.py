"""Names that no other family calls: the remaining loss layers, in-place forms, and helpers."""

_SIGNS = "paddle.to_tensor([1.0, -1.0, 1.0, -1.0])"
_INPLACE = {
    "acosh_": "", "asinh_": "", "atanh_": "", "bitwise_not_": "", "cast_": "'float64'", "cumprod_": "0",
    "cumsum_": "0", "floor_mod_": "pos([3], seed=1)", "greater_equal_": "t([3])",
    "greater_than_": "t([3])", "lcm_": "ints([3], 9, seed=1)", "ldexp_": "ints([3], 3)",
    "lerp_": "t([3]), 0.5", "less_equal_": "t([3])", "less_than_": "t([3])", "logical_and_": "bools([3])",
    "logical_not_": "", "logical_or_": "bools([3])", "logical_xor_": "bools([3])", "logit_": "",
    "mod_": "pos([3], seed=1)", "multigammaln_": "1", "nan_to_num_": "", "not_equal_": "t([3])",
    "polygamma_": "1", "pow_": "2.0", "subtract_": "t([3])", "erfinv_": "", "fill_": "1.5", "sigmoid_": "",
    "flatten_": "", "unsqueeze_": "0", "squeeze_": "", "scale_": "3.0", "clip_": "0.2, 0.4", "tril_": "",
    "triu_": "", "t_": "", "transpose_": "[1, 0]", "reshape_": "[2, 3]", "divide_": "pos([3])"
}
_STARTS = {
    "acosh_": "pos([3]) + 1", "bitwise_not_": "ints([3], 9)", "lcm_": "ints([3], 9)",
    "logical_and_": "bools([3], seed=1)", "logical_not_": "bools([3])", "logical_or_": "bools([3], seed=1)",
    "logical_xor_": "bools([3], seed=1)", "flatten_": "t([2, 3])", "squeeze_": "t([1, 3])",
    "tril_": "t([3, 3])", "triu_": "t([3, 3])", "t_": "t([2, 3])", "transpose_": "t([2, 3])",
    "reshape_": "t([3, 2])"
}

CALLS: dict[str, str] = {
    **{
        name: f"x = {_STARTS.get(name, 'pos([3]) / 1.3')}\ny = x.{name}({arguments})\n(x, y is x)"
        for name, arguments in _INPLACE.items()
    },
    "HingeEmbeddingLoss": f"nn.HingeEmbeddingLoss(margin=0.5)(t([4]), {_SIGNS})",
    "SoftMarginLoss": f"nn.SoftMarginLoss(reduction='sum')(t([4]), {_SIGNS})",
    "MultiLabelSoftMarginLoss": (
        "nn.MultiLabelSoftMarginLoss(reduction='none')(t([2, 3]), bools([2, 3]).astype('float32'))"
    ),
    "MultiMarginLoss": "nn.MultiMarginLoss(p=2, margin=0.5)(t([4, 3]), ints([4], 3))",
    "MultiMarginLoss/weight": "F.multi_margin_loss(t([4, 3]), ints([4], 3), weight=pos([3]))",
    "TripletMarginLoss": (
        "nn.TripletMarginLoss(margin=0.5, swap=True)(t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2))"
    ),
    "TripletMarginWithDistanceLoss": (
        "nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))"
        "(t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2))"
    ),
    "triplet_margin_with_distance_loss": (
        "F.triplet_margin_with_distance_loss(t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), swap=True)"
    ),
    "PoissonNLLLoss": "nn.PoissonNLLLoss(log_input=False, full=True)(pos([4]), ints([4], 5, 'float32'))",
    "GaussianNLLLoss": "nn.GaussianNLLLoss(full=True)(t([4]), t([4], seed=1), pos([4], seed=2))",
    "CTCLoss": (
        "nn.CTCLoss(blank=0, reduction='mean')(t([5, 2, 4]), ints([2, 2], 3, 'int32') + 1, "
        "paddle.to_tensor([5, 4]), paddle.to_tensor([2, 1]))"
    ),
    "ctc_loss/gradient": (
        "grad(lambda x: F.ctc_loss(x, ints([2, 2], 3, 'int32') + 1, paddle.to_tensor([5, 4]), "
        "paddle.to_tensor([2, 1]), reduction='sum'), t([5, 2, 4]))"
    ),
    "HSigmoidLoss": "formula(nn.HSigmoidLoss(4, 5))(t([3, 4]), ints([3, 1], 5)).detach()",
    "pairwise_distance": "F.pairwise_distance(t([3, 4]), t([3, 4], seed=1), p=1.0, keepdim=True)",
    "sequence_mask": "F.sequence_mask(paddle.to_tensor([1, 3, 2]), maxlen=4)",
    "sequence_mask/longest": "F.sequence_mask(paddle.to_tensor([1, 3]), dtype='float32')",
    "gather_tree": (
        "F.gather_tree(ints([3, 2, 2], 9), paddle.to_tensor([[[0, 0], [1, 1]], [[1, 0], [0, 0]], [[0, 0], "
        "[0, 1]]]))"
    ),
    "temporal_shift": "F.temporal_shift(t([4, 4, 2, 2]), 2, 0.25)",
    "alpha_dropout/evaluated": "F.alpha_dropout(t([3]), 0.5, training=False)",
    "dropout2d/evaluated": "F.dropout2d(t([1, 2, 2, 2]), 0.5, training=False)",
    "dropout3d/evaluated": "F.dropout3d(t([1, 2, 2, 2, 2]), 0.5, training=False)",
    "dropout3d/channels": (
        "y = nn.Dropout3D(0.5)(paddle.ones([4, 8, 2, 2, 2]))\nbool((y == y[:, :, :1, :1, :1]).all())"
    ),
    "AlphaDropout/moments": (
        "y = nn.AlphaDropout(0.3)(paddle.randn([20000]))\n(round(float(y.mean())), round(float(y.std())))"
    ),
    "Metric/own": (
        "class Count(paddle.metric.Metric):\n    def __init__(self):\n        super().__init__()\n"
        "        self.n = 0\n    def reset(self):\n        self.n = 0\n    def update(self, x):\n"
        "        self.n += x\n    def accumulate(self):\n        return self.n\n    def name(self):\n"
        "        return 'count'\nm = Count()\nm.update(3)\n(m.accumulate(), m.name())"
    ),
    "Sampler/own": (
        "class Own(paddle.io.Sampler):\n    def __iter__(self):\n        return iter([2, 0])\n"
        "    def __len__(self):\n        return 2\nlist(paddle.io.BatchSampler(sampler=Own(), batch_size=2))"
    ),
    "jit/not_to_static": (
        "l = formula(nn.Linear(2, 2))\nbefore = l(t([1, 2])).detach()\nl = paddle.jit.to_static(l)\n"
        "bool((l(t([1, 2])) - before).abs().max() < 1e-6)"
    ),
    "jit/enable_to_static": (
        "paddle.jit.enable_to_static(False)\nf = paddle.jit.to_static(lambda x: x * 2)\nfound = f(t([2]))\n"
        "paddle.jit.enable_to_static(True)\nfound"
    ),
}
