"""``graphreach follow`` killed at random moments while lines are appended: no line may be lost or applied twice.

The graph has weights, and every line adds one to that of an edge or removes an edge: a line that is lost or applied twice
shows in the sums.
"""

import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

import graphreach as gr
from graphreach.training.run_folder import read_json
from graphreach.updates.batch_log import BatchLog, Place
from graphreach.updates.edge_events import apply_events
from graphreach.updates.edge_lines import EdgeLines
from graphreach.updates.follower import LAYOUT
from graphreach.updates.models import FollowedLinks

TOP, NODES = 3, 60
BAD = ("outputs_that_differ", "partial_files_left")
HEADER = "source,target,weight,op\n"


def some_graph():
    """The graph that is known before the first line."""
    ends = np.random.default_rng(0).integers(0, NODES, (2, 240))
    return gr.Graph.from_edges(ends, NODES, np.ones(240), reduce="sum")


def make_run(folder):
    """A predictor of links with its graph in a file."""
    graph, file = some_graph(), folder / "graph.csv"
    options = {"steps": 2, "lengths": (2,), "num_anchors": 6, "num_members": 1, "num_links": 60, "start": None}
    gr.LinkPredictor(**options).fit(graph).save(folder / "run")
    source, target = graph.edge_index
    once = source <= target
    columns = {"source": source[once], "target": target[once], "weight": graph.weights[once]}
    pl.DataFrame(columns).write_csv(file)
    return folder / "run", file


def draw_lines(count, draw):
    """Lines that can be applied one after the other, and the edges after all of them."""
    source, target = some_graph().edge_index
    known = zip(source.tolist(), target.tolist(), some_graph().weights.tolist(), strict=True)
    edges = {(u, v): weight for u, v, weight in known if u <= v}
    lines = []
    for number in range(count):
        if draw.random() < 0.2:
            u, v = draw.choice(sorted(edges))
            del edges[u, v]
            lines.append(f"{v},{u},,remove\n")
        else:
            u, v = sorted(draw.sample(range(NODES + number // 20), 2))
            edges[u, v] = edges.get((u, v), 0.0) + 1.0
            lines.append(f"{u},{v},1,add\n")
    return lines, edges


class Appender(threading.Thread):
    """Appends a text to a file in pieces of any length, so that lines are cut where a piece ends; the rest when it is told.

    Lines arrive all the time, also while nobody follows them.
    """

    def __init__(self, path, text, pause, draw):
        super().__init__(daemon=True)
        self._path, self._text, self._pause, self._draw = path, text.encode(), pause, random.Random(draw.random())
        self._finish = threading.Event()

    def run(self):
        at = 0
        while at < len(self._text):
            size = len(self._text) if self._finish.is_set() else self._draw.randint(1, 60)
            with self._path.open("ab") as file:
                file.write(self._text[at : at + size])
            at += size
            self._finish.wait(self._draw.uniform(0, 2 * self._pause))

    def finish(self):
        """Append what is left at once."""
        self._finish.set()
        self.join()


def follow(run, graph, edges, output, *words):
    """A process that follows a file."""
    command = [sys.executable, "-m", "graphreach", "follow", run, edges, "--graph", graph, "-o", output]
    return subprocess.Popen(
        [*map(str, command), "--top", str(TOP), "--every", "10ms", *words], stderr=subprocess.PIPE, text=True
    )


def kill_follower(paths, output, longest, draw):
    """Kill a follower at a random moment; returns whether it ran, and whether it had logged a batch that had no output."""
    process = follow(*paths, output)
    if draw.random() < 0.8:  # the others are killed while they start, or while they do what was left to do
        for line in process.stderr:
            if "following" in line:
                break
        time.sleep(draw.uniform(0.0, longest))
    else:
        time.sleep(draw.uniform(0.0, 8.0))
    running = process.poll() is None
    process.kill()
    process.communicate()
    return running, _count(output / "batches") > _count(output / "changes")


def _count(folder):
    names = [path.name for path in folder.iterdir()] if folder.exists() else []
    return sum(not name.startswith(".") for name in names)


def one_run(folder, count, kills, pause, longest, draw):
    """Kill a follower some times while lines are appended, let it end, and compare; returns what was counted."""
    run, graph = make_run(folder)
    edges, output = folder / "edges.csv", folder / "out"
    lines, expected = draw_lines(count, draw)
    edges.write_text("")
    appender = Appender(edges, HEADER + "".join(lines), pause, draw)
    appender.start()
    found = {"kills": 0, "between_log_and_output": 0, "lines": len(lines)}
    while found["kills"] < kills:
        running, between = kill_follower((run, graph, edges), output, longest, draw)
        assert running, "the follower ended by itself"
        found["kills"] += 1
        found["between_log_and_output"] += between
    appender.finish()
    process = follow(run, graph, edges, output, "--once")
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return found | check(folder, run, edges, output, expected, errors)


def check(folder, run, edges, output, expected, errors):
    """What a folder holds that was followed to the end, against the whole file and a follower that nothing interrupts."""
    log = BatchLog(output)
    batches = [log.read(number) for number in range(1, log.count() + 1)]
    layout = EdgeLines(**read_json(output / LAYOUT)["layout"])
    place = Place(**read_json(output / LAYOUT)["place"])
    for batch in batches:
        assert batch.begin == place, f"batch {batch.number} begins at {batch.begin}, the one before ended at {place}"
        place = batch.end
    lines = b"".join(batch.lines for batch in batches)
    links = gr.LinkPredictor.load(run)
    graph, model, differ = log.newest(0)[1], FollowedLinks(links, TOP), 0
    model.move(graph)
    for batch in batches:
        applied = apply_events(graph, layout.read(batch.lines, batch.begin.line)[0])
        graph = applied.graph
        model.move(graph)
        model.write(folder / "expected.parquet", applied.ends)
        differ += not pl.read_parquet(folder / "expected.parquet").equals(pl.read_parquet(log.output(batch.number)))
    source, target = graph.ids[graph.edge_index]
    weights = zip(source.tolist(), target.tolist(), graph.weights.tolist(), strict=True)
    said = f"nothing is left after batch {len(batches)}: {graph.num_nodes} nodes, {graph.num_edges} edges"
    return {
        "batches": len(batches),
        "same_lines": lines == edges.read_bytes().partition(b"\n")[2],
        "same_graph": {(u, v): weight for u, v, weight in weights if u <= v} == expected and said in errors,
        "outputs": len(list((output / "changes").glob("*.parquet"))),
        "outputs_that_differ": differ,
        "partial_files_left": len(list(output.rglob("*.partial*"))),
    }


def count_follows(kills, seed):
    """Kill followers until there were so many kills, five in each run."""
    draw, total = random.Random(seed), {"runs": 0, "runs_with_the_graph_of_the_whole_file": 0, "runs_with_its_lines": 0}
    total |= dict.fromkeys(("kills", "between_log_and_output", "lines", "batches", "outputs", *BAD), 0)
    with tempfile.TemporaryDirectory() as scratch:
        while total["kills"] < kills:
            folder = Path(scratch, str(total["runs"]))
            folder.mkdir()
            found = one_run(folder, 3000, min(5, kills - total["kills"]), 0.04, 4.0, draw)
            total["runs"] += 1
            total["runs_with_the_graph_of_the_whole_file"] += found.pop("same_graph")
            total["runs_with_its_lines"] += found.pop("same_lines")
            total |= {name: total[name] + value for name, value in found.items()}
            print(total, file=sys.stderr, flush=True)
    return total
