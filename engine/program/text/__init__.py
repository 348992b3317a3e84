"""Everything that exists because Paddle prints it so: names, operator forms, the text of Programs."""
