"""Models to begin an own one from: templates, and the built-in models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import resources

MODELS, TEMPLATES = "models", "templates"


@dataclass(frozen=True)
class Template:
    """A file of ours that becomes a file of the user's: what it is called, and its text."""

    id: str
    title: str
    help: str
    folder: str = TEMPLATES

    def text(self) -> str:
        """The text that the new file gets."""
        path = Path(resources.folder(self.folder)) / f"{self.id}.py"
        return path.read_text(encoding="utf-8")


ALL: tuple[Template, ...] = (
    Template("linear_model", "Linear", "One layer from pixels to classes: the smallest model."),
    Template("mlp", "Multilayer perceptron", "Two hidden layers with ReLU and dropout."),
    Template("small_cnn", "Convolutional network", "Two convolutions with pooling, as in LeNet."),
    Template("small_resnet", "Small ResNet", "Residual blocks with batch normalization."),
    Template("recurrent", "Recurrent network", "An LSTM that reads an image row by row."),
    Template("linear", "Copy of the built-in Linear", "The built-in model, to change.", MODELS),
    Template("lenet", "Copy of the built-in LeNet", "The built-in model, to change.", MODELS),
    Template("cnn", "Copy of the built-in CNN", "The built-in model, to change.", MODELS),
)


def template(name: str) -> Template:
    """The template of that id. Raises KeyError where there is none."""
    return {each.id: each for each in ALL}[name]
