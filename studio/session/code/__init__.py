"""Behind the page Code: the file that is edited, its drafts, templates, and the dry run in a child."""
