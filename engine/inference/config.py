"""``paddle.inference.Config``: which model a predictor runs, where and how."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from typing import Any

from engine.core.errors import ArgumentError, DeviceError, DTypeError, EngineError
from engine.core.place import CPUPlace, CUDAPlace, Place, backend
from engine.core.strictness import tolerate
from engine.inference.engines import OtherEngines
from engine.inference.kinds import PrecisionType
from engine.program.passes.pipeline import EXACT, PIPELINE


class PassBuilder:
    """The passes that a Program goes through before it runs; names of Paddle's passes are only stored."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def all_passes(self) -> list[str]:
        """The names of the passes, none where ``switch_ir_optim(False)`` was called."""
        if not self._config.ir_optim():
            return []
        return [each.rewrite.__name__ for each in PIPELINE if each.level <= EXACT]

    def append_pass(self, name: str) -> None:
        self._config._keep(f"append_pass({name})")

    def insert_pass(self, index: int, name: str) -> None:
        self._config._keep(f"insert_pass({name})")

    def delete_pass(self, name: str) -> None:
        self._config.delete_pass(name)

    def turn_on_debug(self) -> None:
        self._config.switch_ir_debug()


class Config(OtherEngines):
    """Settings of a predictor: ``Config(prog_file, params_file)``, ``Config(folder)``, ``Config(config)``.

    One argument may also be the prefix of the files. What has a meaning here: the model's files or bytes,
    ``enable_use_gpu``, ``set_cpu_math_library_num_threads``, ``switch_ir_optim``. Other switches are stored;
    ``summary()`` shows which of them have no effect.
    """

    Precision = PrecisionType
    Float32, Int8, Half, Bfloat16 = PrecisionType

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self._dir = self._prog = self._params = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._gpu: tuple[int, int] | None = None  # device, megabytes
        self._threads: int | None = None
        self._flags = {
            "mkldnn": True,
            "ir_optim": True,
            "ir_debug": False,
            "memory_optim": False,
            "profile": False,
            "log": True,
            "names": False,
            "feed_fetch": False,
            "save_optimized": False,
        }
        self._cache = 10
        if len(args) == 1 and isinstance(args[0], Config):
            for name, value in vars(args[0]).items():
                setattr(self, name, value.copy() if isinstance(value, dict) else value)
        elif args:
            self.set_model(*args)

    # -- the model -----------------------------------------------------------------------------------------
    def set_model(self, *args: Any) -> None:
        """The files of program and parameters, or the folder (or prefix) that they are in."""
        if len(args) not in (1, 2) or not all(isinstance(each, (str, os.PathLike)) for each in args):
            raise DTypeError(
                "Config: takes a folder, or the files of program and parameters: got "
                f"({', '.join(type(each).__name__ for each in args)})"
            )
        paths = [os.fspath(each) for each in args]
        if len(paths) == 1:
            self._dir, self._prog, self._params = paths[0], "", ""
        else:
            self._dir, (self._prog, self._params) = "", paths
        self._buffers = None

    def set_prog_file(self, path: str) -> None:
        """The file of the Program."""
        self._prog = os.fspath(path)

    def set_params_file(self, path: str) -> None:
        """The file of the parameters."""
        self._params = os.fspath(path)

    def set_model_buffer(self, prog: bytes, prog_size: int, params: bytes, params_size: int) -> None:
        """The bytes of program and parameters, and how many of each count."""
        for name, data in (("prog", prog), ("params", params)):
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise DTypeError(f"Config.set_model_buffer: {name} is bytes: got {type(data).__name__}")
        self._buffers = bytes(prog)[:prog_size], bytes(params)[:params_size]

    def model_from_memory(self) -> bool:
        """Whether ``set_model_buffer`` gave the model."""
        return self._buffers is not None

    def model_dir(self) -> str:
        return self._dir

    def prog_file(self) -> str:
        return self._prog

    def params_file(self) -> str:
        return self._params

    # -- where it runs -------------------------------------------------------------------------------------
    def enable_use_gpu(
        self,
        memory_pool_init_size_mb: int,
        device_id: int = 0,
        precision_mode: PrecisionType = PrecisionType.Float32,
    ) -> None:
        """Run on a GPU; where there is none, a LeniencyWarning, and the CPU as before (as in Paddle)."""
        try:
            backend(CUDAPlace(device_id))
        except EngineError as error:
            tolerate(DeviceError(f"Config.enable_use_gpu: no GPU can be used, so the CPU is: {error}"))
            return
        self._gpu = int(device_id), int(memory_pool_init_size_mb)
        if precision_mode is not PrecisionType.Float32:
            self._keep("enable_use_gpu precision", precision_mode.name)

    def disable_gpu(self) -> None:
        self._gpu = None

    def use_gpu(self) -> bool:
        return self._gpu is not None

    def gpu_device_id(self) -> int:
        return 0 if self._gpu is None else self._gpu[0]

    def memory_pool_init_size_mb(self) -> int:
        return 100 if self._gpu is None else self._gpu[1]

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """0: the pool grows as it is needed."""
        return 0.0

    def set_cpu_math_library_num_threads(self, cpu_math_library_num_threads: int) -> None:
        """How many threads BLAS uses in this process, from the making of a predictor on."""
        if cpu_math_library_num_threads < 1:
            raise ArgumentError(
                "Config.set_cpu_math_library_num_threads: must be at least 1: got "
                f"{cpu_math_library_num_threads}"
            )
        self._threads = int(cpu_math_library_num_threads)

    def cpu_math_library_num_threads(self) -> int:
        return 1 if self._threads is None else self._threads

    # -- how it runs ---------------------------------------------------------------------------------------
    def switch_ir_optim(self, x: int = True) -> None:
        """Whether the Program is optimized before it runs; the results are the same."""
        self._flags["ir_optim"] = bool(x)

    def ir_optim(self) -> bool:
        return self._flags["ir_optim"]

    def switch_ir_debug(self, x: int = True) -> None:
        self._flags["ir_debug"] = bool(x)
        self._keep("switch_ir_debug", bool(x))

    def pass_builder(self) -> PassBuilder:
        """The passes of the Program."""
        return PassBuilder(self)

    def delete_pass(self, name: str) -> None:
        self._keep(f"delete_pass({name})")

    def enable_memory_optim(self, x: bool = True) -> None:
        """Without effect: values are freed when nothing reads them any more in any case."""
        self._flags["memory_optim"] = bool(x)

    def enable_profile(self) -> None:
        """Stored; ``paddle.profiler`` measures a predictor as it does everything else."""
        self._flags["profile"] = True
        self._keep("enable_profile")

    def disable_glog_info(self) -> None:
        """Without effect: nothing is logged."""
        self._flags["log"] = False

    def glog_info_disabled(self) -> bool:
        return not self._flags["log"]

    def switch_use_feed_fetch_ops(self, x: int = True) -> None:
        self._flags["feed_fetch"] = bool(x)

    def use_feed_fetch_ops_enabled(self) -> bool:
        return self._flags["feed_fetch"]

    def switch_specify_input_names(self, x: bool = True) -> None:
        self._flags["names"] = bool(x)

    def specify_input_name(self) -> bool:
        return self._flags["names"]

    def enable_new_executor(self, x: bool = True) -> None:
        self._keep("enable_new_executor", bool(x))

    def enable_save_optim_model(self, save_optimized_model: bool = False) -> None:
        self._flags["save_optimized"] = bool(save_optimized_model)
        self._keep("enable_save_optim_model", bool(save_optimized_model))

    def set_optim_cache_dir(self, optim_cache_dir: str) -> None:
        self._keep("set_optim_cache_dir", optim_cache_dir)

    def enable_low_precision_io(self, x: bool = True) -> None:
        self._keep("enable_low_precision_io", bool(x))

    def exp_enable_mixed_precision_ops(self, white_list: Set[str]) -> None:
        self._keep("exp_enable_mixed_precision_ops", sorted(white_list))

    def exp_disable_mixed_precision_ops(self, black_list: Set[str]) -> None:
        self._keep("exp_disable_mixed_precision_ops", sorted(black_list))

    # -- oneDNN --------------------------------------------------------------------------------------------
    def enable_mkldnn(self) -> None:
        """Without effect: the CPU's kernels are NumPy's and the engine's own."""
        self._flags["mkldnn"] = True

    def disable_mkldnn(self) -> None:
        self._flags["mkldnn"] = False

    def mkldnn_enabled(self) -> bool:
        return self._flags["mkldnn"]

    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None:
        self._cache = int(capacity)

    def set_mkldnn_op(self, op_list: Set[str]) -> None:
        self._keep("set_mkldnn_op", sorted(op_list))

    def disable_mkldnn_fc_passes(self) -> None:
        self._keep("disable_mkldnn_fc_passes")

    def enable_mkldnn_bfloat16(self) -> None:
        self._keep("enable_mkldnn_bfloat16")

    def set_bfloat16_op(self, op_list: Set[str]) -> None:
        self._keep("set_bfloat16_op", sorted(op_list))

    def enable_mkldnn_int8(self, mkldnn_int8_enabled_op_types: Set[str] = frozenset()) -> None:
        self._keep("enable_mkldnn_int8", sorted(mkldnn_int8_enabled_op_types))

    def mkldnn_int8_enabled(self) -> bool:
        """False: int8 is not computed with."""
        return False

    def enable_quantizer(self) -> None:
        self._keep("enable_quantizer")

    # -- what a predictor asks -----------------------------------------------------------------------------
    def _place(self) -> Place:
        return CPUPlace() if self._gpu is None else CUDAPlace(self._gpu[0])

    def summary(self) -> str:
        """A table of the options, and of the switches that were called and have no effect here."""
        flags = {name: str(on).lower() for name, on in self._flags.items()}
        model = [("model_file", self._prog), ("params_file", self._params)]
        if self._buffers is not None:
            model = [("model_file", "(from memory)"), ("params_file", "(from memory)")]
        elif self._dir:
            model = [("model_dir", self._dir)]
        gpu = [("use_gpu", str(self.use_gpu()).lower())]
        if self._gpu is not None:
            gpu += [("gpu_device_id", str(self._gpu[0])), ("memory_pool_init_size", f"{self._gpu[1]}MB")]
        groups: list[Sequence[tuple[str, str]]] = [
            [("Option", "Value")],
            model,
            [
                ("cpu_math_thread", str(self.cpu_math_library_num_threads())),
                ("enable_mkldnn", flags["mkldnn"]),
                ("mkldnn_cache_capacity", str(self._cache)),
            ],
            gpu,
            [("use_xpu", "false")],
            [
                ("use_cinn_compiler", "false"),
                ("save_optimized_model", flags["save_optimized"]),
                ("ir_optim", flags["ir_optim"]),
                ("ir_debug", flags["ir_debug"]),
                ("memory_optim", flags["memory_optim"]),
                ("enable_profile", flags["profile"]),
                ("enable_log", flags["log"]),
                ("collect_shape_range_info", self.shape_range_info_path() or "false"),
            ],
        ]
        if self._stored:
            groups.append([("Without effect here", "Value"), *self._stored.items()])
        return _table(groups)


def _table(groups: Sequence[Sequence[tuple[str, str]]]) -> str:
    rows = [row for group in groups for row in group]
    widths = [max(len(row[n]) for row in rows) for n in range(2)]
    rule = "+".join(["", *("-" * (width + 2) for width in widths), ""])
    lines = ["", rule]
    for group in groups:
        lines += [_line(row, widths) for row in group]
        lines.append(rule)
    return "\n".join(lines) + "\n"


def _line(row: Iterable[str], widths: Sequence[int]) -> str:
    cells = (f" {cell.ljust(width)} " for cell, width in zip(row, widths, strict=True))
    return f"|{'|'.join(cells)}|"
