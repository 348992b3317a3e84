"""Sound: windows, mel scales, filter banks, features of waves, WAV files, data sets from local folders."""

_FUNCTIONAL = "paddle.audio.functional"

_WINDOWS = (
    "'hamming'", "'hann'", "'triang'", "'bohman'", "'blackman'", "'cosine'", "'tukey'", "'taylor'",
    "('gaussian', 2.5)", "('general_gaussian', 1.5, 3)", "('exponential', None, 2.0)", "('exponential', 2)",
    "('tukey', 0.3)", "('tukey', 0)", "('tukey', 1.0)", "('taylor', 5, 40)", "('taylor', 4, 30, False)",
    "('general_hamming', 0.6)", "('general_cosine', [0.5, 0.3, 0.2])", "('hann',)"
)


def _windows() -> dict[str, str]:
    calls = {}
    for window in _WINDOWS:
        for size in (1, 2, 7, 8):
            for fftbins in (True, False) if window != "('exponential', 2)" else (True,):
                calls[f"get_window/{window} {size} {fftbins}"] = (
                    f"{_FUNCTIONAL}.get_window({window}, {size}, {fftbins})"
                )
        calls[f"get_window/{window} float32"] = f"{_FUNCTIONAL}.get_window({window}, 9, dtype='float32')"
    for arguments in (
        "'gaussian', 8", "'exponential', 8", "'no', 8", "1.5, 8", "'hann', -1", "'hann', 2.5",
        "('exponential', 2), 8, False"
    ):
        calls[f"get_window/raises for {arguments}"] = f"{_FUNCTIONAL}.get_window({arguments})"
    return calls


def _mel() -> dict[str, str]:
    calls = {}
    for name, numbers in (("hz_to_mel", (0.0, 440.0, 1000.0, 5000.5)), ("mel_to_hz", (0.0, 7.5, 15.0, 32.5))):
        for htk in (True, False):
            calls[f"{name}/{htk}"] = f"[{_FUNCTIONAL}.{name}(v, {htk}) for v in {numbers}]"
            for dtype in ("float32", "float64"):
                calls[f"{name}/tensor {dtype} {htk}"] = (
                    f"{_FUNCTIONAL}.{name}(paddle.to_tensor({numbers}, dtype='{dtype}'), {htk})"
                )
            calls[f"{name}/gradient {htk}"] = (
                f"grad(lambda x: {_FUNCTIONAL}.{name}(x * 100, {htk}), pos([4], 'float64') * 20)"
            )
    for arguments in ("", "10", "5, 40.0, 8000.0, True", "6, 0.0, 500.0, dtype='float64'"):
        calls[f"mel_frequencies/{arguments}"] = f"{_FUNCTIONAL}.mel_frequencies({arguments})"
    for arguments in ("16000, 16", "22050, 15", "8000, 8, 'float64'"):
        calls[f"fft_frequencies/{arguments}"] = f"{_FUNCTIONAL}.fft_frequencies({arguments})"
    for arguments in (
        "16000, 64, 10", "8000, 63, 5, 100.0, 3000.0", "16000, 32, 6, htk=True", "16000, 64, 6, norm=2.0",
        "16000, 64, 6, norm=1", "16000, 64, 6, norm='none'", "16000, 64, 8, dtype='float64'", "23, 51, 12"
    ):
        calls[f"compute_fbank_matrix/{arguments}"] = f"{_FUNCTIONAL}.compute_fbank_matrix({arguments})"
    for arguments in ("", ", 2.0", ", 0.5, 1e-3", ", top_db=20", ", top_db=None", ", 1.0, 0.3, 3.0"):
        calls[f"power_to_db/{arguments}"] = f"{_FUNCTIONAL}.power_to_db(t([3, 4]) + 0.9{arguments})"
        calls[f"power_to_db/gradient {arguments}"] = (
            f"grad(lambda x: {_FUNCTIONAL}.power_to_db(x{arguments}), pos([3, 4], 'float64'))"
        )
    calls["power_to_db/0-d"] = f"{_FUNCTIONAL}.power_to_db(paddle.to_tensor(3.0))"
    for arguments in ("0.0", "-1.0", "1.0, 0.0", "1.0, 1e-3, -2.0"):
        calls[f"power_to_db/raises for {arguments}"] = f"{_FUNCTIONAL}.power_to_db(pos([3]), {arguments})"
    for arguments in ("4, 6", "4, 6, None", "6, 6, 'ortho', 'float64'", "1, 3"):
        calls[f"create_dct/{arguments}"] = f"{_FUNCTIONAL}.create_dct({arguments})"
    calls["create_dct/raises for another norm"] = f"{_FUNCTIONAL}.create_dct(3, 4, 'no')"
    return calls


def _features() -> dict[str, str]:
    calls = {}
    for name, several in {
        "Spectrogram": (
            "16, 8", "16, 5, 12", "16, None, window='hamming', power=2.0", "16, 8, window=('gaussian', 3.0)",
            "16, 8, center=False", "16, 8, pad_mode='constant'", "15, 5",
        ),
        "MelSpectrogram": (
            "16000, 32, 8, n_mels=6", "8000, 32, 16, n_mels=5, f_min=20.0, f_max=3000.0, htk=True",
            "8000, 32, None, 30, 'blackman', 1.0, n_mels=4, norm=1.0",
        ),
        "LogMelSpectrogram": (
            "16000, 32, n_mels=6", "16000, 32, 8, n_mels=6, ref_value=0.5, amin=1e-4, top_db=20.0",
        ),
        "MFCC": ("16000, 5, 32, n_mels=8", "16000, 8, 32, 8, n_mels=8, top_db=30.0, window='bohman'")
    }.items():
        for arguments in several:
            layer = f"paddle.audio.features.{name}({arguments})"
            calls[f"{name}/{arguments}"] = f"{layer}(t([2, 60]))"
            double = layer[:-1] + ", dtype='float64')"
            calls[f"{name}/gradient {arguments}"] = f"grad({double}, t([1, 50], 'float64'))"
        calls[f"{name}/buffers {arguments}"] = (
            f"layer = {layer}\n[[k, list(v.shape)] for k, v in layer.state_dict().items()]"
        )
    calls["Spectrogram/raises for power"] = "paddle.audio.features.Spectrogram(16, power=0.0)"
    calls["MFCC/raises for more coefficients"] = "paddle.audio.features.MFCC(16000, 9, 32, n_mels=8)"
    return calls


_FILE = """\
import io, os, tempfile, wave
folder = tempfile.mkdtemp()
path = os.path.join(folder, 'a.wav')
def write(path, shape=[2, 9], rate=8000, **more):
    paddle.audio.save(path, t(shape) * 0.9, rate, **more)
    return path
"""


def _files() -> dict[str, str]:
    calls = {}
    for arguments in (
        "", ", 2, 4", ", num_frames=3", ", 5", ", normalize=False", ", channels_first=False", ", 3, 100"
    ):
        calls[f"load/{arguments}"] = f"{_FILE}paddle.audio.load(write(path){arguments})"
    calls["load/file object"] = f"{_FILE}f = open(write(path), 'rb')\n[paddle.audio.load(f), f.closed]"
    calls["save/time first"] = f"{_FILE}paddle.audio.load(write(path, [7, 3], channels_first=False))"
    calls["save/bytes"] = f"{_FILE}with open(write(path), 'rb') as f:\n    data = f.read()\nlist(data)"
    calls["save/int16"] = (
        f"{_FILE}paddle.audio.save(path, paddle.to_tensor(np.arange(6, dtype='int16').reshape(2, 3)), 100)\n"
        "paddle.audio.load(path, normalize=False)"
    )
    calls["save/encoding"] = f"{_FILE}paddle.audio.load(write(path, encoding='x'))"
    calls["info"] = (
        f"{_FILE}found = paddle.audio.info(write(path))\n"
        "[found.sample_rate, found.num_samples, found.num_channels, found.bits_per_sample, found.encoding]"
    )
    for name, call in (
        ("one dimension", "save(path, t([4]), 100)"),
        ("other bits", "save(path, t([2, 4]), 100, bits_per_sample=8)"),
        ("no WAV file", "load(io.BytesIO(b'not a file of sound, surely'))"),
        ("no WAV file's info", "info(io.BytesIO(b'not a file of sound, surely'))"),
        ("a missing file", "load(path)"),
        ("a missing file's info", "info(path)"),
        ("another backend", "backends.set_backend('soundfile')"),
    ):
        calls[f"raises for {name}"] = f"{_FILE}paddle.audio.{call}"
    calls["raises for 8 bits"] = (
        f"{_FILE}f = wave.open(path, 'w')\nf.setnchannels(1)\nf.setsampwidth(1)\nf.setframerate(100)\n"
        "f.writeframes(b'12345678')\nf.close()\npaddle.audio.load(path)"
    )
    calls["backends"] = (
        "paddle.audio.backends.set_backend('wave_backend')\n"
        "[paddle.audio.backends.get_current_backend(), paddle.audio.backends.list_available_backends()]"
    )
    return calls


_SETS = (
    _FILE
    + """\
def made(name, arguments, before=os.environ.get('MODEL_STUDIO_DATA')):
    for module in ('esc50', 'tess'):
        if hasattr(paddle.audio.datasets, module):
            getattr(paddle.audio.datasets, module).DATA_HOME = folder
    os.environ['MODEL_STUDIO_DATA'] = folder
    try:
        data = eval('paddle.audio.datasets.%s(%s)' % (name, arguments))
        return sorted(([data[n][0], data[n][1]] for n in range(len(data))), key=lambda item: item[0].shape)
    finally:
        if before is None:
            del os.environ['MODEL_STUDIO_DATA']
        else:
            os.environ['MODEL_STUDIO_DATA'] = before
esc, tess = folder + '/ESC-50-master', folder + '/TESS_Toronto_emotional_speech_set'
for part in (esc + '/meta', esc + '/audio', tess + '/OAF_sad', tess + '/YAF_ps'):
    os.makedirs(part)
lines = ['filename,fold,target,category,esc10,src_file,take']
for n in range(4):
    write('%s/audio/%d.wav' % (esc, n), [1, 40 + n])
    lines.append('%d.wav,%d,%d,dog,True,1,A' % (n, n % 3 + 1, n * 7))
with open(esc + '/meta/esc50.csv', 'w') as f:
    f.write('\\n'.join(lines))
for n, name in enumerate(('OAF_sad/OAF_back_sad', 'OAF_sad/OAF_bar_sad', 'YAF_ps/YAF_back_ps')):
    write('%s/%s.wav' % (tess, name), [1, 50 + n])
"""
)


def _data_sets() -> dict[str, str]:
    calls = {}
    for arguments in (
        "", "'dev'", "'train', 3", "'dev', 2, 'mfcc', n_mfcc=3, n_fft=32, n_mels=4",
        "'dev', 1, 'spectrogram', n_fft=16", "'dev', 4", "'dev', 2, 'logmelspectrogram', n_fft=32, n_mels=4"
    ):
        calls[f"ESC50/{arguments}"] = f'{_SETS}made("ESC50", "{arguments}")'
    for arguments in ("'dev', 1, 1", "'train', 1, 1", "'dev', 1, 1, 'melspectrogram', n_fft=32, n_mels=4"):
        calls[f"TESS/{arguments}"] = f'{_SETS}made("TESS", "{arguments}")'
    for name, arguments in (
        ("ESC50", "split=0"), ("ESC50", "'dev', 6"), ("ESC50", "feat_type='no'"), ("TESS", "n_folds=0"),
        ("TESS", "n_folds=2, split=3"), ("TESS", "feat_type='no'")
    ):
        calls[f"{name}/raises for {arguments}"] = f'{_SETS}made("{name}", "{arguments}")'
    calls["labels"] = "[paddle.audio.datasets.ESC50.label_list, paddle.audio.datasets.TESS.label_list]"
    return calls


CALLS: dict[str, str] = {
    **_windows(),
    **_mel(),
    **_features(),
    **_files(),
    **_data_sets(),
    "a wave of the guides": "[paddle.linspace(-1.0, 1.0, n) for n in (8000 * 0.0005, 4.7, 1.0)]",
    "names": (
        "audio = paddle.audio\n"
        "rooms = (audio, audio.functional, audio.features, audio.datasets, audio.backends)\n"
        "[sorted(room.__all__) for room in rooms]"
    ),
    "signatures": (
        "audio = paddle.audio\n"
        "classes = [getattr(audio.features, n) for n in sorted(audio.features.__all__)]\n"
        "classes += [audio.datasets.ESC50, audio.datasets.TESS]\n"
        "functions = [getattr(audio.functional, n) for n in sorted(audio.functional.__all__)]\n"
        "functions += [audio.load, audio.info, audio.save]\n"
        "[signature(c.__init__, method=True) for c in classes] + [signature(f) for f in functions]"
    ),
}

# Paddle rounds the factors of these windows to single precision.
TOLERANCES = {name: 1e-6 for name in CALLS if name.startswith("get_window/") and "float32" not in name}
