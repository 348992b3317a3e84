"""Fourier transforms: sizes, axes, norms, dtypes, gradients, frequencies."""

_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_REAL = ("rfft", "ihfft", "rfftn", "ihfftn", "rfft2", "ihfft2")  # they take no complex values
_NORMS = ("backward", "forward", "ortho")


def _inputs(name: str, shape: str) -> dict[str, str]:
    """The same values in each dtype that the function takes."""
    dtypes = ["float32", "float64"] + ([] if name in _REAL else ["complex64", "complex128"])
    return {dtype: f"t({shape}, '{dtype}')" for dtype in dtypes}


def _one() -> dict[str, str]:
    calls = {}
    for name in _ONE:
        call = f"paddle.fft.{name}"
        double = "complex128" if name not in _REAL else "float64"
        for dtype, x in _inputs(name, "[3, 5]").items():
            calls[f"{name}/{dtype}"] = f"{call}({x})"
            calls[f"{name}/even {dtype}"] = f"{call}(t([4], '{dtype}'))"
        for norm in _NORMS:
            calls[f"{name}/{norm}"] = f"{call}(t([2, 6], '{double}'), norm='{norm}')"
            calls[f"{name}/{norm} gradient"] = (
                f"grad(lambda x: paddle.fft.{name}(x, norm='{norm}'), t([2, 5], '{double}'))"
            )
        for n in (1, 2, 3, 5, 7, 8):
            calls[f"{name}/n {n}"] = f"{call}(t([2, 5], '{double}'), {n})"
            calls[f"{name}/n {n} gradient"] = f"grad(lambda x: {call}(x, n={n}), t([2, 5], '{double}'))"
        for axis in ("0", "1", "-2", "None"):
            calls[f"{name}/axis {axis}"] = f"{call}(t([4, 3, 2], '{double}'), axis={axis})"
        calls[f"{name}/n, axis, norm"] = f"{call}(t([4, 3, 2], '{double}'), 5, 0, 'ortho', name='x')"
        if name not in (
            "irfft",
            "hfft",
        ):  # Paddle casts whole numbers to a real dtype there, which they refuse
            for dtype in ("int32", "int64", "int8", "uint8"):
                calls[f"{name}/{dtype}"] = f"{call}(ints([5], 9, '{dtype}'))"
            calls[f"{name}/default dtype"] = (
                f"paddle.set_default_dtype('float64')\n"
                f"[{call}(paddle.to_tensor([1, 5, 2])), {call}(paddle.to_tensor([1, 5, 2]), n=4)]"
            )
        calls[f"{name}/gradient of real"] = f"grad({call}, t([5], 'float64'))"
        calls[f"{name}/raises for bool"] = f"{call}(bools([4]))"
        calls[f"{name}/raises for float16"] = f"{call}(t([4], 'float16'))"
        for n in ("0", "-1", "2.5", "'3'", "[3]"):
            calls[f"{name}/raises for n {n}"] = f"{call}(t([4]), n={n})"
        for axis in ("1", "-2", "0.5", "[0]", "'0'"):
            calls[f"{name}/raises for axis {axis}"] = f"{call}(t([4]), axis={axis})"
        for norm in ("'random'", "None", "1"):
            calls[f"{name}/raises for norm {norm}"] = f"{call}(t([4]), norm={norm})"
        calls[f"{name}/raises for 0-d"] = f"{call}(t([]))"
        calls[f"{name}/raises for no elements"] = f"{call}(paddle.zeros([2, 0]))"
        if name in _REAL:
            calls[f"{name}/raises for complex"] = f"{call}(t([4], 'complex64'))"
    return calls


_ARGUMENTS = (
    "", "s=[3, 4]", "s=[5, 2]", "s=(4,), axes=(1,)", "axes=[0]", "axes=[1]", "axes=(0, 2)", "axes=(2, 0)",
    "axes=(-1, -3)", "s=[2, 5], axes=(2, 0)", "s=[6, 1], axes=(0, 1)", "s=[3, 3, 5]", "axes=[1, 2, 0]",
    "s=[4, 5, 2], axes=[2, 1, 0]", "norm='ortho'", "norm='forward'", "[2, 4], [0, 1], 'ortho'"
)


def _several() -> dict[str, str]:
    calls = {}
    for one in _ONE:
        name = f"{one}n"
        call = f"paddle.fft.{name}"
        double = "complex128" if name not in _REAL else "float64"
        for dtype, x in _inputs(name, "[2, 3, 4]").items():
            calls[f"{name}/{dtype}"] = f"{call}({x})"
        for arguments in _ARGUMENTS:
            calls[f"{name}/{arguments}"] = f"{call}(t([3, 4, 5], '{double}'), {arguments})"
        for arguments in ("", "s=[3, 4]", "s=[2, 5], axes=(2, 0)", "axes=(2, 0), norm='ortho'"):
            calls[f"{name}/{arguments} gradient"] = (
                f"grad(lambda x: {call}(x, {arguments}), t([2, 3, 4], '{double}'))"
            )
        if one not in ("irfft", "hfft"):
            calls[f"{name}/int64"] = f"{call}(ints([2, 3], 9))"
        for arguments in (
            "s=[2, 3, 4]", "s=3", "s=[0, 2]", "s=[1.5, 2]", "s=[3], axes=[0, 1]", "axes=[0, 1, 0]", "axes=0",
            "axes=[2]", "axes=[0.5]", "norm='x'"
        ):
            calls[f"{name}/raises for {arguments}"] = f"{call}(t([3, 4]), {arguments})"
        name = f"{one}2"
        call = f"paddle.fft.{name}"
        for arguments in (
            "", "s=[3, 5]", "axes=(0, 1)", "axes=(0, -1), norm='ortho'", "s=(3, 6), axes=[1, 0]", "axes=None"
        ):
            calls[f"{name}/{arguments}"] = f"{call}(t([2, 3, 4], '{double}'), {arguments})"
        calls[f"{name}/gradient"] = f"grad({call}, t([3, 4], '{double}'))"
        for arguments in ("s=[3]", "s=3", "axes=[0]", "axes=1", "s=[2, 2, 2]", "norm='x'", "axes=[0, 2]"):
            calls[f"{name}/raises for {arguments}"] = f"{call}(t([3, 4]), {arguments})"
        calls[f"{name}/raises for 1-d"] = f"{call}(t([4]))"
    return calls


def _frequencies() -> dict[str, str]:
    calls = {}
    for name in ("fftfreq", "rfftfreq"):
        call = f"paddle.fft.{name}"
        for arguments in (
            "5",
            "8",
            "1",
            "4, 0.5",
            "5, -0.25",
            "n=6, d=2",
            "6, dtype='float64'",
            "5, name='x'",
        ):
            calls[f"{name}/{arguments}"] = f"{call}({arguments})"
        calls[f"{name}/default dtype"] = f"paddle.set_default_dtype('float64')\n{call}(7, 0.1)"
        for arguments in ("0", "4, 0.0", "-3"):
            calls[f"{name}/raises for {arguments}"] = f"{call}({arguments})"
    for name in ("fftshift", "ifftshift"):
        call = f"paddle.fft.{name}"
        for arguments in (
            "", "axes=0", "axes=-2", "axes=1", "axes=(0,)", "axes=[0, 2]", "axes=[2, 1]", "axes=[-2]",
            "name='x'"
        ):
            calls[f"{name}/{arguments}"] = f"{call}(t([2, 3, 5]), {arguments})"
        for x in ("t([4])", "t([5])", "ints([5], 9)", "t([2, 5], 'complex64')", "t([3], 'float64')"):
            calls[f"{name}/of {x}"] = f"{call}({x})"
        calls[f"{name}/gradient"] = f"grad({call}, t([3, 4]))"
        calls[f"{name}/raises for axes"] = f"{call}(t([4]), axes=[1])"
    return calls


_STATIC = """\
feed = t([3, 4, 5], '{dtype}').numpy()
paddle.enable_static()
st = paddle.static
main = st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):
        x = st.data('x', [{batch}, 4, 5], '{dtype}')
        out = {expression}
        got = st.Executor().run(main, {{'x': feed}}, [out])
finally:
    paddle.disable_static()
[got, [int(d) for d in out.shape]{text}]
"""
_EXPRESSIONS = {
    "complex64": (
        "paddle.fft.fft(x)", "paddle.fft.ifft(x, n=3, norm='ortho')", "paddle.fft.irfft(x, axis=1)",
        "paddle.fft.hfft(x, n=7)", "paddle.fft.fft2(x)", "paddle.fft.irfft2(x, s=[3, 6])",
        "paddle.fft.fftn(x, axes=[2, 1])", "paddle.fft.hfftn(x, s=[5, 5])", "paddle.fft.fft(x, 6, name='y')",
        "paddle.fft.fftshift(x, 1)",
    ),
    "float32": (
        "paddle.fft.fft(x)", "paddle.fft.ifft(x)", "paddle.fft.rfft(x, axis=1)", "paddle.fft.ihfft(x, n=3)",
        "paddle.fft.rfft(x, 8)", "paddle.fft.rfft2(x)", "paddle.fft.ihfft2(x, s=[3, 6])",
        "paddle.fft.rfftn(x, axes=[2, 1])", "paddle.fft.ihfftn(x, s=[5, 5])",
        "paddle.fft.fftshift(x, -2)", "paddle.fft.ifftshift(x, 2)", "paddle.fft.fftshift(x)",
        "paddle.fft.ifftshift(x, [1, 0])",
    )
}


_GRADIENT = """\
feed = t([3, 4], 'float32').numpy()
paddle.enable_static()
st = paddle.static
main = st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):
        x = st.data('x', [3, 4])
        x.stop_gradient = False
        (g,) = st.gradients([{expression}], [x])
        got = st.Executor().run(main, {{'x': feed}}, [g])
finally:
    paddle.disable_static()
[got, str(main)]
"""
_DIFFERENTIATED = (
    "paddle.fft.rfft(x).real()", "paddle.fft.fft2(x, norm='ortho').imag()", "paddle.fft.fft(x, n=6).real()",
    "paddle.fft.irfft(paddle.fft.rfft(x) * 2.0)", "paddle.fft.ifft(paddle.fft.fft(x)).real()",
    "paddle.fft.fftshift(x, 0)"
)


def _static() -> dict[str, str]:
    calls = {f"static/gradient {e}": _GRADIENT.format(expression=e) for e in _DIFFERENTIATED}
    for dtype, expressions in _EXPRESSIONS.items():
        for expression in expressions:
            for batch in (3, -1):
                calls[f"static/{expression} {dtype} {batch}"] = _STATIC.format(
                    batch=batch, dtype=dtype, expression=expression, text=", str(main)" if batch == 3 else ""
                )
    return calls


CALLS: dict[str, str] = {
    **_one(),
    **_several(),
    **_frequencies(),
    **_static(),
    "static/frequencies": (
        "paddle.enable_static()\nst = paddle.static\nmain = st.Program()\ntry:\n"
        "    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):\n"
        "        made = [paddle.fft.fftfreq(5, 0.5, name='f'), paddle.fft.rfftfreq(6)]\n"
        "        got = st.Executor().run(main, {}, made)\n"
        "finally:\n    paddle.disable_static()\n[got, str(main)]"
    ),
    "empty batch": "paddle.fft.fft(paddle.zeros([0, 4]))",
    "names": "sorted(paddle.fft.__all__)",
    "signatures": "[signature(getattr(paddle.fft, name)) for name in sorted(paddle.fft.__all__)]",
    "there and back": (
        "x = t([4, 6], 'float64')\nf = paddle.fft\n[f.ifft(f.fft(x)), f.irfft(f.rfft(x)), "
        "f.hfft(f.ihfft(x)), f.irfftn(f.rfftn(x)), f.ifftn(f.fftn(x, norm='ortho'), norm='ortho'), "
        "f.ifftshift(f.fftshift(x))]"
    ),
    "raises for an array": "paddle.fft.fft(np.ones(4))",
    "stop_gradient": "paddle.fft.rfft(t([4])).stop_gradient"
}
