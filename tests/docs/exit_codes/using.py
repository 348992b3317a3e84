"""Cases of runs, predict, inspect, run and launch."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import h5py

from engine import jit, nn
from engine.files.untrusted import guarded
from engine.inference import verify_model
from engine.inference.verify_model import Verified
from resources.locks import LOCK_NAME, Lock, take
from tests.docs.exit_codes.place import Place, Released, Words, case
from tests.robust import untrusted_models
from tests.robust.hostile_models import attribute, forge_files


@case("runs", "no such folder")
def _(place: Place) -> Words:
    return ["runs", "--in", place.tmp / "nowhere"]


@case("runs", "what is described is not a run")
def _(place: Place) -> Words:
    return ["runs", "describe", place.tmp, "--name", "first"]


@case("runs", "a tag that is too long")
def _(place: Place) -> Words:
    return ["runs", "describe", place.run(), "--tags", "x" * 60]


@case("runs", "a run that is deleted is running")
def _(place: Place) -> Words:
    run = place.run()
    lock = take(run / LOCK_NAME)
    assert isinstance(lock, Lock)
    place.around = Released(lock)
    return ["runs", "delete", run]


@case("checkpoints", "no such run")
def _(place: Place) -> Words:
    return ["checkpoints", place.tmp / "nowhere"]


@case("checkpoints", "none that can be read")
def _(place: Place) -> Words:
    run = place.run()
    for path in (run / "checkpoints").iterdir():
        path.write_bytes(b"x")
    return ["checkpoints", run]


@case("checkpoints", "no such layer")
def _(place: Place) -> Words:
    return ["checkpoints", place.run(), "--gif", place.tmp / "a.gif", "--layer", "conv9"]


@case("checkpoints", "a file with another ending")
def _(place: Place) -> Words:
    return ["checkpoints", place.run(), "--gif", "a.mp4"]


# ----- predict and inspect -----


@case("predict, inspect", "no such model")
def _(place: Place) -> Words:
    return ["predict", place.tmp / "nowhere", place.image()]


@case("predict, inspect", "a file of the model is damaged, or none of ours")
def _(place: Place) -> Words:
    path = place.prefix().with_name("bars.pdiparams")
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    return ["predict", place.tmp / "bars", place.image()]


@case("predict, inspect, convert", "the file is not a model")
def _(place: Place) -> Words:
    with h5py.File(place.tmp / "data.h5", "w") as file:
        file["x"] = [1.0]
    return ["inspect", place.tmp / "data.h5"]


@case("convert", "the suffix of DST is that of another format")
def _(place: Place) -> Words:
    return ["convert", place.prefix(), place.tmp / "model.onnx", "--format", "packed"]


@case("convert", "an edit can't be read")
def _(place: Place) -> Words:
    return ["convert", place.prefix(), place.tmp / "model.h5", "--dim", "x"]


@case("convert", "an edit names what the model does not have")
def _(place: Place) -> Words:
    return ["convert", place.prefix(), place.tmp / "model.h5", "--rename", "none=image"]


@case("diff", "the models differ")
def _(place: Place) -> Words:
    spec = [jit.input_spec.InputSpec([None, 4], "float32", "x")]
    jit.save(nn.Linear(4, 2), str(place.tmp / "other"), spec)
    return ["diff", place.prefix(), place.tmp / "other"]


@case("diff", "neither a second model nor `--training` or `--passes`")
def _(place: Place) -> Words:
    return ["diff", place.prefix()]


@case("diff", "a run without exported files")
def _(place: Place) -> Words:
    run = place.run()
    shutil.rmtree(run / "inference", ignore_errors=True)
    return ["diff", place.prefix(), run]


@case("diff --passes", "nothing changed by any pass")
def _(place: Place) -> Words:
    spec = [jit.input_spec.InputSpec([None, 4], "float32", "x")]
    jit.save(nn.Tanh(), str(place.tmp / "tanh"), spec)
    return ["diff", place.tmp / "tanh", "--passes"]


@case("diff, verify", "a model does not exist")
def _(place: Place) -> Words:
    return ["diff", place.prefix(), place.tmp / "nowhere"]


@case("verify", "the model that predicts differs from the saved one by more than the tolerance")
def _(place: Place) -> Words:
    apart = Verified("m", "native", True, 1, 0, {"prediction": 1.0}, [], False, 0.1, 1e-4)
    place.patch.setattr(verify_model, "verify_model", lambda *_: apart)
    return ["verify", place.prefix()]


@case("verify", "a number of samples below 1")
def _(place: Place) -> Words:
    return ["verify", place.prefix(), "--samples", "0"]


@case("predict, inspect", "files of two different saves")
def _(place: Place) -> Words:
    import engine

    spec = [jit.input_spec.InputSpec([None, 1, 28, 28], "float32", "x")]
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    jit.save(jit.to_static(net, input_spec=spec), str(place.tmp / "other"))
    assert engine.in_dynamic_mode()
    shutil.copy(place.tmp / "other.pdiparams", place.prefix().with_name("bars.pdiparams"))
    return ["predict", place.tmp / "bars", place.image()]


@case("inspect", "the model states a size that can't be loaded: the listing is printed")
def _(place: Place) -> Words:
    place.patch.setattr(guarded, "check", lambda suspects: None)  # the guarded reader has its own tests
    forge_files(place.prefix(), attribute("flatten_contiguous_range", stop_axis=2**41))
    return ["inspect", place.tmp / "bars"]


@case("inspect, train --start-from", "a file of weights names what it may not")
def _(place: Place) -> Words:
    place.patch.setattr(guarded, "check_by", lambda *arguments: None)
    (place.tmp / "net.pth").write_bytes(b"\x80\x02cos\nsystem\n.")
    return ["inspect", place.tmp / "net.pth"]


@case("predict", "an image is absent, or none; the others are answered")
def _(place: Place) -> Words:
    (place.tmp / "note.txt").write_text("no image")
    return ["predict", place.prefix(), place.tmp / "note.txt", place.image()]


@case("predict", "an untrusted model takes more time or memory than its limits")
def _(place: Place) -> Words:
    prefix = untrusted_models.unsign(
        untrusted_models.saved(untrusted_models.Endless(), place.tmp / "endless")
    )
    return ["predict", prefix, place.image(), "--seconds", "0.2"]


@case("predict", "the device does not exist, or needs an extra that is not installed")
def _(place: Place) -> Words:
    return ["predict", place.prefix(), place.image(), "--device", "gpu"]


@case("predict", "a device that has no such name")
def _(place: Place) -> Words:
    return ["predict", place.prefix(), place.image(), "--device", "tpu"]


@case("predict", "a limit that is not a number")
def _(place: Place) -> Words:
    return ["predict", place.prefix(), place.image(), "--memory", "much"]


# ----- run -----


@case("run", "no such script")
def _(place: Place) -> Words:
    return ["run", place.tmp / "nowhere.py"]


@case("run", "the device of --device does not exist, or needs an extra that is not installed")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("")
    return ["run", "--device", "gpu:1", place.tmp / "script.py"]


@case("run", "the script ends with `sys.exit(3)`")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("import sys\nsys.exit(3)\n")
    return ["run", place.tmp / "script.py"]


@case("run", "the script raises an error: its traceback, as Python shows it")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("raise ZeroDivisionError('no')\n")
    return ["run", place.tmp / "script.py"]


@case("run", "the script uses a name of Paddle that is missing")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("import paddle\npaddle.nonesuch\n")
    return ["run", place.tmp / "script.py"]


@case("run", "Ctrl+C: a traceback, and the status that a shell gives it")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("raise KeyboardInterrupt\n")
    return ["run", place.tmp / "script.py"]


# ----- launch -----


def _launched(place: Place, script: str, *words: str | Path) -> Words:
    (place.tmp / "script.py").write_text(script)
    return ["launch", *words, place.tmp / "script.py"]


@case("launch", "no such script")
def _(place: Place) -> Words:
    return ["launch", place.tmp / "nowhere.py"]


@case("launch", "no processes, an unknown option, options that do not fit")
def _(place: Place) -> Words:
    return _launched(place, "", "--nproc_per_node", "0")


@case("launch", "GPUs are named where there is none")
def _(place: Place) -> Words:
    place.patch.setitem(sys.modules, "engine.kernels.cupy", None)
    return _launched(place, "", "--selected_gpus=0,1")


@case("launch", "the file of machines can't be read, or is none")
def _(place: Place) -> Words:
    (place.tmp / "machines").write_text("node1:none\n")
    return _launched(place, "", "--hosts", place.tmp / "machines")


@case("launch", "mpi4py or mpiexec is not installed")
def _(place: Place) -> Words:
    place.patch.setitem(sys.modules, "mpi4py", None)
    return _launched(place, "", "--nproc_per_node=2", "--print_config=no")


@case("launch", "too many processes for the memory")
def _(place: Place) -> Words:
    return _launched(place, "", "--nproc_per_node", "100000")


@case("launch", "a process ends with `sys.exit(3)`; where it has printed, its last lines follow")
def _(place: Place) -> Words:
    return _launched(place, "import sys; sys.exit(3)")


@case("launch", "a process is ended by a signal")
def _(place: Place) -> Words:
    return _launched(place, "import os; os.abort()")


@case("launch", "all processes wait for one that exited with status 0; lines about the wait come first")
def _(place: Place) -> Words:
    script = """
import paddle.distributed as dist
from engine.distributed import waiting
waiting.REPORTED = 1.5
dist.init_parallel_env()
if dist.get_rank() == 0:
    dist.barrier()
"""
    return _launched(place, script, "--nproc_per_node=2", "--print_config=no", "--wait-timeout=1")


@case("launch", "Ctrl+C, SIGTERM or a closed terminal")
def _(place: Place) -> Words:
    return _launched(place, f"import os, time; os.kill({os.getpid()}, 15); time.sleep(60)")
