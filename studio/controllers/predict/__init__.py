"""The page Predict: joins view models to widgets."""
