"""The page Debug: view models, jobs and state, without Qt."""
