"""Training: settings, curves, layers, mistakes: commands."""
