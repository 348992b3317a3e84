"""What is said about passes and plans: what a pass did, how an operator runs, and why NumPy computes it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from resources import compiling
from studio.session.code.plan_view import Counts, PassStep, PlanPart, PlanRow, PlanSteps, UpdateCall
from widgets import theme

# Reasons that are those of all operators.
FOR_ALL = frozenset(("chosen", "absent", "foreign", "device"))


class PlanTexts:
    """Words in the language that holds now; ``where`` translates."""

    def __init__(self, where: QObject) -> None:
        self._where = where

    # ----- passes -----

    def step(self, step: PassStep, first: bool) -> str:
        """A pass with what it did in short."""
        tr = self._where.tr
        if first:
            return tr("As built: {0} operators").format(step.operators)
        gone, made = (sum(count for _, count in names) for names in (step.gone, step.made))
        short = []
        if gone and made:
            short.append(tr("{0} became {1}").format(gone, made))
        elif gone or made:
            short.append(f"\u2212{gone}" if gone else f"+{made}")
        if step.moved:
            short.append(tr("{0} moved").format(step.moved))
        if step.changed and not short:
            short.append(tr("{0} have other inputs").format(step.changed))
        return f"{step.name}: {', '.join(short) or tr('nothing')}"

    def did(self, step: PassStep, first: bool) -> str:
        """What a pass did, in one line."""
        tr = self._where.tr
        if first:
            return tr("The Program of a step before any pass: the network, its loss and the accuracy.")
        words = []
        if step.gone and step.made:
            words.append(tr("{0} became {1}").format(names(step.gone), names(step.made)))
        elif step.gone:
            words.append(tr("Removed {0}").format(names(step.gone)))
        elif step.made:
            words.append(tr("Added {0}").format(names(step.made)))
        if step.moved:
            words.append(tr("{0} moved").format(step.moved))
        if step.changed:
            words.append(tr("{0} have other inputs").format(step.changed))
        return "; ".join(words) + "." if words else tr("This pass changed nothing.")

    # ----- plans -----

    def title(self, part: PlanPart) -> str:
        """What a plan runs."""
        tr = self._where.tr
        return {
            "forward and backward": tr("forward and backward"),
            "forward": tr("forward"),
            "backward": tr("backward"),
        }.get(part.title, part.title)

    def part(self, part: PlanPart) -> str:
        """A plan with how many operators it has."""
        return self._where.tr("Execution: {0}").format(self.title(part))

    def memory(self, part: PlanPart) -> str:
        """The memory of a plan in short."""
        return self._where.tr("Memory: {0}, {1} MB").format(self.title(part), megabytes(part.peak))

    def runs(self, part: PlanPart, found: PlanSteps) -> str:
        """What computes the operators of a plan, counted."""
        tr = self._where.tr
        calls = [row for row in part.rows if row.how == "kernel"]
        compiled = sum(row.kernel == "fast" for row in calls)
        views, fused = sum(row.how == "view" for row in part.rows), sum(len(r.parts) > 1 for r in part.rows)
        threads = tr("1 thread") if found.threads == 1 else tr("{0} threads").format(found.threads)
        words = tr(
            "{0} operators; {1} of {2} kernels are compiled; {3} are fused, {4} views, {5} in place"
        ).format(len(part.rows), compiled, len(calls), fused, views, sum(row.reuses for row in part.rows))
        why = self.without_compiled(part)
        words += f" ({why})" if why else ""
        return tr("{0} \u00b7 batch {1}, {2}").format(words, found.batch_size, threads)

    def holds(self, part: PlanPart) -> str:
        """What a call of a plan holds."""
        tr = self._where.tr
        words = tr("Peak memory {0} MB, in {1}; weights and inputs: {2} MB.").format(
            megabytes(part.peak), part.during, megabytes(part.given)
        )
        if part.unknown:
            words += " " + tr("The sizes of {0} results are known only at run time.").format(part.unknown)
        return words

    def how(self, row: PlanRow) -> str:
        """How an operator runs."""
        tr = self._where.tr
        if row.how == "constant":
            return tr("once")
        if row.how == "flow":
            return tr("as Python")
        if row.how == "view":
            return tr("view")
        kernel = self.kernel(row.kernel)
        if row.how == "update":
            return tr("{0}, together").format(kernel)
        return tr("{0}, in place").format(kernel) if row.reuses else kernel

    def kernel(self, kernel: str) -> str:
        """Whose kernel it is."""
        tr = self._where.tr
        return {"fast": tr("compiled"), "compiling": tr("being compiled"), "frozen": tr("bound")}.get(
            kernel, "NumPy"
        )

    def runs_as(self, row: PlanRow) -> str:
        """How an operator runs, and why NumPy computes it."""
        return self.with_reason(self.how(row), row.why if row.how in ("kernel", "update") else "")

    def without_compiled(self, part: PlanPart) -> str:
        """Why no operator of a plan is compiled, where it is the same for all; else empty."""
        why = {row.why for row in part.rows if row.how == "kernel"}
        return self.reason(why.pop()) if len(why) == 1 and why <= FOR_ALL else ""

    def with_reason(self, words: str, why: str) -> str:
        """Words with a reason behind them, where there is one."""
        # What is so for all is said once, above the rows.
        known = why and why not in FOR_ALL
        return self._where.tr("{0}: {1}").format(words, self.reason(why)) if known else words

    def reason(self, why: str) -> str:
        """The words of a reason."""
        tr = self._where.tr
        return {
            "none": tr("there is no compiled kernel"),
            "product": tr("BLAS computes products"),
            "small": tr("too few elements to gain"),
            "as good": tr("not for these sizes"),
            "sizes": tr("sizes known only when it runs"),
            "bfloat16": tr("bfloat16"),
            "chosen": tr("the setting Kernels selects NumPy"),
            "absent": tr("llvmlite is not installed: {0}").format(compiling.INSTALL),
            "broken": tr("llvmlite can't be loaded: {0}").format(compiling.REINSTALL),
            "foreign": tr("an untrusted model"),
            "device": tr("another device"),
            "failed": tr("could not be compiled, see the log"),
        }.get(why, why)

    def size(self, row: PlanRow) -> str:
        """Millions of bytes of its results."""
        return "?" if row.bytes < 0 else megabytes(row.bytes) if row.bytes else ""

    def update(self, call: UpdateCall) -> str:
        """A call of the optimizer."""
        return self._where.tr("{0}: {1} parameters side by side, {2} numbers").format(
            call.name, call.parameters, theme.format_number(call.numbers)
        )

    def updates_by(self, call: UpdateCall) -> str:
        """Whose kernel such a call uses."""
        return self.with_reason(self.kernel(call.kernel), call.why)

    def alone(self, count: int) -> str:
        """How many parameters are updated one by one."""
        return self._where.tr("Parameters that are updated one by one: {0}").format(count)


def names(counts: Counts) -> str:
    """Names with their counts."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts)


def megabytes(size: int) -> str:
    """With two digits after the point."""
    return f"{size / 1e6:.2f}" if size >= 5000 or not size else "<0.01"


def operator_first(text: str, depth: int) -> str:
    """``a, b = softmax(x)`` as ``softmax(x) \u2192 a, b``: the operator is seen where the line is cut off."""
    results, equals, call = text.partition(" = ")
    return "    " * depth + (f"{call} \u2192 {results}" if equals else text)
