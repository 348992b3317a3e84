"""Training: settings, curves, layers, mistakes: joins view models to widgets."""
