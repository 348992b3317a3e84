"""All contenders are limited to one instruction set alike, and the report says whether it was simulated."""

import sys
from pathlib import Path

import pytest

from bench import isa
from bench.contest import Contender, limited
from engine.kernels.fast import target

OF_NUMPY_1 = ["SSSE3", "AVX2", "FMA3", "AVX512F", "AVX512CD", "AVX512_SKX"]
OF_NUMPY_2 = ["X86_V3", "X86_V4", "AVX512_ICL"]


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isa, "own", lambda: isa.AVX512)
    monkeypatch.setattr(isa, "numpys_names", lambda python: OF_NUMPY_1 if python == "old" else OF_NUMPY_2)


def test_every_library_is_limited_by_its_own_variable(wide: None) -> None:
    found = {
        "engine plan": Contender("new", "steps", environment={"MODEL_STUDIO_KERNELS": "auto"}),
        "torch eager": Contender("old", "torch_steps"),
        "onnxruntime": Contender("", "", missing="absent"),
    }
    made = limited(found, "avx2")
    assert made["onnxruntime"] == found["onnxruntime"]
    own = dict(made["engine plan"].environment)
    assert own.pop("MODEL_STUDIO_KERNELS") == "auto"
    assert own.pop("NPY_DISABLE_CPU_FEATURES") == "X86_V4 AVX512_ICL"
    assert own.pop("OPENBLAS_CORETYPE") in ("Zen", "Haswell")
    assert own == {
        "MODEL_STUDIO_ISA": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    }
    other = made["torch eager"].environment
    assert other["NPY_DISABLE_CPU_FEATURES"] == "AVX512F AVX512CD AVX512_SKX"
    assert limited(found, "") == found


def test_the_generator_knows_the_limit() -> None:
    assert isa.environment([])[target.VARIABLE] in target.LIMITS
    assert "NPY_DISABLE_CPU_FEATURES" not in isa.environment(["AVX2"])


@pytest.mark.parametrize(("vendor", "core"), [("AuthenticAMD", "Zen"), ("GenuineIntel", "Haswell")])
def test_openblas_has_its_own_names(
    vendor: str, core: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\nflags\t\t: fpu avx2\n")
    monkeypatch.setattr(isa, "_CPUINFO", file)
    assert isa.environment([])["OPENBLAS_CORETYPE"] == core
    monkeypatch.setattr(isa, "_CPUINFO", tmp_path / "absent")
    assert isa.cpuinfo() == {}


def test_a_simulated_instruction_set_is_called_so(wide: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isa.used("") == {"isa": "AVX-512", "simulated": False}
    assert isa.used("avx2") == {"isa": "AVX2", "simulated": True}
    text = isa.described(isa.used("avx2"))
    assert text.startswith("AVX2, simulated on a CPU with AVX-512: ")
    assert "ONNX Runtime is not" in text
    monkeypatch.setattr(isa, "own", lambda: isa.AVX2)
    for wanted in ("", "avx2"):
        assert isa.described(isa.used(wanted)) == "AVX2 is this CPU's own"
    found = {"torch eager": Contender("old", "torch_steps")}
    assert limited(found, "avx2") == found  # it has no more
    monkeypatch.setattr(isa, "own", lambda: "")
    assert isa.described(isa.used("")) == ""
    with pytest.raises(SystemExit, match=r"--isa avx2: this CPU \(.*\) has no AVX2"):
        isa.used("avx2")


def test_numpy_is_asked_in_its_own_interpreter() -> None:
    from numpy._core import _multiarray_umath as numpys

    names = isa.numpys_names(sys.executable)
    assert set(names) <= set(numpys.__cpu_dispatch__)
    assert all(numpys.__cpu_features__[name] for name in names)
