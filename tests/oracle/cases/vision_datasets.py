"""VOC2012 from a tiny archive that the calls write (Flowers needs SciPy there)."""

_ARCHIVES = """\
import io, os, tarfile, tempfile
from PIL import Image
folder = tempfile.mkdtemp()
def tar(files, name):
    path = os.path.join(folder, name)
    with tarfile.open(path, 'w:gz' if name.endswith('gz') else 'w') as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path
def picture(n, kind, mode='RGB'):
    shape = (4 + n, 6, 3) if mode == 'RGB' else (4 + n, 6)
    image = Image.fromarray((np.arange(np.prod(shape)) * (n + 7) % 251).astype('uint8').reshape(shape))
    if mode == 'P':
        image = image.convert('P')
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()
def items(data):
    return [[np.asarray(part) for part in data[n]] for n in range(len(data))]
root = 'VOCdevkit/VOC2012/'
def voc(*arguments, **more):
    files = {root + 'Annotations/a.xml': b'<a/>'}
    for n, name in enumerate(('2007_000032', '2007_000039', '2007_000063')):
        files[root + 'JPEGImages/%s.jpg' % name] = picture(n, 'PNG')
        files[root + 'SegmentationClass/%s.png' % name] = picture(n, 'PNG', 'L')
    lists = {'trainval': '2007_000032\\n2007_000063\\n', 'train': '2007_000063', 'val': '2007_000032'}
    for part, names in lists.items():
        files[root + 'ImageSets/Segmentation/%s.txt' % part] = names.encode()
    return paddle.vision.datasets.VOC2012(tar(files, more.pop('name', 'v.tar')), *arguments, **more)
"""


def _calls() -> dict[str, str]:
    calls = {}

    def add(name: str, expression: str) -> None:
        calls[name] = f"{_ARCHIVES}{expression}"

    for mode in ("train", "test", "valid", "TEST"):
        add(f"VOC2012/{mode}", f"items(voc('{mode}'))")
    add("voc/cv2", "items(voc('train', backend='cv2'))")
    add("voc/transform", "items(voc('train', lambda x: np.asarray(x)[:2] + 1, backend='cv2'))")
    add("voc/float64", "paddle.set_default_dtype('float64')\nitems(voc('test', backend='cv2'))")
    add("voc/types", "[type(part).__name__ for part in voc('test')[0]]")
    add("voc/raises for another mode", "voc('no')")
    add("voc/raises for another backend", "voc('train', backend='no')")
    add("voc/transformed PIL", "items(voc('test', lambda x: x.resize((2, 3))))")
    for name, call in (
        ("no download", "Flowers(download=False)"),
        ("VOC2012 without download", "VOC2012(download=False)"),
        ("a missing archive", "VOC2012(folder + '/no')"),
        ("another archive", "VOC2012(tar({'a': b''}, 'a.tar'))"),
    ):
        add(f"raises for {name}", f"paddle.vision.datasets.{call}")
    calls["signatures"] = (
        "room = paddle.vision.datasets\n"
        "[signature(made.__init__, method=True) for made in (room.Flowers, room.VOC2012)]"
    )
    return calls


CALLS: dict[str, str] = _calls()
