"""The CPU that kernels are compiled for: LLVM's names of it, how wide its vectors are, how many it holds.

It is this machine's, or a lesser one of it: ``MODEL_STUDIO_ISA=avx2`` omits AVX-512, so that a measurement
or a test here shows what most desktops do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

VARIABLE = "MODEL_STUDIO_ISA"
MANY = 32  # vectors that some CPUs hold at once
LIMITS = {"avx2": "avx512"}  # what is omitted, by the value of the variable: how its features begin


@dataclass(frozen=True)
class Target:
    """A CPU: LLVM's name of it, such as znver4, and its features, as LLVM writes them."""

    cpu: str
    features: str

    def has(self, feature: str) -> bool:
        """Whether the CPU has a feature, such as avx2."""
        return f"+{feature}" in self.features.split(",")

    @property
    def lanes(self) -> int:
        """How many floats a vector holds: 16 with AVX-512, 8 with AVX2, else 4. Doubles: half."""
        return 16 if self.has("avx512f") else 8 if self.has("avx2") else 4

    @property
    def registers(self) -> int:
        """How many vectors the CPU holds at once: 32 with AVX-512 and on 64-bit ARM, else 16."""
        return MANY if self.has("avx512f") or self.has("neon") else 16

    @property
    def masked_stores(self) -> bool:
        """Whether a masked store of a vector costs what a plain one does."""
        return self.has("avx512f")


# Targets to look at the code for, on any machine of their family: an AVX-512 CPU, and one without.
EXAMPLES = {
    "avx512": Target("skylake-avx512", "+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx2,+fma"),
    "avx2": Target("haswell", "+avx2,+fma"),
}

_assumed: Target | None = None


@cache
def here() -> Target:
    """This machine's CPU, as far as the variable lets it be used.

    Raises:
        ValueError: The variable names no limit.
    """
    import llvmlite.binding as llvm

    features = limited(llvm.get_host_cpu_features().flatten(), os.environ.get(VARIABLE, ""))
    return Target(llvm.get_host_cpu_name(), features)


def limited(features: str, wanted: str) -> str:
    """Features without those that the limit ``wanted`` omits; all of them where it is empty.

    Raises:
        ValueError: There is no such limit.
    """
    wanted = wanted.strip().lower()
    if not wanted:
        return features
    if wanted not in LIMITS:
        raise ValueError(f"{VARIABLE} is {wanted!r}; known: {', '.join(LIMITS)}, or nothing for all")
    found = features.split(",")
    return ",".join(f"-{each[1:]}" if each[1:].startswith(LIMITS[wanted]) else each for each in found)


def target() -> Target:
    """The CPU that code is written for now."""
    return _assumed or here()


@contextmanager
def assumed(other: Target) -> Iterator[None]:
    """Write code for another CPU, to be read and not to be run: for tests."""
    global _assumed
    before, _assumed = _assumed, other
    try:
        yield
    finally:
        _assumed = before


def lanes() -> int:
    """How many floats a vector of the target holds; see :attr:`Target.lanes`."""
    return target().lanes


def registers() -> int:
    """How many vectors the target holds at once; see :attr:`Target.registers`."""
    return target().registers
