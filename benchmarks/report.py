"""The page of `graphreach report`: its size, how soon it shows something, how soon a selection shows. Needs Chromium."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row, summary, timed
from graphreach import Graph, datasets, training
from graphreach.report import write_report

GROUPS = 25
LOADS, SELECTIONS = 5, 20

FIRST_PAINT = """async () => {
  const painted = () => performance.getEntriesByName("first-contentful-paint");
  while (!painted().length) await new Promise(requestAnimationFrame);
  return painted()[0].startTime;
}"""

# From the call to the frame after next: by then what was drawn is on the screen.
SELECT = """async (count) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const pairs = DATA.lists.flatMap((list) => list.pairs);
  const actions = {
    node: (number) => selectNode((number * 7919) % ids.length),
    anchor: (number) => pickNode(anchorNodes[number % anchorNodes.length]),
    pair: (number) => selectPair(pairs[number % pairs.length]),
  };
  const found = {};
  for (const [name, act] of Object.entries(actions)) {
    found[name] = [];
    for (let number = 0; number < count; number += 1) {
      await frame();
      const began = performance.now();
      act(number);
      await frame();
      found[name].push(performance.now() - began);
    }
  }
  return found;
}"""


def communities(nodes: int) -> datasets.Dataset:
    """A graph of groups with about eight links a node inside, and a few outside."""
    rng = np.random.default_rng(0)
    size = nodes // GROUPS
    inside = rng.integers(0, size, (2, 4 * nodes)) + size * rng.integers(0, GROUPS, 4 * nodes)
    pairs = np.concatenate([inside, rng.integers(0, nodes, (2, nodes // 4))], 1)
    graph = Graph.from_edges(pairs[:, pairs[0] != pairs[1]], nodes, reduce="max")
    return datasets.Dataset(
        f"{nodes} nodes in {GROUPS} groups", (datasets.Sample(graph, None, np.arange(nodes) // size),)
    )


def measure(page_file: Path) -> dict[str, Any]:
    """Open the page some times; seconds to the first paint, milliseconds to the frame that shows a selection."""
    from playwright.sync_api import sync_playwright

    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    paints, selections = [], {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for _ in range(LOADS):
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready=true]")
            paint = page.evaluate(FIRST_PAINT)
            paints.append(paint / 1000)
            selections = page.evaluate(SELECT, SELECTIONS)
            page.close()
        browser.close()
    return {"paint": paints, "selection": selections}


def report(quick: bool) -> list[Row]:
    """Cora, and graphs of 10,000 and of 100,000 nodes in groups, the latter by method ``reach``."""
    rows, paper = [], training.Settings(epochs=2 if quick else 30)
    cases = {
        "Cora": (datasets.load("cora"), paper),
        "10,000 nodes": (communities(1000 if quick else 10_000), paper),
        "100,000 nodes": (communities(1000 if quick else 100_000), training.Settings(method="reach")),
    }
    for name, (data, settings) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            training.run(data, settings, Path(folder, "run"))
            path = Path(folder, "report.html")
            seconds = timed(lambda: write_report(Path(folder, "run"), path, data))  # noqa: B023
            megabytes, found = path.stat().st_size / 1e6, measure(path)
        graph = data[0].graph
        sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges}
        times = [each for part in found["selection"].values() for each in part]
        raw = {"megabytes": megabytes, "seconds to write": seconds}
        paint = summary(found["paint"])
        typical = ", ".join(f"{part} {statistics.median(each):.0f} ms" for part, each in found["selection"].items())
        rows += [
            Row(f"size of `graphreach report`, {name}", "at most", 5, megabytes, "MB", sizes=sizes, raw=raw),
            Row(f"first paint of the report, {name}", "at most", 2, paint["median"], "seconds", sizes=sizes, raw=paint),
            Row(
                f"a selection in the report to the second frame after it, slowest of {len(times)}, {name}", "at most",
                100, max(times), "ms", sizes=sizes, raw=found["selection"], notes=[f"medians: {typical}"],
            ),
        ]  # fmt: skip
    return rows


BENCHMARKS = {"report": report}
