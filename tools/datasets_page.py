"""The page ``docs/datasets.md``, made from what is loaded: ``python -m tools.datasets_page``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from graphreach.datasets.contents import Gzipped, Plain, Zipped
from graphreach.datasets.data_file import DataFile
from graphreach.datasets.load import load
from graphreach.datasets.registry import ENTRIES
from graphreach.files import replacing
from graphreach.progress import track
from tools.table_2 import TABLE_2, agrees, count, differences

PAGE = Path("docs/datasets.md")

HEAD = """\
# Data sets

<!-- Made by python -m tools.datasets_page from the loaded data sets; not to be edited by hand. -->

<!-- test: data -->
```python
import graphreach as gr

dataset = gr.datasets.load("cora")
sample = dataset[0]  # sample.graph, sample.x (attributes or None), sample.y (classes or None)
```

`graphreach datasets` lists them and says whether their files are here; `graphreach datasets fetch cora` (or `all`)
downloads what is missing. Files are in `<root>/<dataset>/`; the root is `GRAPHREACH_DATA`, else the user's cache. On a
machine without internet, put the files listed below into that folder. Every file is checked before it is read, wherever it
came from.
"""

PAPER = """\
## The paper's data sets

Built by P-GNN's recipe, which the paper uses. The first figure is ours, the second that of the paper's Table 2, which cuts
thousands and does not round them. Self-loops are dropped everywhere, ids are those of the files. Diameters are in hops, the
largest of all graphs. Communities is drawn from a seed; the figures are those of seed 0.
"""

NOTES = """\
Worth knowing:

- Email is cut into graphs *by the labels*: edges between departments whose number divided by six differs are removed first.
  Which graph a node is in says which six departments it can be of.
- Fifteen test papers of CiteSeer have neither words nor a label. Their attributes are zero and their class is 0, as in
  PyTorch Geometric and so in the authors' code.
- Protein's 29 attributes are standardised by row, each node on its own. PPI's first two columns go through a logarithm, and
  0.1 is added to all of them.
"""

FILES = """\
Checksums are of what is inside where the same content is packed in different ways. `chicago_regional.csv.gz` is the first
three columns of the network file that its sources have; what GitHub has as text is packed here.
"""


def make_page(root: str | None = None) -> str:
    """The text of the page; loads every data set."""
    names = list(TABLE_2)
    rows, reasons = [], []
    for name in track(names, len(names), "counting data sets"):
        row, reason = _paper_row(name, root)
        rows.append(row)
        reasons += reason
    header = ("data set", "graphs", "nodes", "edges", "classes", "diameter", "attributes")
    return "\n".join(
        [
            HEAD,
            PAPER,
            _markdown(header, rows),
            "\nWhere the two differ:\n",
            *reasons,
            f"\n{NOTES}",
            "## Beside them\n",
            _others(root),
            "\n## Files\n",
            FILES,
            _files(),
        ]
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
    return _markdown(("data set", "what", "nodes", "edges", "classes", "attributes"), rows)


def _files() -> str:
    rows = []
    for file in dict.fromkeys(file for entry in ENTRIES for file in entry.files):
        sources = ", ".join(f"[{source.label}]({source.urls[0]})" for source in file.sources)
        used = ", ".join(entry.name for entry in ENTRIES if file in entry.files)
        rows.append([f"`{file.path}`", used, _known_by(file), sources])
    return _markdown(("file", "of", "known by", "sources"), rows)


def _known_by(file: DataFile) -> str:
    if isinstance(file.open, Plain):
        return f"sha256 `{file.open.sha256[:12]}...`"
    if isinstance(file.open, Gzipped):
        return f"sha256 of the unpacked text `{file.open.sha256[:12]}...`"
    if isinstance(file.open, Zipped):
        return f"sha256 of {len(file.open.sha256)} entries"
    return "sha256 of two entries and of the sorted links of the third"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
