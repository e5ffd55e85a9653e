"""The page ``docs/datasets.md``, made from what is loaded: ``python -m tools.datasets_page``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from graphreach.datasets.registry import ENTRIES, load
from graphreach.datasets.store import DataFile, Gzipped, Plain, Zipped
from graphreach.io.files import replacing
from graphreach.progress import track
from tools.table_2 import TABLE_2, agrees, count, differences
from tools.templates import fill, table

PAGE = Path("docs/datasets.md")


def make_page(root: str | None = None) -> str:
    """The text of the page; loads every data set."""
    names = list(TABLE_2)
    rows, reasons = [], []
    for name in track(names, len(names), "counting data sets"):
        row, reason = _paper_row(name, root)
        rows.append(row)
        reasons += reason
    header = ("data set", "graphs", "nodes", "edges", "classes", "diameter", "attributes")
    return fill(
        "datasets.md",
        paper=table(header, rows),
        differences="\n".join(reasons),
        others=_others(root),
        files=_files(),
    )


def _paper_row(name: str, root: str | None) -> tuple[list[str], list[str]]:
    dataset = load(name, root)
    ours, paper = count(dataset), TABLE_2[name]._asdict()
    cells = [f"{ours[column]:,} / {paper[column]}" if ours[column] else f"- / {paper[column]}" for column in ours]
    reasons = [
        f"- **{name}**, {', '.join(difference.columns)}: {difference.why}"
        for difference in differences(name, root)
        if not all(agrees(ours[column], paper[column]) for column in difference.columns)
    ]
    return [name, str(len(dataset)), *cells], reasons


def _others(root: str | None) -> str:
    rows = []
    for entry in (entry for entry in ENTRIES if entry.name not in TABLE_2):
        dataset = load(entry.name, root)
        figures = (dataset.num_nodes, dataset.num_edges, dataset.num_classes, dataset.num_features)
        kinds = [kind for kind in ("directed", "weighted") if getattr(entry, kind)]
        what = ", ".join([entry.about, *kinds])
        rows.append([entry.name, what, *(f"{figure:,}" if figure else "-" for figure in figures)])
    return table(("data set", "what", "nodes", "edges", "classes", "attributes"), rows)


def _files() -> str:
    rows = []
    for file in dict.fromkeys(file for entry in ENTRIES for file in entry.files):
        sources = ", ".join(f"[{source.label}]({source.urls[0]})" for source in file.sources)
        used = ", ".join(entry.name for entry in ENTRIES if file in entry.files)
        rows.append([f"`{file.path}`", used, _known_by(file), sources])
    return table(("file", "of", "known by", "sources"), rows)


def _known_by(file: DataFile) -> str:
    if isinstance(file.open, Plain):
        return f"sha256 `{file.open.sha256[:12]}...`"
    if isinstance(file.open, Gzipped):
        return f"sha256 of the unpacked text `{file.open.sha256[:12]}...`"
    if isinstance(file.open, Zipped):
        return f"sha256 of {len(file.open.sha256)} entries"
    return "sha256 of two entries and of the sorted links of the third"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    parser = argparse.ArgumentParser(prog="python -m tools.datasets_page", description=__doc__)
    parser.add_argument("--output", type=Path, default=PAGE, help="the page (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is out of date")
    options = parser.parse_args(arguments)
    text = make_page()
    if options.check:
        return int(not options.output.exists() or options.output.read_text(encoding="utf-8") != text)
    with replacing(options.output) as partial:
        partial.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
