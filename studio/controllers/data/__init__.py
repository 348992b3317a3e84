"""The page Data and corrections: joins view models to widgets."""
