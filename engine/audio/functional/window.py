"""Windows: the weights of the samples of a frame before its Fourier transform."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.tensor import creation

_Array = np.ndarray[Any, Any]


def _general_cosine(size: int, weights: Sequence[float]) -> _Array:
    places = np.linspace(-math.pi, math.pi, size)
    return sum((a * np.cos(k * places) for k, a in enumerate(weights)), np.zeros(size))


def _general_hamming(size: int, alpha: float) -> _Array:
    return _general_cosine(size, [alpha, 1.0 - alpha])


def _centred(size: int) -> _Array:
    return np.arange(size) - (size - 1.0) / 2.0


def _general_gaussian(size: int, p: float, sig: float) -> _Array:
    return np.asarray(np.exp(-0.5 * np.abs(_centred(size) / sig) ** (2 * p)))


def _gaussian(size: int, std: float) -> _Array:
    return np.exp(-(_centred(size) ** 2) / (2 * std * std))


def _exponential(size: int, center: float | None = None, tau: float = 1.0) -> _Array:
    center = (size - 1) / 2 if center is None else center
    return np.asarray(np.exp(-np.abs(np.arange(size) - center) / tau))


def _triang(size: int) -> _Array:
    rising = np.arange(1, (size + 1) // 2 + 1)
    if size % 2 == 0:
        half = (2 * rising - 1.0) / size
        return np.concatenate([half, half[::-1]])
    half = 2 * rising / (size + 1.0)
    return np.concatenate([half, half[-2::-1]])


def _bohman(size: int) -> _Array:
    away = np.abs(np.linspace(-1, 1, size)[1:-1])
    inner = (1 - away) * np.cos(math.pi * away) + np.sin(math.pi * away) / math.pi
    return np.concatenate([[0.0], inner, [0.0]])


def _cosine(size: int) -> _Array:
    return np.asarray(np.sin(math.pi / size * (np.arange(size) + 0.5)))


def _tukey(size: int, alpha: float = 0.5) -> _Array:
    if alpha <= 0:
        return np.ones(size)
    if alpha >= 1.0:
        return _general_hamming(size, 0.5)
    width = int(alpha * (size - 1) / 2.0)
    n = np.arange(size)
    edge = 2.0 * n / alpha / (size - 1)
    window = np.ones(size)
    window[: width + 1] = 0.5 * (1 + np.cos(math.pi * (edge[: width + 1] - 1)))
    last = size - width - 1
    window[last:] = 0.5 * (1 + np.cos(math.pi * (edge[last:] - 2.0 / alpha + 1)))
    return window


def _taylor(size: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> _Array:
    """Taylor, Design of line-source antennas for narrow beamwidth and low side lobes (1955)."""
    a = math.acosh(10 ** (sll / 20)) / math.pi
    ratio = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    lobes = np.arange(1, nbar)
    squares = lobes.astype(np.float64) ** 2
    heights = np.empty(nbar - 1)
    for i in range(nbar - 1):
        above = np.prod(1 - squares[i] / ratio / (a**2 + (lobes - 0.5) ** 2))
        below = 2 * np.prod(1 - squares[i] / np.delete(squares, i))
        heights[i] = (-1) ** i * above / below

    def weight(n: Any) -> Any:
        return 1 + 2 * heights @ np.cos(2 * math.pi * lobes[:, None] * (n - size / 2.0 + 0.5) / size)

    window = weight(np.arange(size))
    scale = weight((size - 1) / 2) if norm else 1.0
    return np.asarray(window / scale)


_WINDOWS: dict[str, Callable[..., _Array]] = {
    "blackman": lambda size: _general_cosine(size, [0.42, 0.50, 0.08]),
    "bohman": _bohman,
    "cosine": _cosine,
    "exponential": _exponential,
    "gaussian": _gaussian,
    "general_cosine": _general_cosine,
    "general_gaussian": _general_gaussian,
    "general_hamming": _general_hamming,
    "hamming": lambda size: _general_hamming(size, 0.54),
    "hann": lambda size: _general_hamming(size, 0.5),
    "taylor": _taylor,
    "triang": _triang,
    "tukey": _tukey,
}


def get_window(
    window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: str = "float64"
) -> Any:
    """The window of ``win_length`` samples that is called ``window``, or (name, parameters...).

    The names are hamming, hann, gaussian (std), general_gaussian (p, sig), general_hamming (alpha),
    general_cosine (weights), exponential (center, tau), triang, bohman, blackman, cosine, tukey (alpha) and
    taylor (nbar, sll, norm). With ``fftbins`` the window is periodic: the first ``win_length`` samples of the
    symmetric one that is a sample longer. Raises ArgumentError.
    """
    if not isinstance(window, (str, tuple)):
        raise ArgumentError(f"get_window: {type(window)} as window type is not supported; give a name")
    name, *parameters = (window,) if isinstance(window, str) else window
    if window in ("gaussian", "exponential"):
        raise ArgumentError(
            f"get_window: The '{window}' window needs one or more parameters -- pass a tuple."
        )
    if name not in _WINDOWS:
        raise ArgumentError(f"get_window: Unknown window type. got {name!r}; use one of {sorted(_WINDOWS)}")
    if name == "exponential" and not fftbins and parameters[:1] not in ([], [None]):
        raise ArgumentError("get_window: If sym==True, center must be None. set fftbins, or give no center")
    if int(win_length) != win_length or win_length < 0:
        raise ArgumentError(
            f"get_window: Window length M must be a non-negative integer: got win_length {win_length!r}"
        )
    size = int(win_length)
    if size <= 1:
        return creation.ones([size], dtype)
    values = _WINDOWS[name](size + bool(fftbins), *parameters)[:size]
    if name == "tukey" and parameters and parameters[0] >= 1.0:
        dtype = "float64"  # as in Paddle
    return creation.to_tensor(values, dtype)
