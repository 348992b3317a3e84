"""Images in folders: classes by name, files by path, and files that are not images."""

import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError
from engine.vision import set_image_backend
from engine.vision.datasets import DatasetFolder, ImageFolder
from engine.vision.transforms import ToTensor


@pytest.fixture
def root(tmp_path):
    for name, colour in {"b/2.png": 2, "b/1.PNG": 1, "a/deep/3.jpg": 3, "c/notes.txt": 0, "0.bmp": 0}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("txt"):
            path.write_text("no image")
        else:
            Image.new("RGB", (4, 2), (colour, 20, 30)).save(path)
    return tmp_path


def test_each_folder_is_a_class(root):
    data = DatasetFolder(str(root))
    assert data.classes == ["a", "b", "c"]
    assert data.class_to_idx == {"a": 0, "b": 1, "c": 2}
    assert data.targets == [0, 1, 1]
    assert [path[len(str(root)) + 1 :] for path, _ in data.samples] == ["a/deep/3.jpg", "b/1.PNG", "b/2.png"]
    image, target = data[2]
    assert (image.mode, image.size, target) == ("RGB", (4, 2), 1)
    assert len(DatasetFolder(root, extensions=[".png"])) == 2
    assert len(DatasetFolder(root, is_valid_file=lambda path: path.endswith("3.jpg"))) == 1
    assert DatasetFolder(root, transform=ToTensor())[1][0].shape == [3, 2, 4]
    assert DatasetFolder(root, loader=lambda path: path[-5:])[0] == ("3.jpg", 0)


def test_all_images_below_a_folder(root):
    data = ImageFolder(root)
    assert [path[len(str(root)) + 1 :] for path in data.samples] == [
        "0.bmp",
        "a/deep/3.jpg",
        "b/1.PNG",
        "b/2.png",
    ]
    set_image_backend("cv2")
    try:
        (image,) = data[3]
    finally:
        set_image_backend("pil")
    assert image.shape == (2, 4, 3)
    assert image[0, 0].tolist() == [2, 20, 30]  # red, green, blue, as Paddle's loader has it
    assert len(ImageFolder(root, is_valid_file=lambda path: path.endswith(".txt"))) == 1


@pytest.mark.parametrize("kind", [DatasetFolder, ImageFolder])
def test_folders_without_images_are_refused(kind, root):
    with pytest.raises(DataError, match="no such folder"):
        kind(root / "nothing")
    with pytest.raises(DataError, match="Found 0 files"):
        kind(root / "c")
    with pytest.raises(ArgumentError, match="must be list or tuple"):
        kind(root, extensions=".png")
    with pytest.raises(DataError, match=r"notes\.txt: can't be read as an image"):
        kind(root, is_valid_file=lambda path: path.endswith(".txt"))[0]
