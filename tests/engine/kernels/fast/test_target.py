"""The CPU that kernels are compiled for, and its limits."""

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast.target import EXAMPLES, Target, assumed, lanes, limited, registers, target

ZEN_4 = "+sse2,+avx2,+fma,+avx512f,+avx512vl,-avx512er,+gfni"


def test_a_limit_omits_avx512():
    assert limited(ZEN_4, " AVX2 ") == "+sse2,+avx2,+fma,-avx512f,-avx512vl,-avx512er,+gfni"
    assert limited(ZEN_4, "") == ZEN_4


def test_an_unknown_limit_is_refused():
    with pytest.raises(ValueError, match="MODEL_STUDIO_ISA is 'sse9'; known: avx2, or nothing for all"):
        limited(ZEN_4, "sse9")


@pytest.mark.parametrize(
    ("features", "wanted"),
    [
        (ZEN_4, (16, 32, True)),
        ("+sse2,+avx2,+fma,-avx512f", (8, 16, False)),
        ("+sse2,-avx2", (4, 16, False)),
        ("+neon", (4, 32, False)),
    ],
)
def test_lanes_and_registers_follow_from_the_features(features, wanted):
    cpu = Target("some", features)
    assert (cpu.lanes, cpu.registers, cpu.masked_stores) == wanted


def test_code_can_be_written_for_another_cpu():
    before = target()
    with assumed(EXAMPLES["avx512"]), assumed(EXAMPLES["avx2"]):
        assert (lanes(), registers()) == (8, 16)
    assert target() == before
