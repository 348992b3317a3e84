"""Which scripts are taken for scripts of Paddle 1.x, from their text alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.core.alias.generation import is_old

OLD = [
    "import paddle.fluid as fluid",
    "import paddle.fluid",
    "from paddle import fluid",
    "import paddle\nx = paddle.fluid.layers.data",
    "from paddle.fluid.dygraph import Conv2D, to_variable",
    "import paddle\nimport paddle.fluid as fluid\nr = paddle.batch(paddle.dataset.mnist.train(), 3)",
    "import paddle\nimport paddle.fluid as fluid\nprint(paddle.__version__)",
    "import paddle as p\nfrom paddle.fluid import layers\np.reader.shuffle(r, 2)",
    "import paddle.fluid\nfrom paddle.distributed.launch import main",
    "def f():\n    import paddle.fluid as fluid\n    return fluid.nn.x",  # fluid's own names are free
    "import paddle.fluid as fluid\nclass A:\n    nn = 1\nA.nn",
]
NEW = [
    "import paddle",
    "print('import paddle.fluid')",
    "# import paddle.fluid as fluid\nimport numpy",
    "import paddle\nimport paddle.fluid as fluid\npaddle.enable_static()",
    "import paddle\nfrom paddle.fluid.dygraph import Layer\nfrom paddle.static import InputSpec",
    "import paddle\nfrom paddle.fluid.dygraph import Layer\n@paddle.jit.to_static\ndef f(x): pass",
    "import paddle.fluid as fluid\nimport paddle.nn.functional as F",
    "import paddle.fluid as fluid\nfrom paddle import to_tensor",
    "import paddle.fluid as fluid\nimport paddle.distributed as dist\ndist.get_rank()",
    "from .fluid import x\nimport mypaddle.fluid",
    "import paddle.fluid as",
    "\0",
]


@pytest.mark.parametrize("source", OLD)
def test_scripts_of_1x_are_old(source: str) -> None:
    assert is_old(source)
    assert is_old(source.encode())


@pytest.mark.parametrize("source", NEW)
def test_new_scripts_are_not_old(source: str) -> None:
    assert not is_old(source)


def test_a_text_is_only_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    assert is_old(f"import paddle.fluid\nopen({os.fspath(mark)!r}, 'w')")
    assert not mark.exists()
