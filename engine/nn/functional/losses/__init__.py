"""Losses by what they compare: values, classes, margins, sequences."""
