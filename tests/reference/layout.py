"""The layout as a graph: the tiles on the table and which half is joined to which."""

Tile = tuple[int, int]
"""The two halves of a tile, the lower first."""

Place = tuple[int, int]
"""Where something can be joined: the number of a tile in the layout, and one of its sides."""


class Layout:
    """The tiles laid so far and their joins; everything else is found by walking along them.

    A tile has the sides 0 and 1: its low half and its high half, or the two sides of a double. The
    spinner has two more, 2 and 3: its other two ends. A tile is always joined by side 0 or 1, and
    what is joined to it goes on from the opposite one.
    """

    def __init__(self, with_spinner: bool) -> None:
        """An empty table. `with_spinner`: whether the first double is a spinner (S1)."""
        self.with_spinner = with_spinner
        self.tiles: list[Tile] = []
        self.joins: dict[Place, Place] = {}

    def spinner(self) -> int | None:
        """The number of the spinner in the layout: the first double laid (S1)."""
        for number, (low, high) in enumerate(self.tiles):
            if self.with_spinner and low == high:
                return number
        return None

    def starts(self) -> list[Place]:
        """Where each arm begins: at the opening tile, and at the spinner's ends once open (S3)."""
        if not self.tiles:
            return []
        spinner = self.spinner()
        if spinner is None or (spinner, 0) not in self.joins or (spinner, 1) not in self.joins:
            return [(0, 0), (0, 1)]
        return [(0, 0), (0, 1), (spinner, 2), (spinner, 3)]

    def ends(self) -> list[Place]:
        """The open end of each arm: walk from its start, straight through each tile."""
        ends = []
        for place in self.starts():
            while place in self.joins:
                tile, side = self.joins[place]
                place = (tile, 1 - side)
            ends.append(place)
        return ends

    def value(self, place: Place) -> int:
        """The value that a tile shows on one of its sides."""
        tile, side = place
        low, high = self.tiles[tile]
        return high if side == 1 else low

    def values(self) -> list[int]:
        """The value that is open at the end of each arm."""
        return [self.value(end) for end in self.ends()]

    def counts(self) -> list[int]:
        """What each arm adds to the end total (C3 to C5, S4, S5)."""
        counts = []
        counted = set()
        for tile, side in self.ends():
            low, high = self.tiles[tile]
            if side in (2, 3) or (tile in counted and low == high):
                counts.append(0)  # an end of the spinner not extended, or an opening double again
            elif low == high:
                counts.append(low + high)
            else:
                counts.append(self.value((tile, side)))
            counted.add(tile)
        return counts

    def lay(self, tile: Tile, arm: int) -> None:
        """Opens with a tile (arm 0), or joins it to the end of an arm by its equal half (C2)."""
        if not self.tiles and arm == 0:
            self.tiles.append(tile)
            return
        end = self.ends()[arm]
        value = self.value(end)
        if value not in tile:
            raise ValueError(f"{tile} has no {value} to be joined to arm {arm}")
        new = (len(self.tiles), tile.index(value))
        self.tiles.append(tile)
        self.joins[end] = new
        self.joins[new] = end
