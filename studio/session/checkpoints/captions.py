"""Captions: the words of saved images, in the language of the window where a font here can write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.words.languages import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from PIL import ImageFont

    Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

TEXT = 13
# Files of fonts with Chinese characters, as systems name them; Pillow looks in the folders of the system.
FILES = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "NotoSansSC-Regular.otf",
    "NotoSansSC-Regular.ttf",
    "NotoSansSC[wght].ttf",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "msyh.ttc",
    "PingFang.ttc",
    "STHeiti Light.ttc",
)
_MOST_FACES = 16  # of one file
_LOWER = 3  # pixels: the lines of these fonts have more room above their letters


class Captions:
    """``tr`` gives a text in the language, English where no font can write that.

    Args:
        language: one of ``resources.words.LANGUAGES``; English where it is unknown.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        from resources.words.catalogue import read_catalogue

        self._looked, self._chinese = False, None
        written = language != ENGLISH and language in LANGUAGES and self._chinese_font() is not None
        self._catalogue = read_catalogue(language) if written else None

    _chinese: Font | None

    def tr(self, text: str) -> str:
        """A text in the language."""
        return text if self._catalogue is None else self._catalogue.find(text) or text

    def font(self, text: str) -> Font:
        """The font that writes a text: the one that comes with Pillow where it can."""
        from PIL import ImageFont

        chinese = None if _is_plain(text) else self._chinese_font()
        return ImageFont.load_default(TEXT) if chinese is None else chinese

    def lift(self, text: str) -> int:
        """How many pixels higher a text begins, so that it is on one line with others."""
        return 0 if _is_plain(text) or self._chinese_font() is None else _LOWER

    def written(self, text: str) -> str:
        """What this font can write."""
        if _is_plain(text) or self._chinese_font() is not None:
            return text
        return text.encode("latin-1", "replace").decode("latin-1")

    def _chinese_font(self) -> Font | None:
        """One of this computer; looked for once, when it is needed."""
        if not self._looked:
            self._looked = True
            faces = (chinese_face(file) for file in FILES)
            self._chinese = next((face for face in faces if face is not None), None)
        return self._chinese


def _is_plain(text: str) -> bool:
    return all(ord(character) < 256 for character in text)


def chinese_face(file: str) -> Font | None:
    """The face with Chinese forms in a file of a font, its first one where none says so; None where there is
    no such file."""
    from PIL import ImageFont

    found: Font | None = None
    for index in range(_MOST_FACES):
        try:
            face = ImageFont.truetype(file, TEXT, index)
        except (OSError, ValueError):  # absent or damaged, or it has no more faces
            break
        if str(face.getname()[0]).endswith(" SC"):
            return face
        found = found or face
    return found
