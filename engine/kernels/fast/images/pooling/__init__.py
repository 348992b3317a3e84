"""Compiled poolings: with samples, or with columns of images, side by side in vectors."""
