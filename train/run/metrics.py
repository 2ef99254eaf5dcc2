"""Numbers of every update: to progress.csv and to TensorBoard."""

import csv
import math
from pathlib import Path

from torch.utils.tensorboard.writer import SummaryWriter

from eval.run_files import PROGRESS


class Metrics:
    """Writes both in a run's folder."""

    def __init__(self, folder: Path, decisions: int = 0) -> None:
        """Goes on after so many decisions."""
        self._path = folder / PROGRESS
        purge = decisions + 1 if decisions else None
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=purge)  # type: ignore[no-untyped-call]

    def add(self, numbers: dict[str, float]) -> None:
        """Writes the numbers of an update; ``decisions`` counts the steps, NaN is none."""
        new = not self._path.exists()
        with self._path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(numbers))
            if new:
                writer.writeheader()
            known = {name: value for name, value in numbers.items() if not math.isnan(value)}
            writer.writerow({name: f"{value:.10g}" for name, value in known.items()})
        for name, value in known.items():
            self.show(f"train/{name}", value, int(numbers["decisions"]))

    def show(self, name: str, value: float, decisions: int) -> None:
        """Sends one number to TensorBoard alone."""
        self._board.add_scalar(name, value, decisions)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Closes the files."""
        self._board.close()  # type: ignore[no-untyped-call]
