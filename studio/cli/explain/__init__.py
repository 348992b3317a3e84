"""The commands that show why a model answers as it does."""
