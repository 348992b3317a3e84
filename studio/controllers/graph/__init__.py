"""The page Graph: joins view models to widgets."""
