"""Boxes of detectors, regions of interest, YOLO."""
