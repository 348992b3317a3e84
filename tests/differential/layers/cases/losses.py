"""Losses: reductions, weights, labels of several forms, ignored labels."""

_PAIR = "t([3, 4]), t([3, 4], seed=1)"
_PROBABILITIES = "pos([3, 4]) * 0.8, bools([3, 4]).astype('float32')"
_REDUCED = {
    "L1Loss": ("", _PAIR),
    "MSELoss": ("", _PAIR),
    "SmoothL1Loss": ("", "t([3, 4]) * 4, t([3, 4], seed=1)"),
    "KLDivLoss": ("", "F.log_softmax(t([3, 4])), F.softmax(t([3, 4], seed=1))"),
    "BCELoss": ("", _PROBABILITIES),
    "BCEWithLogitsLoss": ("", "t([3, 4]) * 3, bools([3, 4]).astype('float32')"),
    "PoissonNLLLoss": ("", "t([3, 4]), pos([3, 4], seed=1)"),
    "GaussianNLLLoss": ("", "t([3, 4]), t([3, 4], seed=1), pos([3, 4], seed=2)"),
    "MarginRankingLoss": ("margin=0.3, ", "t([4]), t([4], seed=1), paddle.to_tensor([1., -1., 1., -1.])"),
    "HingeEmbeddingLoss": ("margin=0.5, ", "t([3, 4]), bools([3, 4]).astype('float32') * 2 - 1"),
    "CosineEmbeddingLoss": ("margin=0.1, ", "t([3, 4]), t([3, 4], seed=1), paddle.to_tensor([1, -1, 1])"),
    "MultiLabelSoftMarginLoss": ("", "t([3, 4]), bools([3, 4]).astype('float32')"),
    "MultiMarginLoss": ("", "t([3, 4]), ints([3], 4)"),
    "SoftMarginLoss": ("", "t([3, 4]), bools([3, 4]).astype('float32') * 2 - 1"),
    "TripletMarginLoss": ("", "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)"),
    "TripletMarginWithDistanceLoss": ("", "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)"),
    "NLLLoss": ("", "F.log_softmax(t([3, 4])), ints([3], 4)"),
    "CrossEntropyLoss": ("", "t([3, 4]), ints([3], 4)"),
}
CASES = {
    **{
        f"{name}/{reduction}": (f"nn.{name}({more}reduction='{reduction}')", given)
        for name, (more, given) in _REDUCED.items()
        for reduction in ("mean", "sum", "none")
    },
    **{
        f"{name}/unknown reduction": (f"nn.{name}({more}reduction='max')", given)
        for name, (more, given) in _REDUCED.items()
    },
    "L1Loss/broadcast": ("nn.L1Loss()", "t([3, 4]), t([4], seed=1)"),
    "L1Loss/0d": ("nn.L1Loss()", "t([]), t([], seed=1)"),
    "MSELoss/broadcast": ("nn.MSELoss(reduction='none')", "t([3, 1]), t([4], seed=1)"),
    "MSELoss/float64": ("nn.MSELoss()", "t([3, 4], 'float64'), t([3, 4], 'float64', seed=1)"),
    "MSELoss/label int": ("nn.MSELoss()", "t([3, 4]), ints([3, 4], 3)"),
    "SmoothL1Loss/delta": ("nn.SmoothL1Loss(delta=0.3)", _PAIR),
    "KLDivLoss/batchmean": (
        "nn.KLDivLoss('batchmean')",
        "F.log_softmax(t([3, 4])), F.softmax(t([3, 4], seed=1))",
    ),
    "BCELoss/weight": ("nn.BCELoss(weight=pos([4]), reduction='sum')", _PROBABILITIES),
    "BCEWithLogitsLoss/weights": (
        "nn.BCEWithLogitsLoss(weight=pos([4]), pos_weight=pos([4], seed=3))",
        "t([3, 4]) * 3, bools([3, 4]).astype('float32')",
    ),
    "PoissonNLLLoss/full": ("nn.PoissonNLLLoss(full=True)", "t([3, 4]), pos([3, 4], seed=1) * 4"),
    "PoissonNLLLoss/plain": (
        "nn.PoissonNLLLoss(log_input=False, epsilon=1e-4)",
        "pos([3, 4]), pos([3, 4], seed=1)",
    ),
    "PoissonNLLLoss/epsilon": ("nn.PoissonNLLLoss(epsilon=0.0)", "pos([3, 4]), pos([3, 4], seed=1)"),
    "GaussianNLLLoss/full": (
        "nn.GaussianNLLLoss(full=True)",
        "t([3, 4]), t([3, 4], seed=1), pos([3, 4], seed=2)",
    ),
    "GaussianNLLLoss/one variance": (
        "nn.GaussianNLLLoss()",
        "t([3, 4]), t([3, 4], seed=1), pos([3, 1], seed=2)",
    ),
    "GaussianNLLLoss/rows": ("nn.GaussianNLLLoss()", "t([3, 4]), t([3, 4], seed=1), pos([3], seed=2)"),
    "MarginRankingLoss/defaults": ("nn.MarginRankingLoss()", "t([4]), t([4], seed=1), t([4], seed=2)"),
    "CosineEmbeddingLoss/vector": ("nn.CosineEmbeddingLoss()", "t([4]), t([4], seed=1), paddle.to_tensor(1)"),
    "CosineEmbeddingLoss/margin": (
        "nn.CosineEmbeddingLoss(margin=2)",
        "t([4]), t([4], seed=1), paddle.to_tensor(1)",
    ),
    "MultiLabelSoftMarginLoss/weight": (
        "nn.MultiLabelSoftMarginLoss(weight=pos([4]))",
        "t([3, 4]), bools([3, 4]).astype('float32')",
    ),
    "MultiMarginLoss/p 2": (
        "nn.MultiMarginLoss(p=2, margin=0.5, weight=pos([4]))",
        "t([3, 4]), ints([3], 4)",
    ),
    "TripletMarginLoss/swap": (
        "nn.TripletMarginLoss(margin=2.0, p=1, swap=True)",
        "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)",
    ),
    "TripletMarginLoss/negative": (
        "nn.TripletMarginLoss(margin=-1.0)",
        "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)",
    ),
    "TripletMarginWithDistanceLoss/distance": (
        "nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(1), margin=0.5, swap=True)",
        "t([3, 4]), t([3, 4], seed=1), t([3, 4], seed=2)",
    ),
    "NLLLoss/weight": ("nn.NLLLoss(weight=pos([4]))", "F.log_softmax(t([3, 4])), ints([3], 4)"),
    "NLLLoss/ignored": (
        "nn.NLLLoss(weight=pos([4]), ignore_index=1, reduction='none')",
        "F.log_softmax(t([3, 4])), ints([3], 4)",
    ),
    "NLLLoss/images": ("nn.NLLLoss()", "F.log_softmax(t([2, 3, 2, 2]), 1), ints([2, 2, 2], 3)"),
    "NLLLoss/wrong rank": ("nn.NLLLoss()", "t([3]), ints([3], 4)"),
    "CrossEntropyLoss/weight": ("nn.CrossEntropyLoss(weight=pos([4]))", "t([3, 4]), ints([3], 4)"),
    "CrossEntropyLoss/weight sum": (
        "nn.CrossEntropyLoss(pos([4]), reduction='sum')",
        "t([3, 4]), ints([3], 4)",
    ),
    "CrossEntropyLoss/weight none": (
        "nn.CrossEntropyLoss(pos([4]), reduction='none')",
        "t([3, 4]), ints([3, 1], 4)",
    ),
    "CrossEntropyLoss/ignored": ("nn.CrossEntropyLoss(ignore_index=1)", "t([3, 4]), ints([3], 4)"),
    "CrossEntropyLoss/all ignored": (
        "nn.CrossEntropyLoss(ignore_index=1)",
        "t([3, 4]), paddle.ones([3], 'int64')",
    ),
    "CrossEntropyLoss/ignored none": (
        "nn.CrossEntropyLoss(ignore_index=1, reduction='none')",
        "t([3, 4]), ints([3], 4)",
    ),
    "CrossEntropyLoss/column": ("nn.CrossEntropyLoss()", "t([3, 4]), ints([3, 1], 4)"),
    "CrossEntropyLoss/int32": ("nn.CrossEntropyLoss()", "t([3, 4]), ints([3], 4, 'int32')"),
    "CrossEntropyLoss/soft": (
        "nn.CrossEntropyLoss(soft_label=True)",
        "t([3, 4]), F.softmax(t([3, 4], seed=1))",
    ),
    "CrossEntropyLoss/soft weight": (
        "nn.CrossEntropyLoss(weight=pos([4]), soft_label=True)",
        "t([3, 4]), F.softmax(t([3, 4], seed=1))",
    ),
    "CrossEntropyLoss/soft axis": (
        "nn.CrossEntropyLoss(soft_label=True, axis=1)",
        "t([2, 3, 4]), F.softmax(t([2, 3, 4], seed=1), 1)",
    ),
    "CrossEntropyLoss/axis": ("nn.CrossEntropyLoss(axis=1)", "t([2, 3, 4]), ints([2, 1, 4], 3)"),
    "CrossEntropyLoss/axis weight": (
        "nn.CrossEntropyLoss(pos([3]), axis=1)",
        "t([2, 3, 4, 2]), ints([2, 4, 2], 3)",
    ),
    "CrossEntropyLoss/probabilities": (
        "nn.CrossEntropyLoss(use_softmax=False)",
        "F.softmax(t([3, 4])), ints([3], 4)",
    ),
    "CrossEntropyLoss/smoothing": ("nn.CrossEntropyLoss(label_smoothing=0.1)", "t([3, 4]), ints([3], 4)"),
    "CrossEntropyLoss/smoothing soft": (
        "nn.CrossEntropyLoss(label_smoothing=0.1, soft_label=True)",
        "t([3, 4]), F.softmax(t([3, 4], seed=1))",
    ),
    "CrossEntropyLoss/smoothing weight": (
        "nn.CrossEntropyLoss(pos([4]), label_smoothing=0.2)",
        "t([3, 4]), ints([3], 4)",
    ),
    "CrossEntropyLoss/out of range": ("nn.CrossEntropyLoss()", "t([3, 4]), ints([3], 9)"),
    "CrossEntropyLoss/wrong rank": ("nn.CrossEntropyLoss()", "t([3, 4]), ints([3, 2, 2], 4)"),
    "CrossEntropyLoss/float64": ("nn.CrossEntropyLoss()", "t([3, 4], 'float64'), ints([3], 4)"),
    "CTCLoss": (
        "nn.CTCLoss()",
        "t([5, 2, 4]), ints([2, 3], 3, 'int32') + 1, paddle.to_tensor([5, 4]), paddle.to_tensor([3, 2])",
    ),
    "CTCLoss/sum blank": (
        "nn.CTCLoss(blank=3, reduction='sum')",
        "t([5, 2, 4]), ints([2, 3], 3, 'int32'), paddle.to_tensor([5, 4]), paddle.to_tensor([3, 2])",
    ),
    "CTCLoss/none norm": (
        "nn.CTCLoss(reduction='none')",
        "t([5, 2, 4]), ints([2, 3], 3, 'int32') + 1, paddle.to_tensor([5, 4]), "
        "paddle.to_tensor([3, 2]), True",
    ),
    "RNNTLoss": (
        "nn.RNNTLoss()",
        "t([1, 3, 3, 4]), ints([1, 2], 3, 'int32') + 1, paddle.to_tensor([3], 'int32'), "
        "paddle.to_tensor([2], 'int32')",
    ),
    "RNNTLoss/sum": (
        "nn.RNNTLoss(blank=1, fastemit_lambda=0.0, reduction='sum')",
        "t([1, 3, 3, 4]), ints([1, 2], 3, 'int32') + 1, paddle.to_tensor([3], 'int32'), "
        "paddle.to_tensor([2], 'int32')",
    ),
    "HSigmoidLoss": ("nn.HSigmoidLoss(3, 5)", "t([4, 3]), ints([4, 1], 5)"),
    "HSigmoidLoss/no bias": ("nn.HSigmoidLoss(3, 5, bias_attr=False)", "t([4, 3]), ints([4], 5)"),
    "HSigmoidLoss/custom": (
        "nn.HSigmoidLoss(3, 4, is_custom=True)",
        "t([2, 3]), ints([2, 1], 4), paddle.to_tensor([[0, 2, -1], [0, 1, 3]]), "
        "paddle.to_tensor([[0, 1, -1], [1, 0, 0]])",
    ),
    "HSigmoidLoss/sparse": ("nn.HSigmoidLoss(3, 5, is_sparse=True)", "t([4, 3]), ints([4, 1], 5)"),
    "HSigmoidLoss/wrong": ("nn.HSigmoidLoss(3, 1)", "t([4, 3]), ints([4, 1], 5)"),
}
