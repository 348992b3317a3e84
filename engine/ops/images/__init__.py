"""Convolutions, pooling, padding, resampling of images and volumes."""
