"""Networks over few images as compiled stages: vectors hold channels, so that one sample fills them.

Images are [block of channels][row][column][channel], with zeros around them where the next stage pads
(``stages.Grid``). ``network`` runs stages one after the other; each has its code in a file of its own.
"""
