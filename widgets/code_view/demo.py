"""`python -m widgets.code_view.demo`: a forward pass with a marked line, and one in the editor."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.cards import Card
from widgets.code_view import CodeEditor, CodeView, FindBar, Squiggle
from widgets.demo import run_demo

SOURCE = '''@to_static
def forward(self, x, scale=1.5e-3):
    """Pixels [N, 1, 28, 28] to logits [N, 10].

    Not only 'one' line."""
    x = self.conv1(x)  # 6 maps
    x = F.relu(x)
    if x.mean() > 0 and not self.training:
        x = self.conv2(x * scale)
    for i in range(len(self.layers)):
        print(f"layer {i}: {x.shape}")
    x = paddle.flatten(x, 1, -1)
    return self.linear3(F.relu(self.linear2(x)))
'''


def make() -> QWidget:
    """The source, numbered as in its file."""
    card, view = Card("Source", "lenet.py"), CodeView()
    view.set_code(SOURCE, first_line=96)
    view.mark_lines([104])
    card.body.addWidget(view)
    other, editor = Card("Editor", "lenet.py"), CodeEditor()
    finder = FindBar(editor)
    editor.load(SOURCE)
    editor.set_notes({6: "[?, 6, 28, 28] \u00b7 156", 7: "[?, 6, 28, 28]", 12: "[?, 400]"})
    editor.set_squiggles(
        [Squiggle(9, "the shapes do not fit: [?, 6, 14, 14]"), Squiggle(8, "no branch on it", warning=True)]
    )
    other.body.addWidget(finder)
    other.body.addWidget(editor)
    finder.show()
    both = QWidget()
    layout = QVBoxLayout(both)
    layout.addWidget(card)
    layout.addWidget(other)
    return both


if __name__ == "__main__":
    sys.exit(run_demo(make, "Source", (640, 720)))
