"""Pictures: datasets, transforms and models."""

from engine.vision import datasets, models, ops, transforms
from engine.vision.image import get_image_backend, image_load, set_image_backend

__all__ = ["datasets", "get_image_backend", "image_load", "models", "ops", "set_image_backend", "transforms"]
