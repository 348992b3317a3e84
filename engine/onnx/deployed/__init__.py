"""The file predict.py of a deployed folder, as it is copied there."""
