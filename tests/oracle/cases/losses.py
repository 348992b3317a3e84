"""Losses with all their options, and their gradients."""

_ENTROPY = {
    "hard": "F.cross_entropy(t([4, 3]), ints([4], 3))",
    "hard column": "F.cross_entropy(t([4, 3]), ints([4, 1], 3))",
    "int32 labels": "F.cross_entropy(t([4, 3]), ints([4], 3, 'int32'))",
    "none": "F.cross_entropy(t([4, 3]), ints([4], 3), reduction='none')",
    "none column": "F.cross_entropy(t([4, 3]), ints([4, 1], 3), reduction='none')",
    "sum": "F.cross_entropy(t([4, 3]), ints([4], 3), reduction='sum')",
    "float64": "F.cross_entropy(t([4, 3], 'float64'), ints([4], 3))",
    "weight": "F.cross_entropy(t([4, 3]), ints([4], 3), weight=pos([3], seed=2))",
    "weight sum": "F.cross_entropy(t([4, 3]), ints([4], 3), weight=pos([3], seed=2), reduction='sum')",
    "weight none": "F.cross_entropy(t([4, 3]), ints([4], 3), weight=pos([3], seed=2), reduction='none')",
    "ignored": "F.cross_entropy(t([4, 3]), paddle.to_tensor([0, -100, 2, 1]))",
    "ignored index": "F.cross_entropy(t([4, 3]), paddle.to_tensor([0, 1, 2, 1]), ignore_index=1)",
    "ignored none": (
        "F.cross_entropy(t([4, 3]), paddle.to_tensor([0, 1, 2, 1]), ignore_index=1, reduction='none')"
    ),
    "ignored weight": (
        "F.cross_entropy(t([4, 3]), paddle.to_tensor([0, 1, 2, 1]), weight=pos([3], seed=2), ignore_index=1)"
    ),
    "all ignored": "F.cross_entropy(t([2, 3]), paddle.to_tensor([1, 1]), ignore_index=1)",
    "soft": "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), soft_label=True)",
    "soft none": (
        "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), soft_label=True, reduction='none')"
    ),
    "soft sum": "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), soft_label=True, reduction='sum')",
    "soft weight": (
        "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), weight=pos([3], seed=2), soft_label=True)"
    ),
    "soft weight none": (
        "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), weight=pos([3], seed=2), soft_label=True, "
        "reduction='none')"
    ),
    "smoothing": "F.cross_entropy(t([4, 3]), ints([4], 3), label_smoothing=0.1)",
    "smoothing none": "F.cross_entropy(t([4, 3]), ints([4], 3), label_smoothing=0.1, reduction='none')",
    "smoothing soft": (
        "F.cross_entropy(t([4, 3]), F.softmax(t([4, 3], seed=3)), soft_label=True, label_smoothing=0.2)"
    ),
    "smoothing weight": (
        "F.cross_entropy(t([4, 3]), ints([4], 3), weight=pos([3], seed=2), label_smoothing=0.1)"
    ),
    "axis": "F.cross_entropy(t([2, 3, 4]), ints([2, 4], 3), axis=1)",
    "axis column": "F.cross_entropy(t([2, 3, 4]), ints([2, 1, 4], 3), axis=1)",
    "axis none": "F.cross_entropy(t([2, 3, 4]), ints([2, 4], 3), axis=1, reduction='none')",
    "axis weight": "F.cross_entropy(t([2, 3, 4]), ints([2, 4], 3), weight=pos([3]), axis=1)",
    "axis soft": (
        "F.cross_entropy(t([2, 3, 4]), F.softmax(t([2, 3, 4], seed=3), axis=1), soft_label=True, axis=1)"
    ),
    "pixels": "F.cross_entropy(t([1, 3, 2, 2]), ints([1, 2, 2], 3), axis=1)",
    "pixels last": "F.cross_entropy(t([1, 2, 2, 3]), ints([1, 2, 2, 1], 3))",
    "no softmax": "F.cross_entropy(F.softmax(t([4, 3])), ints([4], 3), use_softmax=False)",
    "no softmax soft": (
        "F.cross_entropy(F.softmax(t([4, 3])), F.softmax(t([4, 3], seed=3)), soft_label=True, "
        "use_softmax=False)"
    ),
    "no softmax weight": (
        "F.cross_entropy(F.softmax(t([4, 3])), ints([4], 3), weight=pos([3]), use_softmax=False)"
    ),
    "large": "F.cross_entropy(t([2, 3]) * 1000, ints([2], 3))",
    "one class": "F.cross_entropy(t([2, 1]), ints([2], 1))"
}
_GRADIENTS = ("hard", "weight", "ignored index", "soft", "soft weight", "smoothing", "axis", "no softmax")

_OTHERS = {
    "nll_loss": "F.nll_loss(F.log_softmax(t([4, 3])), ints([4], 3))",
    "nll_loss/weight": "F.nll_loss(F.log_softmax(t([4, 3])), ints([4], 3), weight=pos([3]))",
    "nll_loss/weight sum": "F.nll_loss(t([4, 3]), ints([4], 3), weight=pos([3]), reduction='sum')",
    "nll_loss/none": "F.nll_loss(t([4, 3]), ints([4], 3), weight=pos([3]), reduction='none')",
    "nll_loss/ignored": "F.nll_loss(t([4, 3]), paddle.to_tensor([0, 1, 2, 1]), ignore_index=1)",
    "nll_loss/pixels": "F.nll_loss(t([2, 3, 2, 2]), ints([2, 2, 2], 3))",
    "nll_loss/pixels none": "F.nll_loss(t([2, 3, 2, 2]), ints([2, 2, 2], 3), reduction='none')",
    "nll_loss/gradient": "grad(lambda x: F.nll_loss(x, ints([4], 3), weight=pos([3])), t([4, 3]))",
    "binary_cross_entropy": "F.binary_cross_entropy(F.sigmoid(t([3, 2])), bools([3, 2]).astype('float32'))",
    "binary_cross_entropy/weight": (
        "F.binary_cross_entropy(F.sigmoid(t([3, 2])), bools([3, 2]).astype('float32'), weight=pos([3, 2]))"
    ),
    "binary_cross_entropy/none": (
        "F.binary_cross_entropy(F.sigmoid(t([3, 2])), pos([3, 2], seed=4) * 0.9, reduction='none')"
    ),
    "binary_cross_entropy/certain": (
        "F.binary_cross_entropy(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0]), reduction='none')"
    ),
    "binary_cross_entropy/gradient": (
        "grad(lambda x: F.binary_cross_entropy(F.sigmoid(x), bools([3, 2]).astype('float32')), t([3, 2]))"
    ),
    "with_logits": "F.binary_cross_entropy_with_logits(t([3, 2]), bools([3, 2]).astype('float32'))",
    "with_logits/weight": (
        "F.binary_cross_entropy_with_logits(t([3, 2]), bools([3, 2]).astype('float32'), weight=pos([2]))"
    ),
    "with_logits/pos_weight": (
        "F.binary_cross_entropy_with_logits(t([3, 2]), bools([3, 2]).astype('float32'), pos_weight=pos([2]))"
    ),
    "with_logits/both": (
        "F.binary_cross_entropy_with_logits(t([3, 2]), bools([3, 2]).astype('float32'), weight=pos([2]), "
        "pos_weight=pos([2], seed=2), reduction='none')"
    ),
    "with_logits/sum": (
        "F.binary_cross_entropy_with_logits(t([3, 2]) * 50, bools([3, 2]).astype('float32'), reduction='sum')"
    ),
    "with_logits/gradient": (
        "grad(lambda x: F.binary_cross_entropy_with_logits(x, bools([3, 2]).astype('float32'), "
        "pos_weight=pos([2])), t([3, 2]))"
    ),
    "mse_loss": "F.mse_loss(t([3, 2]), t([3, 2], seed=1))",
    "mse_loss/sum": "F.mse_loss(t([3, 2]), t([3, 2], seed=1), reduction='sum')",
    "mse_loss/none": "F.mse_loss(t([3, 2]), t([3, 2], seed=1), 'none')",
    "mse_loss/broadcast": "F.mse_loss(t([3, 2]), t([2], seed=1), 'none')",
    "mse_loss/square": "F.mse_loss(t([3, 1]), t([3], seed=1), 'none')",
    "mse_loss/gradient": "grad(F.mse_loss, t([3, 2]), t([3, 2], seed=1))",
    "square_error_cost": "F.square_error_cost(t([3, 2]), t([3, 2], seed=1))",
    "l1_loss": "F.l1_loss(t([3, 2]), t([3, 2], seed=1))",
    "l1_loss/sum": "F.l1_loss(t([3, 2]), t([3, 2], seed=1), reduction='sum')",
    "l1_loss/none": "F.l1_loss(t([3, 2]), t([3, 2], seed=1), reduction='none')",
    "l1_loss/gradient": "grad(F.l1_loss, t([3, 2]), t([3, 2], seed=1))",
    "smooth_l1_loss": "F.smooth_l1_loss(t([3, 2]) * 3, t([3, 2], seed=1))",
    "smooth_l1_loss/delta": "F.smooth_l1_loss(t([3, 2]) * 3, t([3, 2], seed=1), delta=0.5, reduction='none')",
    "smooth_l1_loss/gradient": "grad(lambda x, y: F.smooth_l1_loss(x * 3, y), t([3, 2]), t([3, 2], seed=1))",
    "kl_div": "F.kl_div(F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1)))",
    "kl_div/batchmean": "F.kl_div(F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1)), 'batchmean')",
    "kl_div/sum": "F.kl_div(F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1)), reduction='sum')",
    "kl_div/none": "F.kl_div(F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1)), reduction='none')",
    "kl_div/zero target": "F.kl_div(t([2]), paddle.to_tensor([0.0, 1.0]), reduction='none')",
    "kl_div/gradient": "grad(lambda x: F.kl_div(F.log_softmax(x), F.softmax(t([3, 2], seed=1))), t([3, 2]))",
    "margin_ranking_loss": (
        "F.margin_ranking_loss(t([4]), t([4], seed=1), paddle.to_tensor([1.0, -1.0, 1.0, -1.0]))"
    ),
    "margin_ranking_loss/margin": (
        "F.margin_ranking_loss(t([4]), t([4], seed=1), paddle.to_tensor([1.0, -1.0, 1.0, -1.0]), 0.5, 'none')"
    ),
    "cosine_embedding_loss": (
        "F.cosine_embedding_loss(t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1, -1, 1]))"
    ),
    "cosine_embedding_loss/margin": (
        "F.cosine_embedding_loss(t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1, -1, -1]), margin=0.2, "
        "reduction='none')"
    ),
    "hinge_embedding_loss": "F.hinge_embedding_loss(t([4]), paddle.to_tensor([1.0, -1.0, 1.0, -1.0]))",
    "soft_margin_loss": "F.soft_margin_loss(t([4]), paddle.to_tensor([1.0, -1.0, 1.0, -1.0]))",
    "multi_label_soft_margin_loss": (
        "F.multi_label_soft_margin_loss(t([2, 3]), bools([2, 3]).astype('float32'))"
    ),
    "multi_margin_loss": "F.multi_margin_loss(t([4, 3]), ints([4], 3))",
    "triplet_margin_loss": "F.triplet_margin_loss(t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2))",
    "triplet_margin_loss/swap": (
        "F.triplet_margin_loss(t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2), swap=True, reduction='none')"
    ),
    "poisson_nll_loss": "F.poisson_nll_loss(t([4]), ints([4], 5, 'float32'))",
    "gaussian_nll_loss": "F.gaussian_nll_loss(t([4]), t([4], seed=1), pos([4], seed=2))",
    "sigmoid_focal_loss": "F.sigmoid_focal_loss(t([4, 3]), bools([4, 3]).astype('float32'))",
    "sigmoid_focal_loss/normalizer": (
        "F.sigmoid_focal_loss(t([4, 3]), bools([4, 3]).astype('float32'), paddle.to_tensor([2.0]), "
        "reduction='none')"
    ),
    "log_loss": "F.log_loss(F.sigmoid(t([4, 1])), bools([4, 1]).astype('float32'))",
    "dice_loss": "F.dice_loss(F.softmax(t([2, 3, 2])), ints([2, 3, 1], 2))",
    "npair_loss": "F.npair_loss(t([3, 4]), t([3, 4], seed=1), ints([3], 3))",
    "label_smooth": "F.label_smooth(F.one_hot(ints([3], 4), 4), epsilon=0.2)",
    "softmax_with_cross_entropy": "F.softmax_with_cross_entropy(t([4, 3]), ints([4, 1], 3))",
    "softmax_with_cross_entropy/softmax": (
        "F.softmax_with_cross_entropy(t([4, 3]), ints([4, 1], 3), return_softmax=True)"
    ),
    "ctc_loss": (
        "F.ctc_loss(t([5, 2, 4]), ints([2, 2], 3, 'int32') + 1, paddle.to_tensor([5, 4]), "
        "paddle.to_tensor([2, 1]), reduction='none')"
    ),
    "hsigmoid_loss": "F.hsigmoid_loss(t([3, 4]), ints([3, 1], 5), 5, t([4, 4], seed=1), t([4, 1], seed=2))",
    "Layer/CrossEntropyLoss": (
        "nn.CrossEntropyLoss(weight=pos([3]), reduction='sum')(t([4, 3]), ints([4], 3))"
    ),
    "Layer/MSELoss": "nn.MSELoss()(t([3, 2]), t([3, 2], seed=1))",
    "Layer/L1Loss": "nn.L1Loss(reduction='sum')(t([3, 2]), t([3, 2], seed=1))",
    "Layer/NLLLoss": "nn.NLLLoss()(t([4, 3]), ints([4], 3))",
    "Layer/BCELoss": "nn.BCELoss()(F.sigmoid(t([3])), bools([3]).astype('float32'))",
    "Layer/BCEWithLogitsLoss": "nn.BCEWithLogitsLoss()(t([3]), bools([3]).astype('float32'))",
    "Layer/SmoothL1Loss": "nn.SmoothL1Loss(delta=2.0)(t([3]) * 4, t([3], seed=1))",
    "Layer/KLDivLoss": (
        "nn.KLDivLoss(reduction='sum')(F.log_softmax(t([3, 2])), F.softmax(t([3, 2], seed=1)))"
    ),
    "Layer/MarginRankingLoss": (
        "nn.MarginRankingLoss(0.3)(t([2]), t([2], seed=1), paddle.to_tensor([1.0, -1.0]))"
    ),
    "Layer/CosineEmbeddingLoss": (
        "nn.CosineEmbeddingLoss(margin=0.1)(t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1, -1, 1]))"
    ),
    "raises/cross_entropy for a reduction": "F.cross_entropy(t([4, 3]), ints([4], 3), reduction='mode')",
    "raises/cross_entropy for another batch": "F.cross_entropy(t([4, 3]), ints([5], 3))",
    "raises/cross_entropy for a label beyond": "F.cross_entropy(t([2, 3]), paddle.to_tensor([0, 3]))",
    "raises/cross_entropy for soft labels of another shape": (
        "F.cross_entropy(t([4, 3]), t([4, 2]), soft_label=True)"
    ),
    "raises/cross_entropy for a weight of another size": (
        "F.cross_entropy(t([4, 3]), ints([4], 3), weight=pos([2]))"
    ),
    "raises/cross_entropy for an axis": "F.cross_entropy(t([4, 3]), ints([4], 3), axis=2)",
    "raises/mse_loss for shapes": "F.mse_loss(t([3, 2]), t([3, 3]))",
    "raises/mse_loss for a reduction": "F.mse_loss(t([3]), t([3]), 'average')",
    "raises/nll_loss for labels of another size": "F.nll_loss(t([4, 3]), ints([3], 3))",
    "raises/bce for shapes": "F.binary_cross_entropy(pos([3]) / 2, pos([4]) / 2)",
}

CALLS: dict[str, str] = {
    **{f"cross_entropy/{name}": code for name, code in _ENTROPY.items()},
    **{
        f"cross_entropy/gradient/{name}": f"grad(lambda x: {_ENTROPY[name].replace(start, 'x', 1)}, {start})"
        for name in _GRADIENTS
        for start in [_ENTROPY[name].partition("F.cross_entropy(")[2].split("), ")[0] + ")"]
    },
    **_OTHERS,
}
