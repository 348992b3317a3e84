"""Training: settings, curves, layers, mistakes: view models, jobs and state, without Qt."""
