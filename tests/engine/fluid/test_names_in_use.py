"""Names that scripts of 1.5 and 1.6 use are there in the runner; others say what to use instead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import run

HERE = Path(__file__).resolve().parent
NAMES = [
    line.split()[0]
    for line in (HERE / "names_in_use.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
RESOLVES = """
import paddle
import paddle.fluid as fluid
for name in open("names.txt").read().split():
    found = paddle
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    assert callable(found), name
fluid.install_check.run_check()  # in static mode, which scripts of 1.x start in
"""


def test_every_name_resolves_in_the_runner(tmp_path: Path) -> None:
    assert len(NAMES) == 98
    (tmp_path / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    (tmp_path / "script.py").write_text(RESOLVES, encoding="utf-8")
    command = [sys.executable, "-m", "studio", "run", "script.py"]
    env = os.environ | {"PYTHONPATH": str(HERE.parents[2])}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "works well" in done.stdout


# Names around networks beyond those: of 1.7 and 1.8, and in scripts that build Programs.
MORE = (
    "fluid.FC",
    "fluid.data_feeder.check_type",
    "fluid.dygraph.container.Sequential",
    "fluid.Tensor",
    "fluid.enable_imperative",
    "fluid.framework.set_flags",
    "fluid.average.WeightedAverage",
    "fluid.embedding",
    "fluid.get_flags",
    "fluid.input.one_hot",
    "fluid.install_check.run_check",
    "fluid.io.DataLoader.from_generator",
    "fluid.io.PyReader",
    "fluid.io.xmap_readers",
    "fluid.layers.create_py_reader_by_data",
    "fluid.layers.double_buffer",
    "fluid.layers.py_reader",
    "fluid.layers.read_file",
    "fluid.memory_optimize",
    "fluid.metrics.Auc",
    "fluid.metrics.ChunkEvaluator",
    "fluid.nets.img_conv_group",
    "fluid.nets.simple_img_conv_pool",
    "fluid.one_hot",
    "fluid.optimizer.RMSProp",
    "fluid.reader.PyReader",
    "fluid.release_memory",
    "fluid.set_flags",
    "fluid.wrapped_decorator.signature_safe_contextmanager",
    "reader.xmap_readers",
    "dataset.uci_housing.train",
    "dataset.cifar.train10",
    "dataset.wmt16.get_dict",
    "dataset.common.md5file",
)


@pytest.mark.parametrize("name", MORE)
def test_it_is_there(name: str) -> None:
    import engine

    found = engine
    for part in name.split("."):
        found = getattr(found, part)


ABSENT = {
    "fluid.DataFeedDesc": "yield their rows to fluid.io.DataLoader.from_generator",
    "fluid.DatasetFactory": "yield their rows to fluid.io.DataLoader.from_generator",
    "fluid.communicator": "use paddle.distributed",
    "fluid.recordio_writer": "use fluid.io.DataLoader",
    "fluid.contrib.extend_with_decoupled_weight_decay": "use paddle.optimizer.AdamW",
    "fluid.contrib.layers.fused_elemwise_activation": "use layers.elementwise_add",
    "fluid.contrib.memory_usage": "watch the process's memory",
    "fluid.contrib.HDFSClient": "read local files",
    "fluid.layers.shuffle": "use paddle.batch and paddle.reader.shuffle",
    "fluid.incubate": "use paddle.distributed.fleet",
}


@pytest.mark.parametrize("name", ABSENT)
def test_names_without_meaning_raise_one_line_with_a_replacement(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"from engine import fluid\n{name}\n", encoding="utf-8")
    for owner, attribute in ((sys, "argv"), (sys, "path"), (sys, "meta_path")):
        monkeypatch.setattr(owner, attribute, list(getattr(owner, attribute)))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # pytest-qt has its own
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    assert run.run_script(str(path)) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{path}:2: paddle.{name}: is absent: ")
    assert ABSENT[name] in said
    assert said.count("\n") == 1
