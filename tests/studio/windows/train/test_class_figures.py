"""Balanced accuracy and recall below the confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np


def test_the_matrix_says_the_balanced_accuracy_and_the_least_recalls(stage: Any) -> None:
    stage.start()
    confusion = [[0] * 10 for _ in range(10)]
    for label in range(6):
        confusion[label][label] = 10
    confusion[3] = [0, 0, 0, 5, 5, 0, 0, 0, 0, 0]
    stage.tell(
        "epoch", epoch=1, step=5, partial=False, train_loss=1.0, train_accuracy=0.5, validation_loss=0.7,
        validation_accuracy=0.9, confusion=confusion, best=True, seconds=1.0, hardest=[],
        pictures=np.zeros((0, 28, 28), np.uint8),
    )  # fmt: skip
    note = stage.studio.train_page.confusion_card.note
    assert note.isVisible()
    text = note.text().replace("\u2009", "")
    assert text == "Balanced accuracy 91.67%. Recall: 3 50.00%, 0 100.00%, 1 100.00%, 2 100.00%, \u2026"
