"""ms a step of ResNet-18 on pictures of CIFAR's size (forward, loss, backward), eager and static, with peers.

``python -m bench.resnet [--peer PYTHON] [--stem imagenet|cifar] [--batch 32] [--steps 20] [--rounds 5]
[--threads N]``. ``--stem imagenet`` is ``vision.models.resnet18`` as it is; ``cifar`` begins with a
convolution of 3 x 3 and no pooling, so that its planes are four times as high and wide. Every contender
starts from the same weights, drawn by a formula, and sees the same batch; parameters are not updated, so the
loss is the same at every step and for all.
"""

from __future__ import annotations

from bench.steps import compare, contenders, parser

WARM_UP = 2


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    made = parser("bench.resnet", __doc__.splitlines()[0], 32, 20, 5)
    made.add_argument("--stem", choices=("imagenet", "cifar"), default="imagenet")
    options = made.parse_args(arguments)
    found = contenders("bench.resnet", options.peer, "resnet", [options.stem, str(options.batch)])
    compare(f"ResNet-18, {options.stem} stem, 32 x 32", found, options, WARM_UP)


if __name__ == "__main__":
    main()
