"""How a scene looks: colours, shapes, texts, and the images made of them."""
