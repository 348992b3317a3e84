"""Records saliency and integrated gradients of PyTorch's autograd: run it with a Python that has torch.

``python tests/engine/explain/record_torch.py`` writes recorded/torch.npz: the weights of a small network, a
sample and a baseline, scores, the gradient, and integrated gradients of 16 steps, by torch in float64.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "recorded" / "torch.npz"
TARGET, STEPS = 2, 16


def weights() -> dict[str, np.ndarray]:
    """The weights as PyTorch has them, the sample and the baseline."""
    draw = np.random.default_rng(11)
    return {
        "conv.weight": draw.standard_normal((4, 2, 3, 3)) / 3,
        "conv.bias": draw.standard_normal(4),
        "linear.weight": draw.standard_normal((3, 64)) / 8,
        "linear.bias": draw.standard_normal(3),
        "image": draw.standard_normal((1, 2, 8, 8)),
        "baseline": draw.standard_normal((1, 2, 8, 8)),
    }


def main() -> None:
    import torch
    from torch.nn import functional as F

    found = weights()
    made = {name: torch.from_numpy(array) for name, array in found.items()}

    def scores(x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(F.conv2d(x, made["conv.weight"], made["conv.bias"], padding=1)), 2)
        return F.linear(x.flatten(1), made["linear.weight"], made["linear.bias"]).softmax(1)

    def gradient(x: torch.Tensor) -> torch.Tensor:
        x = x.clone().requires_grad_()
        scores(x)[:, TARGET].sum().backward()
        return x.grad

    image, baseline = made["image"], made["baseline"]
    places, shares = np.polynomial.legendre.leggauss(STEPS)
    mean = sum(
        share / 2 * gradient(baseline + (place + 1) / 2 * (image - baseline))
        for place, share in zip(places, shares, strict=True)
    )
    found["scores"] = scores(image).numpy()
    found["difference"] = (scores(image) - scores(baseline))[0, TARGET].numpy()
    found["saliency"] = gradient(image).numpy()
    found["integrated"] = (mean * (image - baseline)).numpy()
    FILE.parent.mkdir(exist_ok=True)
    np.savez(FILE, **found)


if __name__ == "__main__":
    main()
