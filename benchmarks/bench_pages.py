"""Pages of trees of 10,000 and 100,000 nodes: size, and how fast headless Chromium opens, folds and searches them."""

import sys
import tempfile
import time
from pathlib import Path

from measure import Timing, at_most, demand, main

from dtnumba import export

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from chromium import Browser, why_absent
from pictured import large_tree

_TIMED = "const t = performance.now(); {} window.treePage.view.drawNow(); return (performance.now() - t) / 1000;"
_SEARCH = "const f = document.getElementById('search'); f.value = '{}'; f.dispatchEvent(new Event('input'));"
_TARGETS = {10_000: (2.0, 1.0, 1.0, 0.2), 100_000: (12.0, 3.0, None, None)}  # MB, and seconds to open, fold, search


def pages(options):
    found = []
    for nodes, (megabytes, opening, folding, searching) in _TARGETS.items():
        model = large_tree((nodes if options.is_full else nodes // 100) // 2, 5)
        page, job = export.html(model), f"page of a tree of {model.n_nodes_:,} nodes"
        size = len(page.encode()) / 1e6
        found.append(at_most(options, f"{job}, size", "-", f"{size:.2f} MB", size, megabytes, unit=" MB"))
        if why_absent():
            print(f"{why_absent()}: what a browser does is left out", file=sys.stderr, flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            browser = Browser(folder)
            try:
                found += in_browser(options, browser, page, job, (opening, folding, searching))
            finally:
                browser.close()
    return found


def in_browser(options, browser, page, job, limits):
    def opened():
        began = time.perf_counter()
        demand(browser.open(page) == [], "the console of the page says something")
        browser.settle()
        return time.perf_counter() - began

    times = {
        "opened": [opened() for _ in range(options.repeats)],
        "folded": [browser.js(_TIMED.format("window.treePage.view.toggle(0);")) for _ in range(2 * options.repeats)],
        "searched": [browser.js(_TIMED.format(_SEARCH.format(f"x{k}"))) for k in range(1, 1 + options.repeats)],
    }
    rows = []
    for (what, own), limit in zip(times.items(), limits, strict=True):
        timing = Timing(own)
        rows.append(at_most(options, f"{job}, {what}", "-", str(timing), timing.median, limit, unit=" s"))
    return rows


if __name__ == "__main__":
    main(__doc__, [pages])
