"""The progress bar and the clock behind it."""

import io
import time

import pytest
from rich.console import Console

from train.run.clock import Clock
from train.run.progress import ProgressBar


def test_the_bar_shows_how_far_how_fast_and_how_well() -> None:
    clock = Clock(float("inf"), 1000)
    clock.start()
    clock.decisions = 250
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200)
    with ProgressBar(clock, console) as bar:
        bar.update({"reward": 1.5, "entropy": 0.7, "kl": 0.01, "greedy": 0.612})
    shown = screen.getvalue()
    for part in ("25%", "250 decisions", "/s", "+1.50", "0.70", "0.010", "61.2%"):
        assert part in shown


def test_nobody_watches() -> None:
    screen = io.StringIO()
    with ProgressBar(Clock(1, None), Console(file=screen)) as bar:
        bar.update({"reward": 1.5})
    assert screen.getvalue() == ""


def test_the_clock_counts_what_is_nearer_to_its_end() -> None:
    clock = Clock(1000, 10)
    assert (clock.seconds, clock.part) == (0, 0)
    clock.start()
    clock.decisions = 5
    assert clock.part == 0.5
    assert not clock.ends_within(10)
    assert clock.ends_within(1000)
    clock.decisions = 12
    assert clock.part == 1
    assert clock.ends_within(0)
    clock.stop()
    stopped = clock.seconds
    time.sleep(0.01)
    assert clock.seconds == stopped


def test_without_a_time_limit_decisions_alone_count() -> None:
    clock = Clock(float("inf"), 8)
    clock.start()
    clock.decisions = 2
    assert clock.part == 0.25
    assert not clock.ends_within(1e9)
    assert Clock(float("inf"), None).part == pytest.approx(0)
