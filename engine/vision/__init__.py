"""Images: datasets, transforms and models."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.vision import datasets, models, ops, transforms
    from engine.vision.image import get_image_backend, image_load, set_image_backend

__getattr__ = lazy(
    __name__,
    modules=("datasets", "models", "ops", "transforms"),
    members={"engine.vision.image": ("get_image_backend", "image_load", "set_image_backend")},
)

__all__ = ["datasets", "get_image_backend", "image_load", "models", "ops", "set_image_backend", "transforms"]
