"""Data sets of text from tiny archives that the calls write, and the decoding of tag sequences."""

_ARCHIVES = """\
import gzip, io, os, tarfile, tempfile, zipfile
folder = tempfile.mkdtemp()
def tar(files, name='a.tgz'):
    path = os.path.join(folder, name)
    with tarfile.open(path, 'w:gz') as archive:
        for name, data in files.items():
            data = data if isinstance(data, bytes) else data.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path
def text(data, name='a.txt'):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(data)
    return path
def packed(files):
    path = os.path.join(folder, 'a.zip')
    with zipfile.ZipFile(path, 'w') as archive:
        for name, data in files.items():
            archive.writestr(name, data.encode('latin-1'))
    return path
def items(data):
    return [data[n] for n in range(len(data))]
"""

_HOUSING = """\
rows = pos([10, 14], seed=3).numpy().round(3) * 30
path = text('\\n'.join(' '.join('%7.3f' % v for v in row) for row in rows))
"""
_IMDB = """\
words = 'good bad film the a plot dull fine'.split()
def review(n):
    ends = ('! <br />', '.', '.')
    return ' '.join(words[(n * 3 + i * i) % 8] + ends[i % 3] for i in range(n % 4 + 2)) + '\\n'
files = {'aclImdb/README': 'good', 'aclImdb/train/unsup/0_0.txt': 'dull dull dull'}
for n in range(16):
    part = ('train', 'test')[n % 2]
    kind = ('pos', 'neg')[n // 2 % 2]
    files['aclImdb/%s/%s/%d_7.txt' % (part, kind, n)] = review(n).upper() if n == 3 else review(n)
path = tar(files)
"""
_PTB = """\
lines = [' a cat sat on a mat ', ' a dog sat ', ' the cat <unk> a a dog ', ' mat ', '  ']
files = {}
for name, count in (('train', 5), ('valid', 3), ('test', 4)):
    files['./simple-examples/data/ptb.%s.txt' % name] = '\\n'.join(lines[5 - count:] + lines[:1]) + '\\n'
path = tar(files)
"""
_FILMS = """\
films = ['1::Toy Story (1995)::Animation', '2::Heat (1995)::Animation', '3::Caf\\xe9 (1999)::Animation']
people = ['1::F::1::10::48067', '2::M::56::16::70072', '3::M::25::15::55117']
ratings = ['%d::%d::%d::97830' % (n % 3 + 1, n * n % 3 + 1, n % 5 + 1) for n in range(30)]
path = packed({'ml-1m/movies.dat': '\\n'.join(films), 'ml-1m/users.dat': '\\n'.join(people) + '\\n',
               'ml-1m/ratings.dat': '\\n'.join(ratings)})
"""
_ROLES = """\
words = 'The cat that sat ate fish .'.split() + [''] + 'Go home'.split() + [''] + ['Nothing', '']
props = ['- (A0* (A0*)', '- *) *', '- (R-A0*) *', 'sit (V*) *', 'eat * (V*)', '- * (A1*', '- * *)', '',
         'go (V*)', '- (A1*)', '', '-', '']
def zipped(lines):
    return gzip.compress('\\n'.join(lines).encode() + b'\\n')
base = 'conll05st-release/test.wsj/'
files = {base + 'words/test.wsj.words.gz': zipped(words), base + 'props/test.wsj.props.gz': zipped(props)}
path = tar(files)
known = ['<unk>', 'bos', 'eos', 'The', 'cat', 'sat', 'Go']
more = [text('\\n'.join(known), 'w'), text('eat\\ngo\\nsit\\n', 'v'),
        text('B-V\\nI-V\\nO\\n', 't'), text('', 'e')]
"""
_PAIRS14 = """\
words = ['<s>', '<e>', '<unk>', 'one', 'two', 'three', 'four']
rows = ['one two\\tun deux', 'four four\\ttrois', 'no tab', 'a\\tb\\tc', 'one\\t' + 'un ' * 81,
        ' two\\tdeux un ']
files = {'wmt14/src.dict': '\\n'.join(words),
         'wmt14/trg.dict': '\\n'.join(words[:3] + ['un', 'deux', 'trois'])}
for name in ('train', 'test', 'gen'):
    files['wmt14/%s/%s' % (name, name)] = '\\n'.join(rows[len(name) - 3:])
path = tar(files)
"""
_PAIRS16 = """\
rows = ['a cat sat\\teine Katze', 'a a dog\\tein Hund Hund', 'no tab', 'cat\\tKatze', 'a b c\\tx y z']
path = tar({'wmt16/train': '\\n'.join(rows), 'wmt16/test': '\\n'.join(rows[1:]),
            'wmt16/val': rows[0] + '\\n'})
if hasattr(paddle.dataset, 'common'):
    paddle.dataset.common.DATA_HOME = folder
os.makedirs(os.path.join(folder, 'wmt16'))
"""


def _data_sets() -> dict[str, str]:
    calls = {}

    def add(name: str, setup: str, expression: str) -> None:
        calls[name] = f"{_ARCHIVES}{setup}{expression}"

    for mode in ("'train'", "'test'", "'TEST'"):
        add(f"UCIHousing/{mode}", _HOUSING, f"items(paddle.text.UCIHousing(path, {mode}))")
        add(
            f"Imdb/{mode}", _IMDB,
            f"data = paddle.text.Imdb(path, {mode}, cutoff=3)\n"
            "[items(data), sorted(map(str, data.word_idx.items()))]"
        )
        for kind, window in (("NGRAM", 2), ("NGRAM", 4), ("ngram", 0), ("SEQ", -1), ("seq", 4)):
            add(
                f"Imikolov/{mode} {kind} {window}", _PTB,
                f"data = paddle.text.Imikolov(path, '{kind}', {window}, {mode}, min_word_freq=1)\n"
                "[items(data), sorted(map(str, data.word_idx.items()))]"
            )
        for ratio, seed in ((0.1, 0), (0.5, 3)):
            add(
                f"Movielens/{mode} {ratio} {seed}", _FILMS,
                f"data = paddle.text.Movielens(path, {mode}, {ratio}, {seed})\n"
                "[[row[:6] + row[7:] for row in items(data)], sorted(data.movie_title_dict), "
                "data.categories_dict, str(data.movie_info[1]), str(data.user_info[2])]"
            )
    for mode in ("'train'", "'test'", "'gen'"):
        for size in (4, 6, 100):
            add(
                f"WMT14/{mode} {size}", _PAIRS14,
                f"data = paddle.text.WMT14(path, {mode}, {size})\n"
                "[items(data), data.get_dict(), data.get_dict(True)]"
            )
    for mode in ("'train'", "'test'", "'val'"):
        for sizes in ("4, 6", "100, 5", "3, 3", "1, 2"):
            for lang in ("en", "de"):
                add(
                    f"WMT16/{mode} {sizes} {lang}", _PAIRS16,
                    f"data = paddle.text.WMT16(path, {mode}, {sizes}, '{lang}')\n"
                    "[items(data), data.get_dict('en'), data.get_dict('de', True)]"
                )
    add(
        "Conll05st/items", _ROLES,
        "data = paddle.text.Conll05st(path, *more)\n"
        "[[[str(part.tolist()) for part in row] for row in items(data)], data.get_dict(), "
        "data.get_embedding() == more[3]]"
    )
    for name, call in (
        ("mode", "UCIHousing('x', 'valid')"),
        ("a missing file", "UCIHousing(folder + '/no')"),
        ("broken rows", "UCIHousing(text('1 2 3'))"),
        ("no download", "UCIHousing(download=False)"),
        ("mode of Imdb", "Imdb('x', 'valid')"),
        ("a missing archive", "Imdb(folder + '/no')"),
        ("no words", "Imdb(tar({'b': ''}))"),
        ("Imikolov's type", "Imikolov('x', 'WORDS')"),
        ("Imikolov without a window", "Imikolov(tar({'./simple-examples/data/ptb.%s.txt' % n: 'a a\\na\\n' "
         "for n in ('train', 'valid')}), min_word_freq=1)"),
        ("an archive of something else", "Imikolov(tar({'b': ''}), window_size=2)"),
        ("a zip archive of something else", "Movielens(packed({'b': ''}))"),
        ("WMT14 without a size", "WMT14(tar({'b': ''}))"),
        ("WMT16 without a size", "WMT16(tar({'b': ''}))"),
        ("WMT16's mode", "WMT16('x', 'gen', 3, 3)"),
        ("no archive", "WMT14(text('1 2 3'), dict_size=3)"),
        ("roles of something else", "Conll05st(tar({'b': ''}), *[text('a')] * 4)")
    ):
        add(f"raises for {name}", "", f"paddle.text.{call}")
    return calls


def _viterbi() -> dict[str, str]:
    calls = {}
    for batch, time, tags, lengths in (
        (2, 4, 3, [4, 2]), (3, 5, 4, [1, 5, 3]), (1, 1, 3, [1]), (2, 6, 3, [3, 2]), (2, 3, 5, [3, 3]),
        (3, 3, 3, [2, 0, 1])
    ):
        for dtype in ("float32", "float64"):
            for tag in (True, False):
                arguments = (
                    f"t([{batch}, {time}, {tags}], '{dtype}'), t([{tags}, {tags}], '{dtype}', 1), "
                    f"paddle.to_tensor({lengths})"
                )
                calls[f"viterbi_decode/{dtype} {batch} {time} {tags} {lengths} {tag}"] = (
                    f"paddle.text.viterbi_decode({arguments}, {tag})"
                )
    calls["viterbi_decode/ties"] = (
        "paddle.text.viterbi_decode(paddle.ones([2, 3, 4]), paddle.ones([4, 4]), paddle.to_tensor([3, 2]))"
    )
    calls["ViterbiDecoder"] = (
        "decoder = paddle.text.ViterbiDecoder(t([3, 3]), include_bos_eos_tag=False)\n"
        "[decoder(t([2, 4, 3]), paddle.to_tensor([4, 3])), len(decoder.parameters())]"
    )
    calls["ViterbiDecoder/a parameter"] = (
        "decoder = paddle.text.ViterbiDecoder(paddle.create_parameter([3, 3], 'float32'))\n"
        "len(decoder.parameters())"
    )
    calls["viterbi_decode/static"] = (
        "st = paddle.static\n"
        "feed = {'x': t([2, 4, 3]).numpy(), 'w': t([3, 3]).numpy(), 'n': np.array([4, 2])}\n"
        "paddle.enable_static()\nmain = st.Program()\ntry:\n"
        "    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):\n"
        "        x, w = st.data('x', [-1, 4, 3]), st.data('w', [3, 3])\n"
        "        n = st.data('n', [-1], 'int64')\n"
        "        out = paddle.text.viterbi_decode(x, w, n)\n"
        "        got = st.Executor().run(main, feed, list(out))\n"
        "finally:\n    paddle.disable_static()\n"
        "got"
    )
    for name, arguments in (
        ("two dimensions", "t([4, 3]), t([3, 3]), paddle.to_tensor([4])"),
        ("other tags", "t([2, 4, 3]), t([4, 4]), paddle.to_tensor([4, 4])"),
        ("other batch", "t([2, 4, 3]), t([3, 3]), paddle.to_tensor([4])"),
    ):
        calls[f"viterbi_decode/raises for {name}"] = f"paddle.text.viterbi_decode({arguments})"
    return calls


_NAMES = ("UCIHousing", "Imdb", "Imikolov", "Movielens", "Conll05st", "WMT14", "WMT16", "ViterbiDecoder")
CALLS: dict[str, str] = {
    **_data_sets(),
    **_viterbi(),
    "names": "sorted(paddle.text.__all__)",
    "signatures": (
        f"[signature(getattr(paddle.text, name).__init__, method=True) for name in {_NAMES}] + "
        "[signature(paddle.text.viterbi_decode)]"
    ),
}
