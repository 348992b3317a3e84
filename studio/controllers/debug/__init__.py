"""The page Debug: joins view models to widgets."""
