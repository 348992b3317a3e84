"""Signals: frames, adding them up, short-time Fourier transforms and their inverse."""

_FRAMES = "paddle.signal.frame"
_ADD = "paddle.signal.overlap_add"


def _frames() -> dict[str, str]:
    calls = {}
    for shape, axis in (
        ("[9]", -1),
        ("[9]", 0),
        ("[2, 9]", -1),
        ("[9, 2]", 0),
        ("[2, 3, 9]", -1),
        ("[9, 3, 2]", 0),
    ):
        for length, hop in ((4, 2), (3, 3), (9, 1), (4, 7), (5, 3), (1, 1)):
            arguments = f"{length}, {hop}, axis={axis}"
            calls[f"frame/{shape} {arguments}"] = f"{_FRAMES}(t({shape}), {arguments})"
            calls[f"frame/gradient {shape} {arguments}"] = (
                f"grad(lambda x: {_FRAMES}(x, {arguments}), t({shape}, 'float64'))"
            )
    for shape, axis in (
        ("[4, 3]", -1),
        ("[3, 4]", 0),
        ("[2, 4, 3]", -1),
        ("[3, 4, 2]", 0),
        ("[2, 2, 4, 3]", -1),
    ):
        for hop in (1, 2, 3, 4):
            calls[f"overlap_add/{shape} {hop} {axis}"] = f"{_ADD}(t({shape}), {hop}, axis={axis})"
            calls[f"overlap_add/gradient {shape} {hop} {axis}"] = (
                f"grad(lambda x: {_ADD}(x, {hop}, {axis}), t({shape}, 'float64'))"
            )
    for dtype in ("int32", "int64"):
        calls[f"frame/{dtype}"] = f"{_FRAMES}(ints([8], 9, '{dtype}'), 4, 2)"
        calls[f"overlap_add/{dtype}"] = f"{_ADD}(ints([4, 3], 9, '{dtype}'), 2)"
    for dtype in ("complex64", "complex128", "float64"):
        calls[f"frame/{dtype}"] = f"{_FRAMES}(t([8], '{dtype}'), 4, 2)"
        calls[f"overlap_add/{dtype}"] = f"{_ADD}(t([4, 3], '{dtype}'), 2)"
    for arguments in ("9, 2", "0, 2", "4, 0", "-1, 2", "4, -2", "4.0, 2", "4, 2.0", "4, 2, 1", "4, 2, -2"):
        calls[f"frame/raises for {arguments}"] = f"{_FRAMES}(t([8]), {arguments})"
    for arguments in ("0", "-1", "2.0", "5", "2, 1", "2, -2"):
        calls[f"overlap_add/raises for {arguments}"] = f"{_ADD}(t([4, 3]), {arguments})"
    for dtype in ("bool", "uint8", "float16"):
        calls[f"frame/raises for {dtype}"] = f"{_FRAMES}(paddle.ones([8], '{dtype}'), 4, 2)"
        calls[f"overlap_add/raises for {dtype}"] = f"{_ADD}(paddle.ones([4, 3], '{dtype}'), 2)"
    calls["overlap_add/raises for one dimension"] = f"{_ADD}(t([4]), 2)"
    calls["frame/raises for 0-d"] = f"{_FRAMES}(t([]), 1, 1)"
    return calls


_X, _WINDOW = "t([2, 40])", "pos([8])"
_STFT = (
    "8", "8, 4", "8, 3", "8, hop_length=8", "8, win_length=6", "8, win_length=5, hop_length=2", "7, 3",
    "8, center=False", "8, pad_mode='constant'", "8, normalized=True", "8, onesided=False", "40", "16, 16",
    f"8, window={_WINDOW}", "8, win_length=6, window=pos([6])", "8, name='x'",
    f"8, 2, 8, {_WINDOW}, False, 'constant', True",
    f"8, window={_WINDOW}, onesided=False, normalized=True", "7, onesided=False"
)


def _stft() -> dict[str, str]:
    calls = {}
    for arguments in _STFT:
        calls[f"stft/{arguments}"] = f"paddle.signal.stft({_X}, {arguments})"
        double = arguments.replace("pos([8])", "pos([8], 'float64')").replace(
            "pos([6])", "pos([6], 'float64')"
        )
        calls[f"stft/gradient {arguments}"] = (
            f"grad(lambda x: paddle.signal.stft(x, {double}), t([2, 40], 'float64'))"
        )
    for arguments in (
        "8, onesided=False", "8, onesided=False, center=False", "8, onesided=False, pad_mode='constant'"
    ):
        calls[f"stft/complex {arguments}"] = f"paddle.signal.stft(t([2, 40], 'complex64'), {arguments})"
    calls["stft/one signal"] = "paddle.signal.stft(t([40]), 8)"
    calls["stft/float64"] = "paddle.signal.stft(t([40], 'float64'), 8, 4)"
    calls["stft/gradient of the window"] = (
        "grad(lambda x, w: paddle.signal.stft(x, 8, window=w), t([20], 'float64'), pos([8], 'float64'))"
    )
    calls["stft/method"] = "t([40]).stft(8, 4)"
    for arguments in (
        "0", "-1", "41", "8, 0", "8, -1", "8, win_length=9", "8, win_length=0", "8, window=pos([7])",
        "8, window=pos([1, 8])", "8, pad_mode='replicate'", "8, win_length=6, window=pos([8])",
        "8, window=t([8], 'complex64')"
    ):
        calls[f"stft/raises for {arguments}"] = f"paddle.signal.stft({_X}, {arguments})"
    calls["stft/raises for complex onesided"] = "paddle.signal.stft(t([40], 'complex64'), 8)"
    calls["stft/raises for three dimensions"] = "paddle.signal.stft(t([2, 2, 40]), 8)"
    calls["stft/raises for 0-d"] = "paddle.signal.stft(t([]), 1)"
    return calls


_S = "t([2, 5, 9], 'complex64')"
_ISTFT = (
    "8", "8, 4", "8, 3", "8, win_length=6", f"8, window={_WINDOW}", "8, 2, 6, pos([6])", "8, normalized=True",
    "8, center=False", "8, length=12", "8, length=100", "8, center=False, length=12", "8, name='x'",
    f"8, 2, 8, {_WINDOW}, True, True, True, 10"
)


def _istft() -> dict[str, str]:
    calls = {}
    for arguments in _ISTFT:
        calls[f"istft/{arguments}"] = f"paddle.signal.istft({_S}, {arguments})"
        double = arguments.replace("pos([8])", "pos([8], 'float64')").replace(
            "pos([6])", "pos([6], 'float64')"
        )
        calls[f"istft/gradient {arguments}"] = (
            f"grad(lambda x: paddle.signal.istft(x, {double}), t([2, 5, 9], 'complex128'))"
        )
    full = "t([2, 8, 9], 'complex64')"
    calls["istft/all frequencies"] = f"paddle.signal.istft({full}, 8, onesided=False)"
    calls["istft/complex"] = f"paddle.signal.istft({full}, 8, onesided=False, return_complex=True)"
    calls["istft/complex window"] = (
        f"w = t([8], 'complex64') + 2.0\n"
        f"paddle.signal.istft({full}, 8, window=w, onesided=False, return_complex=True)"
    )
    calls["istft/one signal"] = "paddle.signal.istft(t([5, 9], 'complex64'), 8)"
    calls["istft/complex128"] = "paddle.signal.istft(t([5, 9], 'complex128'), 8)"
    calls["istft/method"] = "t([40], 'float64').stft(8).istft(8)"
    calls["istft/there and back"] = (
        "x, w = t([2, 40], 'float64'), pos([8], 'float64')\n"
        "there = lambda h: paddle.signal.stft(x, 8, h, window=w)\n"
        "[paddle.signal.istft(there(h), 8, h, window=w, length=40) for h in (1, 2, 4)]"
    )
    for arguments in (
        "8, 0", "8, 9", "8, win_length=9", "8, win_length=0", "8, window=pos([7])", "10", "8, onesided=False",
        "8, return_complex=True", "8, window=t([8], 'complex64')", "8, window=paddle.zeros([8])",
        "8, 8, window=paddle.to_tensor([0.0, 1, 1, 1, 1, 1, 1, 1])"
    ):
        calls[f"istft/raises for {arguments}"] = f"paddle.signal.istft({_S}, {arguments})"
    calls["istft/real"] = "paddle.signal.istft(t([5, 9]), 8)"
    calls["istft/raises for one dimension"] = "paddle.signal.istft(t([5], 'complex64'), 8)"
    calls["istft/raises for four dimensions"] = "paddle.signal.istft(t([2, 2, 5, 9], 'complex64'), 8)"
    return calls


_STATIC = """\
feed = t({shape}, '{dtype}').numpy()
paddle.enable_static()
st = paddle.static
main = st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):
        x = st.data('x', {given}, '{dtype}')
        x.stop_gradient = False
        out = {expression}
        got = st.Executor().run(main, {{'x': feed}}, [out])
finally:
    paddle.disable_static()
[got, [int(d) for d in out.shape], str(main)]
"""
_EXPRESSIONS = (
    ("paddle.signal.frame(x, 4, 2)", "[2, 9]", "float32"),
    ("paddle.signal.frame(x, 4, 2, axis=0, name='f')", "[9, 2]", "float32"),
    ("paddle.signal.overlap_add(x, 2)", "[2, 4, 3]", "float32"),
    ("paddle.signal.overlap_add(x, 2, 0)", "[3, 4]", "float32"),
    ("paddle.signal.stft(x, 8)", "[2, 20]", "float32"),
    ("paddle.signal.stft(x, 8, 4, 6, center=False)", "[2, 20]", "float32"),
    ("paddle.signal.stft(x, 8)", "[20]", "float32"),
    ("paddle.signal.istft(x, 8)", "[2, 5, 9]", "complex64"),
    ("paddle.signal.istft(x, 8, center=False, length=12)", "[5, 9]", "complex64"),
    ("st.gradients([paddle.signal.frame(x, 4, 2)], [x])[0]", "[2, 9]", "float32"),
    ("st.gradients([paddle.signal.overlap_add(x, 2, 0)], [x])[0]", "[3, 4]", "float32"),
)


def _static() -> dict[str, str]:
    calls = {}
    for expression, shape, dtype in _EXPRESSIONS:
        for given in {shape, "[-1" + shape[2:]} if dtype == "float32" and "20]" in shape[3:] else {shape}:
            calls[f"static/{expression} {given}"] = _STATIC.format(
                expression=expression, shape=shape, dtype=dtype, given=given
            )
    return dict(sorted(calls.items()))


CALLS: dict[str, str] = {
    **_frames(),
    **_stft(),
    **_istft(),
    **_static(),
    "names": "sorted(paddle.signal.__all__)",
    "signatures": (
        "[signature(getattr(paddle.signal, name)) for name in ('frame', 'overlap_add', 'stft', 'istft')] + "
        "[signature(getattr(paddle.Tensor, name), method=True) for name in ('stft', 'istft')]"
    )
}
