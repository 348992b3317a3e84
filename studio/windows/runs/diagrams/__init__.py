"""The part of the page Runs that shows diagrams of many runs."""
