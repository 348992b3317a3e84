"""Operators of quantization applied by Paddle's names in a Program, for the cases of ``quantization``.

Like ``scope.py`` it runs under both interpreters, over one implementation of Paddle's API.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Ties of rounding to 8 bits stand at halves of 1/127.
ODD = np.array(
    [0.1, -0.5, np.nan, np.inf, -np.inf, 0.0, -0.0, 3.0, -3.0, 1e-30, 2.5 / 127, 3.5 / 127], "float32"
)
TIES = np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -127]], "float32")


def v(*shape: int, seed: float = 0, dtype: str = "float32", wide: float = 1.0) -> Any:
    """Values between -wide and wide."""
    size = int(np.prod(shape))
    return (np.round(np.sin(np.arange(size) * 1.7 + seed), 3) * wide).reshape(shape).astype(dtype)


def one(*values: float, dtype: str = "float32") -> Any:
    return np.array(values, dtype)


class Applied:
    """Applies operators over ``paddle``, each in a Program of its own, and gives what was fetched.

    ``gradient`` names the output whose gradient with respect to X is fetched too; with ``text`` the result is
    the Program's text, or the texts of its operators where there is a gradient.
    """

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle

    def apply(
        self,
        type: str,
        inputs: Any,
        outputs: Any,
        attrs: Any,
        gradient: str = "",
        text: bool = False,
        times: int = 1,
    ) -> Any:
        """``outputs`` by slot: shape and dtype, the slot of the input it replaces, or a buffer's value."""
        static = self.paddle.static
        self.paddle.enable_static()
        try:
            main, start = static.Program(), static.Program()
            guards = static.program_guard(main, start), static.scope_guard(static.Scope())
            with self.paddle.utils.unique_name.guard(), guards[0], guards[1]:
                return self._applied(main, start, type, inputs, outputs, attrs, gradient, text, times)
        finally:
            self.paddle.disable_static()

    def _applied(
        self,
        main: Any,
        start: Any,
        type: str,
        inputs: Any,
        outputs: Any,
        attrs: Any,
        gradient: str,
        text: bool,
        times: int,
    ) -> Any:
        static, block = self.paddle.static, main.global_block()
        replaced = [kind for kind in outputs.values() if isinstance(kind, str)]
        given: dict[str, Any] = {}
        feed: dict[str, Any] = {}
        for slot, value in inputs.items():
            if slot in replaced:
                given[slot] = [self._state(slot, value)]
                continue
            several = value if isinstance(value, list) else [value]
            names = [f"{slot}{n or ''}" for n in range(len(several))]
            given[slot] = [
                static.data(n, list(a.shape), str(a.dtype)) for n, a in zip(names, several, strict=True)
            ]
            for variable in given[slot]:
                variable.stop_gradient = slot != "X"
            feed.update(zip(names, several, strict=True))
        made: dict[str, Any] = {}
        for slot, kind in outputs.items():
            if isinstance(kind, str):
                (made[slot],) = given[kind]
            elif isinstance(kind, np.ndarray):
                made[slot] = self._state(f"o{slot}", kind)
            else:
                made[slot] = block.create_var(name=f"o{slot}", shape=kind[0], dtype=kind[1])
        block.append_op(type=type, inputs=given, outputs={s: [m] for s, m in made.items()}, attrs=attrs)
        fetch = list(made.values())
        if gradient:
            x = inputs["X"]
            weight = static.data("weight", list(x.shape), str(x.dtype))
            feed["weight"] = v(*x.shape, seed=5, dtype=str(x.dtype))
            found = static.gradients(made[gradient], given["X"], weight)
            if not found or found[0] is None:
                return "no gradient"
            fetch += found
        if text:
            return [str(o) for o in block.ops] if gradient else str(main)
        exe = static.Executor(self.paddle.CPUPlace())
        exe.run(start)
        state = {f"o{slot}": kind for slot, kind in outputs.items() if isinstance(kind, np.ndarray)}
        state.update({slot: inputs[slot] for slot in replaced})
        static.set_program_state(main, state)
        for _ in range(times):
            values = exe.run(main, feed=feed, fetch_list=fetch)
        return values

    def _state(self, name: str, value: Any) -> Any:
        made = self.paddle.static.create_parameter(list(value.shape), str(value.dtype), name)
        made.trainable, made.stop_gradient = False, True
        return made

    def linear(self, values: Any, thresholds: Any, type: str = "quantize_linear", **attrs: Any) -> Any:
        """quantize_linear or dequantize_linear as a quantized model has them."""
        attrs.setdefault("quant_axis", -1)
        dtype = "float32" if type == "quantize_linear" else str(thresholds.dtype)
        dtype = str(values.dtype) if attrs.get("only_observer") else dtype
        given = {"X": values, "Scale": thresholds, "ZeroPoint": one(0)}
        return self.apply(type, given, {"Y": (list(values.shape), dtype)}, attrs)

    def moved(self, times: int = 1, text: bool = False, **attrs: Any) -> Any:
        """quantize_linear in training."""
        given = {"X": v(3, 4, wide=2.0), "Scale": one(0.5), "ZeroPoint": one(0)}
        given.update({"InAccum": one(1), "InState": one(1)})
        outs: dict[str, Any] = {"Y": ([3, 4], "float32"), "OutScale": "Scale"}
        outs.update({"OutState": "InState", "OutAccum": "InAccum"})
        attrs = {"is_test": False, "quant_axis": -1, **attrs}
        return self.apply("quantize_linear", given, outs, attrs, "", text, times)

    def fake(self, type: str, x: Any, attrs: Any = None, kept: Any = None, size: int = 1, **more: Any) -> Any:
        """An operator of the largest absolute value, with ``size`` thresholds."""
        scale = ([size], "float32") if kept is None else kept
        outs = {"Out": (list(x.shape), str(x.dtype)), "OutScale": scale}
        return self.apply(type, {"X": x}, outs, attrs or {}, **more)

    def windowed(self, x: Any, scale: Any, step: int, ring: Any, attrs: Any = None, **more: Any) -> Any:
        """fake_quantize_range_abs_max with a window as long as ``ring``."""
        given = {"X": x, "InScale": scale, "Iter": np.array([step])}
        outs = {"Out": (list(x.shape), "float32"), "OutScale": "InScale", "OutScales": ring}
        attrs = {"window_size": len(ring), **(attrs or {})}
        return self.apply("fake_quantize_range_abs_max", given, outs, attrs, **more)

    def average(self, type: str, attrs: Any = None, x: Any = None, **more: Any) -> Any:
        """An operator of the moving average."""
        x = v(3, 4, wide=2.0) if x is None else x
        given = {"X": x, "InAccum": one(1), "InState": one(1), "InScale": one(0.5)}
        outs: dict[str, Any] = {"Out": (list(x.shape), "float32"), "OutScale": "InScale"}
        outs.update({"OutState": "InState", "OutAccum": "InAccum"})
        attrs = attrs or {}
        if attrs.get("is_test"):
            del given["InAccum"], given["InState"], outs["OutState"], outs["OutAccum"]
        if type == "moving_average_abs_max_scale":
            del given["InScale"]
            outs["OutScale"] = one(0.5)
        return self.apply(type, given, outs, attrs, **more)

    def back(self, x: Any, scales: Any, text: bool = False, **attrs: Any) -> Any:
        """fake_channel_wise_dequantize_max_abs."""
        outs = {"Out": (list(x.shape), str(x.dtype))}
        given = {"X": x, "Scales": scales}
        return self.apply("fake_channel_wise_dequantize_max_abs", given, outs, attrs, "", text)
