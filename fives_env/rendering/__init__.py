"""What a seat sees, for people: nothing is shown that is not in its view.

words    what is said of it
text     as plain ASCII
line     where the tiles of a layout lie
picture  the whole as shapes
svg      shapes as SVG
frames   shapes as pixels, by pygame
window   the same in a window
"""
