"""The page Graph: view models, jobs and state, without Qt."""
