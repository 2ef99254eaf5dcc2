"""The page of results in a browser: it loads without errors and shows its pictures."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eval.commands import Report, Tournament
from eval.report.command import run
from eval.tournament.command import run as play

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no browser: install chromium, as with apt-get install chromium"
)
QUIET = (
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
REPORTER = """<script>
const faults = [];
addEventListener("error", event => faults.push(event.message || event.target.tagName), true);
addEventListener("securitypolicyviolation", event => faults.push(event.blockedURI));
addEventListener("load", () => {
  const told = document.createElement("pre");
  const wide = document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : [];
  const empty = [...document.querySelectorAll("svg")].filter(svg => svg.getBBox().width < 100);
  const asked = performance.getEntriesByType("resource").map(entry => entry.name);
  told.id = "told";
  told.textContent = JSON.stringify(
    [...faults, ...wide, ...empty.map(() => "an empty picture"), ...asked]
  );
  document.body.append(told);
});
</script>
"""
"""Put into a copy of the page, it writes down whatever went wrong, and whatever was fetched."""


def browse(page: Path, folder: Path, *options: str) -> str:
    """The document after loading, and fails where the browser complains about the page."""
    assert BROWSER is not None
    command = [BROWSER, *QUIET, f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr"]
    done = subprocess.run(
        [*command, *options, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout


@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_page_loads_without_errors(tmp_path: Path, width: int) -> None:
    """On a telephone too; a policy that forbids everything outside the page is not broken."""
    play(
        Tournament(
            agents=("greedy", "random", "greedy"), pairs=8, seed=0, out=tmp_path / "tournament"
        )
    )
    run(Report(demo=tmp_path))
    text = (tmp_path / "report.html").read_text()
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    watched = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n{REPORTER}'
    copy = tmp_path / "watched.html"
    copy.write_text(text.replace("</title>\n", f"</title>\n{watched}", 1))
    shown = browse(copy, tmp_path, f"--window-size={width},900")
    told = re.search(r'<pre id="told">(.*?)</pre>', shown)
    assert told
    assert told[1] == "[]"
    assert shown.count("<svg") == text.count("<svg") > 3


@needs_browser
def test_a_broken_page_would_be_noticed(tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(f"<!doctype html><head>{REPORTER}</head><img src=nowhere.png><svg></svg>")
    told = re.search(r'<pre id="told">(.*?)</pre>', browse(broken, tmp_path))
    assert told
    assert "IMG" in told[1]
    assert "an empty picture" in told[1]
