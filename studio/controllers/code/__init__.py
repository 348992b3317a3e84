"""The page Code: joins view models to widgets."""
