"""What to train on given data: suggested settings, simple models to compare with, time and memory."""
