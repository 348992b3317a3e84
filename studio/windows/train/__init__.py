"""Training: settings, curves, layers, mistakes: pages, panels and dialogs."""
