"""The page Predict: view models, jobs and state, without Qt."""
