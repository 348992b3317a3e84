"""The 64-bit Mersenne Twister, ``std::mt19937_64``, generated in blocks by NumPy.

M. Matsumoto and T. Nishimura, Mersenne Twister (1998); T. Nishimura, Tables of 64-bit Mersenne Twisters
(2000).

The recurrence x[k + 312] = x[k + 156] ^ twist(x[k], x[k + 1]) allows 311 new words at a time: twist needs
the words up to x[k + 311] only, and the sum with x[k + 156] splits in two where it meets the new words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

WORDS = 312
_STEP = WORDS - 1  # new words of one block
_BLOCKS = 32  # the most blocks at once: 78 KiB of words stay in the cache while they are used
_MIDDLE = 156
_MASK = (1 << 64) - 1


def _constant(value: int) -> Words:
    return np.array(value, np.uint64)  # 0-d arrays: NumPy takes 5 ns a word less than with scalars


UPPER, LOWER, MATRIX = 0xFFFFFFFF80000000, 0x7FFFFFFF, 0xB5026F5AA96619E9
TEMPERING = (29, 0x5555555555555555), (17, 0x71D67FFFEDA60000), (37, 0xFFF7EEE000000000), 43
_UPPER, _LOWER, _ONE, _MATRIX = map(_constant, (UPPER, LOWER, 1, MATRIX))
_TEMPERING = tuple(map(_constant, (*TEMPERING[0], *TEMPERING[1], *TEMPERING[2], TEMPERING[3])))

# Set by engine/kernels/fast: fills ``raw[WORDS:]`` with as many words as ``numbers`` has, and ``numbers``
# with their results; the same as NumPy's steps, word by word.
compiled: Callable[[Words, Words], None] | None = None


def seeded(seed: int) -> Words:
    """The first words of ``std::mt19937_64(seed)``."""
    words = [seed & _MASK]
    for n in range(1, WORDS):
        last = words[-1]
        words.append((6364136223846793005 * (last ^ (last >> 62)) + n) & _MASK)
    return np.array(words, np.uint64)


def seeded_by_sequence(seed: int) -> Words:
    """The first words of an engine seeded by ``std::seed_seq{seed}``, which takes the lower 32 bits."""
    halves = _seed_sequence(seed & 0xFFFFFFFF, 2 * WORDS)
    words = [low | (high << 32) for low, high in zip(halves[::2], halves[1::2], strict=True)]
    if words[0] >> 31 == 0 and not any(words[1:]):
        words[0] = 1 << 63
    return np.array(words, np.uint64)


def _seed_sequence(seed: int, n: int) -> list[int]:
    """``n`` numbers of 32 bits (C++ standard, rand.util.seedseq) from a sequence of one number."""
    mask = 0xFFFFFFFF
    t = 11 if n >= 623 else 7
    p = (n - t) // 2
    q = p + t
    b = [0x8B8B8B8B] * n
    for k in range(n):
        r = b[k] ^ b[(k + p) % n] ^ b[k - 1]
        r = (1664525 * (r ^ (r >> 27))) & mask
        b[(k + p) % n] = (b[(k + p) % n] + r) & mask
        r = (r + (1 if k == 0 else k % n + seed if k == 1 else k % n)) & mask
        b[(k + q) % n] = (b[(k + q) % n] + r) & mask
        b[k] = r
    for k in range(n, 2 * n):
        at, ahead, far = k % n, (k + p) % n, (k + q) % n
        r = (b[at] + b[ahead] + b[at - 1]) & mask
        r = (1566083941 * (r ^ (r >> 27))) & mask
        b[ahead] ^= r
        r = (r - at) & mask
        b[far] ^= r
        b[at] = r
    return b


class Twister:
    """The numbers of ``std::mt19937_64`` one after the other, as arrays of 64-bit words.

    The state is 312 successive words of the recurrence and how many of them are spent.
    """

    __slots__ = ("_at", "_filled", "_raw", "_ready", "_steps", "_twisted", "_twisted_low")

    def __init__(self, words: Words, spent: int = WORDS) -> None:
        self._raw: Words = np.array(words, np.uint64)
        self._ready: Words = _tempered(self._raw[spent:])
        self._at = 0  # the next word is _ready[_at]; _ready ends where the words in _raw end
        self._filled = WORDS
        self._steps: list[tuple[Words, ...]] = []

    def snapshot(self) -> tuple[Words, int]:
        """Words and how many of them are spent: ``Twister(*snapshot)`` continues from here."""
        at = self._filled - (len(self._ready) - self._at)
        start = min(at, self._filled - WORDS)
        return self._raw[start : start + WORDS].copy(), at - start

    def ready(self, least: int, wanted: int) -> Words:
        """A view of the next numbers, at least ``least`` of them and up to ``wanted``, which ``skip`` takes.

        ``least`` is a small number, below 312.
        """
        if len(self._ready) - self._at < least:
            self._refill(wanted)
        return self._ready[self._at : self._at + wanted]

    def skip(self, count: int) -> None:
        """Take ``count`` of the numbers that are ready."""
        self._at += count

    def _refill(self, wanted: int) -> None:
        left = self._ready[self._at :]
        blocks = min(_BLOCKS, -(-max(wanted - len(left), 1) // _STEP))
        raw, filled = self._raw, self._filled
        if blocks > len(self._steps):
            self._make_room(blocks)
        self._raw[:WORDS] = raw[filled - WORDS : filled]
        self._filled = WORDS + blocks * _STEP
        if compiled is not None:
            made: Words = np.empty(blocks * _STEP, np.uint64)
            compiled(self._raw, made)
        else:
            self._twist(blocks)
            made = _tempered(self._raw[WORDS : self._filled])
        self._ready = np.concatenate([left, made]) if len(left) else made
        self._at = 0

    def _twist(self, blocks: int) -> None:
        """New words of the recurrence, block by block."""
        twisted, low = self._twisted, self._twisted_low
        first, second = twisted[:_MIDDLE], twisted[_MIDDLE:]
        for x, following, middle, new, new_again, newer in self._steps[:blocks]:
            np.bitwise_and(x, _UPPER, twisted)
            np.bitwise_and(following, _LOWER, low)
            np.bitwise_or(twisted, low, twisted)
            np.right_shift(twisted, _ONE, twisted)
            np.bitwise_and(following, _ONE, low)
            np.multiply(low, _MATRIX, low)
            np.bitwise_xor(twisted, low, twisted)
            np.bitwise_xor(middle, first, new)
            np.bitwise_xor(new_again, second, newer)

    def _make_room(self, blocks: int) -> None:
        """Room for ``blocks`` blocks, and the views that their steps work on: making these takes as long as
        the arithmetic."""
        blocks = 1 if blocks == 1 else _BLOCKS
        raw = self._raw = np.empty(WORDS + blocks * _STEP, np.uint64)
        self._twisted, self._twisted_low = np.empty(_STEP, np.uint64), np.empty(_STEP, np.uint64)
        self._steps = [
            (
                raw[k : k + _STEP],
                raw[k + 1 : k + WORDS],
                raw[k + _MIDDLE : k + WORDS],
                raw[k + WORDS : k + WORDS + _MIDDLE],
                raw[k + WORDS : k + WORDS + _STEP - _MIDDLE],
                raw[k + WORDS + _MIDDLE : k + WORDS + _STEP],
            )
            for k in range(0, blocks * _STEP, _STEP)
        ]


def _tempered(words: Words) -> Words:
    """The numbers that the words of the recurrence give."""
    s29, m29, s17, m17, s37, m37, s43 = _TEMPERING
    numbers: Words = np.right_shift(words, s29)
    numbers &= m29
    numbers ^= words
    shifted = np.left_shift(numbers, s17)
    shifted &= m17
    numbers ^= shifted
    np.left_shift(numbers, s37, shifted)
    shifted &= m37
    numbers ^= shifted
    np.right_shift(numbers, s43, shifted)
    numbers ^= shifted
    return numbers
