"""Controllers: they bind view models to widgets."""
