"""Log sums over all alignments of two sequences, vectorized: for CTC and transducers."""

from __future__ import annotations

from typing import Any

from engine.core.place import Array, ArrayModule
from engine.kernels.cpu.products import product


def log_softmax(xp: ArrayModule, x: Array) -> Any:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(-1, keepdims=True))


def _moved(xp: Any, x: Any, by: int) -> Any:
    """The last dimension shifted by ``by`` positions, filled with -inf."""
    out = xp.full_like(x, -xp.inf)
    if by > 0:
        out[..., by:] = x[..., :-by]
    else:
        out[..., :by] = x[..., -by:]
    return out


# -- CTC ---------------------------------------------------------------------------------------------------


class Ctc:
    """The lattice of Graves et al., Connectionist temporal classification (2006), for a batch.

    ``scores`` [T, N, C] are log probabilities, ``label`` [N, L], lengths [N]. A state is a label or one of
    the blanks around them: 2 L + 1 of them.
    """

    def __init__(
        self, xp: ArrayModule, scores: Array, label: Array, times: Array, lengths: Array, blank: int
    ) -> None:
        self.xp, self.times, self.lengths = xp, times, lengths
        batch, most = label.shape
        states = xp.full((batch, 2 * most + 1), blank, label.dtype)
        inside = xp.arange(most)[None, :] < lengths[:, None]
        states[:, 1::2] = xp.where(inside, label, blank)
        self.states = states
        self.at = xp.take_along_axis(scores, states[None], axis=2)  # [T, N, S]
        # From a label straight to the next one, where they differ.
        self.skips = xp.zeros(states.shape, bool)
        self.skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
        self.rows = xp.arange(batch)

    def forward(self) -> tuple[Any, Any]:
        """The log sum of all paths to each state [T, N, S], and over all whole paths [N]."""
        xp, at = self.xp, self.at
        alpha = xp.full(at.shape, -xp.inf, at.dtype)
        alpha[0, :, :2] = at[0, :, :2]
        for t in range(1, at.shape[0]):
            before = alpha[t - 1]
            sums = xp.logaddexp(before, _moved(xp, before, 1))
            skipped = xp.where(self.skips, _moved(xp, before, 2), -xp.inf)
            alpha[t] = xp.logaddexp(sums, skipped) + at[t]
        last = alpha[xp.maximum(self.times - 1, 0), self.rows]
        ends = last[self.rows, 2 * self.lengths]
        labels = last[self.rows, xp.maximum(2 * self.lengths - 1, 0)]
        total = xp.where(self.lengths > 0, xp.logaddexp(ends, labels), ends)
        return alpha, xp.where(self.times > 0, total, -xp.inf)

    def backward(self) -> Any:
        """The log sum of all paths from each state to the end [T, N, S], including the state's own score."""
        xp, at = self.xp, self.at
        beta = xp.full(at.shape, -xp.inf, at.dtype)
        place = xp.arange(at.shape[2])[None, :]
        last = (place == 2 * self.lengths[:, None]) | (place == 2 * self.lengths[:, None] - 1)
        arriving = xp.concatenate([self.skips[:, 2:], xp.zeros((len(self.rows), 2), bool)], axis=1)
        after = xp.full(at.shape[1:], -xp.inf, at.dtype)
        for t in range(at.shape[0] - 1, -1, -1):
            sums = xp.logaddexp(after, _moved(xp, after, -1))
            sums = xp.logaddexp(sums, xp.where(arriving, _moved(xp, after, -2), -xp.inf))
            ending = (self.times == t + 1)[:, None]
            sums = xp.where(ending, xp.where(last, 0.0, -xp.inf), sums)
            after = beta[t] = (sums + at[t]).astype(at.dtype, copy=False)
        return beta

    def occupancy(self, classes: int) -> tuple[Any, Any]:
        """The probability of each class at each step, given the label [T, N, C]; which have a path at all."""
        xp = self.xp
        alpha, total = self.forward()
        possible = xp.isfinite(total)
        inner = alpha + self.backward() - self.at - xp.where(possible, total, 0.0)[None, :, None]
        # No path passes a state with score -inf, and inf - inf is not a number.
        shares = xp.where(xp.isfinite(inner) & possible[None, :, None], xp.exp(inner), 0.0)
        one_hot = (self.states[:, :, None] == xp.arange(classes)).astype(self.at.dtype)
        return product(xp, shares.transpose(1, 0, 2), one_hot).transpose(1, 0, 2), possible


# -- transducers -------------------------------------------------------------------------------------------


class Transducer:
    """The lattice of Graves, Sequence transduction with recurrent neural networks (2012), for a batch.

    ``scores`` [N, T, U + 1, C] are log probabilities. From (t, u) a blank leads to (t + 1, u), the next label
    to (t, u + 1). Cells with the same t + u are computed at once: axis 0 of the arrays here is t + u.
    """

    def __init__(
        self, xp: ArrayModule, scores: Array, label: Array, times: Array, lengths: Array, blank: int
    ) -> None:
        self.xp, self.times, self.lengths = xp, times, lengths
        batch, time, width, _ = scores.shape
        self.shape = (batch, time, width)
        most = width - 1
        inside = xp.arange(most)[None, :] < lengths[:, None]
        chosen = xp.where(inside, label[:, :most], 0)
        index = xp.broadcast_to(chosen[:, None, :, None], (batch, time, most, 1))
        emit = xp.full((batch, time, width), -xp.inf, scores.dtype)
        emit[:, :, :most] = xp.where(
            inside[:, None, :], xp.take_along_axis(scores[:, :, :most], index, axis=3)[..., 0], -xp.inf
        )
        self.chosen = chosen
        self.u = xp.arange(width)[None, :]
        self.t = xp.arange(time + width - 1)[:, None] - self.u  # [D, U + 1]
        valid = (self.t >= 0) & (self.t < time)
        here = xp.clip(self.t, 0, time - 1)
        wide = self.u.repeat(time + width - 1, 0)
        real = valid[:, None, :] & (self.t[:, None, :] < times[None, :, None])
        real &= self.u[None] <= lengths[None, :, None]
        self.real = real  # [D, N, U + 1]
        skewed = (slice(None), here, wide)
        self.blank = xp.where(real, xp.moveaxis(scores[..., blank][skewed], 0, 1), -xp.inf)
        self.emit = xp.where(real, xp.moveaxis(emit[skewed], 0, 1), -xp.inf)
        # A blank from the last cell ends the path.
        self.final = real & (self.t[:, None, :] == times[None, :, None] - 1)
        self.final &= self.u[None] == lengths[None, :, None]

    def forward(self) -> tuple[Any, Any]:
        """The log sum of all paths to each cell, and over all whole paths [N]."""
        xp = self.xp
        alpha = xp.full(self.blank.shape, -xp.inf, self.blank.dtype)
        alpha[0, :, 0] = 0.0
        for d in range(1, len(alpha)):
            stay = alpha[d - 1] + self.blank[d - 1]
            step = _moved(xp, alpha[d - 1] + self.emit[d - 1], 1)
            alpha[d] = xp.where(self.real[d], xp.logaddexp(stay, step), -xp.inf)
        ends = xp.where(self.final, alpha + self.blank, -xp.inf)
        return alpha, ends.max((0, 2))

    def backward(self) -> Any:
        """The log sum of all paths from each cell to the end."""
        xp = self.xp
        beta = xp.full(self.blank.shape, -xp.inf, self.blank.dtype)
        after = xp.full(self.blank.shape[1:], -xp.inf, self.blank.dtype)
        for d in range(len(beta) - 1, -1, -1):
            stay = xp.where(self.final[d], 0.0, after) + self.blank[d]
            step = _moved(xp, after, -1) + self.emit[d]
            after = beta[d] = xp.logaddexp(stay, step).astype(beta.dtype, copy=False)
        return beta

    def arcs(self) -> tuple[Any, Any]:
        """The probability that a path takes each blank and each label: two of [N, T, U + 1]."""
        xp = self.xp
        alpha, total = self.forward()
        beta = self.backward()
        nothing = xp.full((1, *beta.shape[1:]), -xp.inf, beta.dtype)
        after = xp.concatenate([beta[1:], nothing])
        possible = xp.isfinite(total)
        base = alpha - xp.where(possible, total, 0.0)[None, :, None]
        stay = base + self.blank + xp.where(self.final, 0.0, after)
        step = base + self.emit + _moved(xp, after, -1)
        found = []
        for inner in (stay, step):
            shares = xp.where(xp.isfinite(inner) & possible[None, :, None], xp.exp(inner), 0.0)
            found.append(self._straight(shares))
        return found[0], found[1]

    def _straight(self, skewed: Any) -> Any:
        xp = self.xp
        _, time, width = self.shape
        d = xp.arange(time)[:, None] + xp.arange(width)[None, :]
        return xp.moveaxis(skewed[d, :, self.u.repeat(time, 0)], 2, 0)
