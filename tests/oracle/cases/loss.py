"""Losses beyond the common ones: all options, reductions, gradients, and what they refuse."""

_ONES = "paddle.to_tensor([1.0, -1.0, 1.0, -1.0])"
_CTC = "F.ctc_loss({}, ints([2, 2], 3, 'int32') + 1, paddle.to_tensor([5, 4]), paddle.to_tensor([2, 1]){})"
_RNNT = (
    "F.rnnt_loss({}, ints([2, 2], 3, 'int32') + 1, paddle.to_tensor([4, 3], 'int32'), "
    "paddle.to_tensor([2, 1], 'int32'){})"
)
_HS = "F.hsigmoid_loss({}, ints([3], 5), 5, {}, {})"
_TREE = (
    "paddle.to_tensor([[0, 2, -1], [0, 1, 3], [0, -1, -1]]), paddle.to_tensor([[1, 0, -1], [0, 1, 1], [1, "
    "-1, -1]])"
)
# Two tensors and what follows; each is called with every reduction, and its gradient taken.
_PAIRS = {
    "smooth_l1_loss": "t([3, 2]) * 3, t([3, 2], seed=1), delta=0.7",
    "kl_div": "F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1))",
    "hinge_embedding_loss": f"t([4]) * 2, {_ONES}, margin=0.7",
    "soft_margin_loss": f"t([4]) * 2, {_ONES}",
    "multi_label_soft_margin_loss": "t([2, 3]), bools([2, 3]).astype('float32'), weight=pos([2, 3])",
    "multi_margin_loss": "t([4, 3]), ints([4], 3), margin=0.7",
    "multi_margin_loss/square": "t([4, 3]), ints([4], 3), p=2",
    "poisson_nll_loss": "t([4]), ints([4], 5, 'float32')",
    "poisson_nll_loss/full": "t([4]), ints([4], 5, 'float32'), full=True",
    "poisson_nll_loss/plain": "pos([4]), ints([4], 5, 'float32'), log_input=False, epsilon=1e-3",
    "sigmoid_focal_loss": "t([4, 3]), bools([4, 3]).astype('float32'), alpha=0.3, gamma=1.5",
    "gaussian_nll_loss": "t([4, 2]), t([4, 2], seed=1), pos([4, 1]), full=True",
    "gaussian_nll_loss/rows": "t([4, 2]), t([4, 2], seed=1), pos([4])",
    "cosine_embedding_loss": "t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1, -1, -1]), margin=0.1",
    "margin_ranking_loss": f"t([4]), t([4], seed=1), {_ONES}, margin=0.3",
    "triplet_margin_loss": "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), margin=0.5",
    "triplet_margin_loss/p": "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), p=3, epsilon=1e-3, swap=True",
    "triplet_margin_with_distance_loss": "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), margin=0.5",
    "triplet_margin_with_distance_loss/own": "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), "
    "distance_function=lambda x, y: (x - y).abs().sum(-1), swap=True",
}


def _first(given: str) -> tuple[str, str]:
    """The first of the arguments, and the others."""
    end = next(n for n, c in enumerate(given) if c == "," and given[:n].count("(") == given[:n].count(")"))
    return given[:end], given[end + 2 :]


def _pairs() -> dict[str, str]:
    calls = {}
    for name, given in _PAIRS.items():
        function = name.partition("/")[0]
        for reduction in ("none", "mean", "sum"):
            calls[f"{name}/{reduction}"] = f"F.{function}({given}, reduction='{reduction}')"
        x, rest = _first(given)
        calls[f"{name}/gradient"] = f"grad(lambda x: F.{function}(x, {rest}, reduction='none'), {x})"
        if function not in ("kl_div", "cosine_embedding_loss"):  # there Paddle takes any word
            calls[f"{name}/raises reduction"] = f"F.{function}({given}, reduction='average')"
    return calls


_WIDE = "paddle.to_tensor([-200.0, -30.0, 30.0, 200.0])"

CALLS: dict[str, str] = {
    **_pairs(),
    "smooth_l1_loss/raises shapes": "F.smooth_l1_loss(t([3, 2]), t([2]))",
    "kl_div/batchmean": "F.kl_div(t([3, 2]), pos([3, 2]), 'batchmean')",
    "kl_div/batchmean gradient": "grad(lambda x: F.kl_div(x, pos([3, 2]), 'batchmean'), t([3, 2]))",
    "kl_div/mixed dtypes": "F.kl_div(t([3, 2]), pos([3, 2], 'float64'))",
    "kl_div/not positive": "F.kl_div(t([3]), paddle.to_tensor([0.0, 0.5, -1.0]), 'none')",
    "log_loss": "F.log_loss(pos([4, 1]) / 2, bools([4, 1]).astype('float32'), epsilon=1e-3)",
    "log_loss/gradient": "grad(lambda x: F.log_loss(x, bools([4, 1]).astype('float32')), pos([4, 1]) / 2)",
    "dice_loss": "F.dice_loss(F.softmax(t([2, 3, 4])), ints([2, 3, 1], 4), epsilon=1e-3)",
    "dice_loss/gradient": "grad(lambda x: F.dice_loss(x, ints([2, 3, 1], 4)), pos([2, 3, 4]))",
    "dice_loss/raises label": "F.dice_loss(pos([2, 3, 4]), ints([2, 3, 2], 4))",
    "dice_loss/raises rank": "F.dice_loss(pos([2, 3, 4]), ints([2, 1], 4))",
    "npair_loss/float labels": "F.npair_loss(t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1.0, 2.0, "
    "1.0]), 0.1)",
    "npair_loss/gradient": "grad(lambda x, y: F.npair_loss(x, y, ints([3], 2)), t([3, 4]), t([3, 4], "
    "seed=1))",
    "sigmoid_focal_loss/normalizer": "F.sigmoid_focal_loss(t([4, 3]), bools([4, 3]).astype('float32'), "
    "paddle.to_tensor([3.0]))",
    "sigmoid_focal_loss/raises normalizer": "F.sigmoid_focal_loss(t([4]), pos([4]), pos([2, 2]))",
    "sigmoid_focal_loss/wide": f"F.sigmoid_focal_loss({_WIDE}, paddle.to_tensor([1.0, 0.0, 1.0, 0.0]), "
    "reduction='none')",
    "with_logits/wide": f"F.binary_cross_entropy_with_logits({_WIDE}, paddle.to_tensor([1.0, 0.0, 1.0, "
    f"0.0]), "
    "reduction='none')",
    "with_logits/wide gradient": "grad(lambda x: F.binary_cross_entropy_with_logits(x, paddle.to_tensor("
    f"[1.0, 0.0, 1.0, 0.0]), reduction='sum'), {_WIDE})",
    "with_logits/broadcast weight": "F.binary_cross_entropy_with_logits(t([3, 2]), bools([3, 2]).astype("
    "'float32'), pos([3, 1]), 'none')",
    "gaussian_nll_loss/small variance": "F.gaussian_nll_loss(t([3]), t([3], seed=1), paddle.to_tensor([0.0, "
    "1e-9, "
    "1.0]), epsilon=0.1, reduction='none')",
    "gaussian_nll_loss/raises variance": "F.gaussian_nll_loss(t([3]), t([3]), paddle.to_tensor([1.0, -1.0, "
    "1.0]))",
    "gaussian_nll_loss/raises shape": "F.gaussian_nll_loss(t([3, 4]), t([3, 4]), pos([4]))",
    "poisson_nll_loss/raises epsilon": "F.poisson_nll_loss(t([4]), pos([4]), epsilon=0.0)",
    "poisson_nll_loss/raises shape": "F.poisson_nll_loss(t([4]), pos([3]))",
    "cosine_embedding_loss/one": "F.cosine_embedding_loss(t([4]), t([4], seed=1), paddle.to_tensor([1]))",
    "cosine_embedding_loss/raises labels": "F.cosine_embedding_loss(t([3, 4]), t([3, 4]), ints([3, 1], 2))",
    "cosine_embedding_loss/raises shapes": "F.cosine_embedding_loss(t([3, 4]), t([3, 3]), ints([3], 2))",
    "cosine_embedding_loss/raises dtype": "F.cosine_embedding_loss(ints([3, 4], 3), ints([3, 4], 3), "
    "ints([3], 2))",
    "cosine_embedding_loss/raises rank": "F.cosine_embedding_loss(t([1, 3, 4]), t([1, 3, 4]), ints([3], 2))",
    "soft_margin_loss/raises shapes": "F.soft_margin_loss(t([4]), t([3]))",
    "soft_margin_loss/int labels": "F.soft_margin_loss(t([4]), ints([4], 2) * 2 - 1)",
    "multi_label_soft_margin_loss/raises shapes": "F.multi_label_soft_margin_loss(t([4, 2]), t([4, 3]))",
    "multi_margin_loss/weight": "F.multi_margin_loss(t([4, 3]), ints([4], 3), weight=pos([3]))",
    "multi_margin_loss/weight none": "F.multi_margin_loss(t([4, 3]), ints([4], 3), weight=pos([3]), "
    "reduction='none')",
    "multi_margin_loss/weight square": "F.multi_margin_loss(t([4, 3]), ints([4], 3), p=2, weight=pos([3]))",
    "multi_margin_loss/raises batch": "F.multi_margin_loss(t([4, 3]), ints([3], 3))",
    "multi_margin_loss/raises weight": "F.multi_margin_loss(t([4, 3]), ints([4], 3), weight=pos([2]))",
    "triplet_margin_loss/raises margin": "F.triplet_margin_loss(t([3, 4]), t([3, 4]), t([3, 4]), "
    "margin=-1.0)",
    "triplet_margin_loss/raises shapes": "F.triplet_margin_loss(t([3, 4]), t([3, 4]), t([2, 4]))",
    "triplet_margin_with_distance_loss/raises distance": "F.triplet_margin_with_distance_loss(t([3, 4]), "
    "t([3, 4]), t([3, 4]), lambda x, y: (x - y).sum(-1))",
    "margin_ranking_loss/raises shapes": "F.margin_ranking_loss(t([4]), t([3]), t([4]))",
    "softmax_with_cross_entropy/soft": "F.softmax_with_cross_entropy(t([4, 3]), F.softmax(t([4, 3], "
    "seed=3)), "
    "soft_label=True, return_softmax=True)",
    "softmax_with_cross_entropy/ignored": "F.softmax_with_cross_entropy(t([4, 3]), paddle.to_tensor([[0], "
    "[1], "
    "[2], [1]]), ignore_index=1)",
    "softmax_with_cross_entropy/axis": "F.softmax_with_cross_entropy(t([2, 3, 4]), ints([2, 1, 4], 3), "
    "axis=1)",
    "softmax_with_cross_entropy/gradient": "grad(lambda x: F.softmax_with_cross_entropy(x, ints([4, 1], "
    "3)), "
    "t([4, 3]))",
    "softmax_with_cross_entropy/raises label": "F.softmax_with_cross_entropy(t([4, 3]), ints([4, 2], 3))",
    "ctc_loss/mean": _CTC.format("t([5, 2, 4]) * 2", ""),
    "ctc_loss/sum": _CTC.format("t([5, 2, 4]) * 2", ", reduction='sum'"),
    "ctc_loss/none": _CTC.format("t([5, 2, 4]) * 2", ", reduction='none'"),
    "ctc_loss/blank": _CTC.format("t([5, 2, 6]) * 2", ", blank=5, reduction='none'"),
    "ctc_loss/gradient": f"grad(lambda x: {_CTC.format('x', '')}, t([5, 2, 4]) * 2)",
    "ctc_loss/by times": f"grad(lambda x: {_CTC.format('x', ', norm_by_times=True')}, t([5, 2, 4]) * 2)",
    "ctc_loss/too short": "F.ctc_loss(t([2, 1, 4]), paddle.to_tensor([[1, 1]], 'int32'), "
    "paddle.to_tensor([2]), "
    "paddle.to_tensor([2]), reduction='none')",
    "ctc_loss/raises reduction": _CTC.format("t([5, 2, 4])", ", reduction='average'"),
    "rnnt_loss/mean": _RNNT.format("F.log_softmax(t([2, 4, 3, 5]))", ""),
    "rnnt_loss/none": _RNNT.format("F.log_softmax(t([2, 4, 3, 5]))", ", reduction='none'"),
    "rnnt_loss/sum": _RNNT.format("F.log_softmax(t([2, 4, 3, 5]))", ", reduction='sum', blank=4"),
    "rnnt_loss/gradient": f"grad(lambda x: {_RNNT.format('x', ', fastemit_lambda=0.2')}, "
    "F.log_softmax(t([2, 4, 3, 5])))",
    "hsigmoid_loss": _HS.format("t([3, 4])", "t([4, 4], seed=1)", "t([4, 1], seed=2)"),
    "hsigmoid_loss/no bias": _HS.format("t([3, 4])", "t([4, 4], seed=1)", "None"),
    "hsigmoid_loss/gradients": "grad(lambda x, w, b: " + _HS.format("x", "w", "b")
    + ", t([3, 4]), t([4, 4], seed=1), t([4, 1], seed=2))",
    "hsigmoid_loss/own tree": f"F.hsigmoid_loss(t([3, 4]), ints([3], 5), 5, t([4, 4], seed=1), t([4, 1]), "
    f"{_TREE})",
    "hsigmoid_loss/raises classes": "F.hsigmoid_loss(t([3, 4]), ints([3], 5), 1, t([4, 4]))",
    "Layer/texts": "[str(layer) for layer in (nn.SmoothL1Loss(), nn.KLDivLoss(), nn.MarginRankingLoss(), "
    "nn.CTCLoss(), "
    "nn.RNNTLoss(), nn.SoftMarginLoss(), nn.MultiLabelSoftMarginLoss(), nn.MultiMarginLoss(), "
    "nn.TripletMarginLoss(), "
    "nn.TripletMarginWithDistanceLoss(), nn.PoissonNLLLoss(), nn.GaussianNLLLoss(), "
    "nn.HingeEmbeddingLoss(), "
    "nn.CosineEmbeddingLoss())]",
    "Layer/pairs": "[layer(t([4, 3]), bools([4, 3]).astype('float32')) for layer in (nn.SmoothL1Loss('sum', "
    "0.5), "
    "nn.KLDivLoss('batchmean'), nn.SoftMarginLoss('none'), nn.MultiLabelSoftMarginLoss(), "
    "nn.PoissonNLLLoss(full=True), "
    "nn.HingeEmbeddingLoss(0.5))]",
    "Layer/three": "x, y, z = t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)\n"
    "[nn.TripletMarginLoss(0.5, swap=True)(x, y, z), nn.TripletMarginWithDistanceLoss(margin=0.5)(x, y, z), "
    "nn.GaussianNLLLoss(True)(x, y, z.abs()), nn.MultiMarginLoss(2)(x, ints([3], 4)), "
    "nn.CosineEmbeddingLoss(0.1)(x, y, paddle.to_tensor([1, -1, 1])), nn.MarginRankingLoss(0.1)(x, y, "
    "z.sign())]",
    "Layer/CTCLoss": "nn.CTCLoss(blank=3)(t([5, 2, 4]), ints([2, 2], 3, 'int32'), paddle.to_tensor([5, 4]), "
    "paddle.to_tensor([2, 1]))",
    "Layer/HSigmoidLoss": "net = formula(nn.HSigmoidLoss(4, 5))\n[net(t([3, 4]), ints([3, 1], 5)), "
    "list(net.state_dict()), net.weight.shape, net.bias.shape]",
    "Layer/HSigmoidLoss raises": "nn.HSigmoidLoss(4, 1)",
    "Layer/CosineEmbeddingLoss raises": "nn.CosineEmbeddingLoss(margin=2)",
    "Layer/PoissonNLLLoss raises": "nn.PoissonNLLLoss(epsilon=-1)",
    **{
        f"Layer/{name} raises reduction": f"nn.{name}(reduction='average')"
        for name in (
            "MSELoss", "L1Loss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "MarginRankingLoss",
            "SoftMarginLoss",
            "CosineEmbeddingLoss", "MultiMarginLoss", "TripletMarginLoss", "PoissonNLLLoss",
            "GaussianNLLLoss",
        )
    }
}
