"""What the passes gain: ms a step with and without them, for training and for prediction.

``python -m bench.passes [--network lenet|vgg|resnet|mlp] [--kind train|program|predict] [--without PASS]
[--batch 64] [--steps 60] [--rounds 10]``. ``train``: a converted network, its loss, backward and Adam;
``program``: the same as a static Program that an Executor runs; ``predict``: the converted network alone.
Each ``--without`` (the name of a pass's function) adds a row in which that pass is left out. ResNet-18 and
the VGG of 32 and 64 channels see pictures of 3 x 32 x 32. All start from the same weights, so the losses of
the rows can be compared.
"""

from __future__ import annotations

import sys

from bench.peers.engine_passes import KINDS, NETWORKS
from bench.steps import Contenders, compare, parser

WARM_UP = 3


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    made = parser("bench.passes", __doc__.splitlines()[0], 64, 60, 10)
    made.add_argument("--network", choices=list(NETWORKS), default="lenet")
    made.add_argument("--kind", choices=KINDS, default="train")
    made.add_argument("--without", metavar="PASS", action="append", default=[])
    options = made.parse_args(arguments)
    module = "bench.peers.engine_passes"
    shared = [options.network, options.kind, str(options.batch)]
    found: Contenders = {
        "engine without passes": (sys.executable, module, ["0", *shared]),
        "engine with passes": (sys.executable, module, ["1", *shared]),
    }
    for name in options.without:
        found[f"engine without {name}"] = (sys.executable, module, ["1", *shared, name])
    compare(f"{options.network}, {options.kind}", found, options, WARM_UP)


if __name__ == "__main__":
    main()
