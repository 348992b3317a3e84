"""Metrics."""

_SCORES = "scores, labels = F.softmax(t([6, 4])), ints([6, 1], 4)\n"
_BINARY = "scores, labels = (pos([8]) / 1.2).numpy(), ints([8, 1], 2).numpy()\n"

CALLS: dict[str, str] = {
    "accuracy": _SCORES + "paddle.metric.accuracy(scores, labels)",
    "accuracy/k": _SCORES + "paddle.metric.accuracy(scores, labels, k=2)",
    "accuracy/labels in a row": _SCORES + "paddle.metric.accuracy(scores, labels.reshape([6, 1]), 3)",
    "accuracy/counts": (
        _SCORES + "c, n = paddle.zeros([1], 'int32'), paddle.zeros([1], 'int32')\n"
        "paddle.metric.accuracy(scores, labels, 1, c, n)"
    ),
    "Accuracy": (
        _SCORES + "m = paddle.metric.Accuracy()\nc = m.compute(scores, labels)\n"
        "(c, m.update(c), m.accumulate(), m.name())"
    ),
    "Accuracy/top": (
        _SCORES + "m = paddle.metric.Accuracy(topk=(1, 2), name='top')\nc = m.compute(scores, labels)\n"
        "(c, m.update(c), m.accumulate(), m.name())"
    ),
    "Accuracy/twice": (
        _SCORES + "m = paddle.metric.Accuracy()\nm.update(m.compute(scores, labels))\n"
        "m.update(m.compute(scores[:2], labels[2:4]))\nm.accumulate()"
    ),
    "Accuracy/reset": (
        _SCORES + "m = paddle.metric.Accuracy()\nm.update(m.compute(scores, labels))\nm.reset()\n"
        "m.accumulate()"
    ),
    "Accuracy/one hot": (
        _SCORES + "m = paddle.metric.Accuracy()\n"
        "m.update(m.compute(scores, F.one_hot(labels.reshape([6]), 4)))\n"
        "m.accumulate()"
    ),
    "Accuracy/labels without column": (
        _SCORES + "m = paddle.metric.Accuracy()\nm.update(m.compute(scores, labels.reshape([6])))"
    ),
    "Precision": (
        _BINARY + "m = paddle.metric.Precision()\nm.update(scores, labels)\n"
        "(m.accumulate(), m.tp, m.fp, m.name())"
    ),
    "Precision/none": "paddle.metric.Precision().accumulate()",
    "Precision/tensors": (
        "m = paddle.metric.Precision(name='p')\nm.update(pos([8]), ints([8], 2))\n(m.accumulate(), m.name())"
    ),
    "Recall": (
        _BINARY + "m = paddle.metric.Recall()\nm.update(scores, labels)\n"
        "(m.accumulate(), m.tp, m.fn, m.name())"
    ),
    "Recall/twice": (
        _BINARY + "m = paddle.metric.Recall()\nm.update(scores, labels)\nm.update(scores, 1 - labels)\n"
        "m.accumulate()"
    ),
    "Recall/reset": (
        _BINARY + "m = paddle.metric.Recall()\nm.update(scores, labels)\nm.reset()\nm.accumulate()"
    ),
    "Auc": (
        _BINARY + "m = paddle.metric.Auc()\nm.update(np.stack([1 - scores, scores], 1), labels)\n"
        "(m.accumulate(), m.name())"
    ),
    "Auc/thresholds": (
        _BINARY + "m = paddle.metric.Auc(num_thresholds=20)\n"
        "m.update(np.stack([1 - scores, scores], 1), labels)\n"
        "m.accumulate()"
    ),
    "Auc/nothing": "paddle.metric.Auc().accumulate()",
    "raises/accuracy for labels of another batch": "paddle.metric.accuracy(t([4, 3]), ints([5, 1], 3))",
}
