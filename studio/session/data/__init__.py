"""The page Data and corrections: view models, jobs and state, without Qt."""
