"""Folders of images: classes, labels, sizes, decoded images, and their random variation."""
