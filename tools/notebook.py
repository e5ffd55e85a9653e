"""The notebook: ``python -m tools.notebook`` runs it and writes what its cells show; the site has it as a page."""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from graphreach.io.files import replacing

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "first_graph.ipynb"
PAGE = "first-graph.md"
"""Where the site shows it, at the top of the documentation."""

TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
NUMBER = re.compile(r"\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 0.01
RENEW = "run python -m tools.notebook to renew it"


def read(path: Path = NOTEBOOK) -> Any:
    """The notebook as it is committed."""
    import nbformat

    return nbformat.read(path, as_version=4)


def execute(notebook: Any) -> Any:
    """A copy that was run from top to bottom in an empty folder; messages on stderr are left out."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    fresh = notebook.copy()
    with tempfile.TemporaryDirectory() as folder:
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=f"{folder}/kernel.json")
        where = {"metadata": {"path": folder}}
        NotebookClient(fresh, kernel, timeout=600, record_timing=False, resources=where).execute(cleanup_kc=True)
    for cell in code_cells(fresh):
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    fresh.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return fresh


def code_cells(notebook: Any) -> list[Any]:
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def difference(committed: Any, fresh: Any) -> str:
    """What a run shows otherwise than the committed notebook, as a sentence; nothing if they agree.

    Words have to be the same. Numbers with a point may differ by rounding, and pictures are not compared.
    """
    for number, (old, new) in enumerate(zip(code_cells(committed), code_cells(fresh), strict=True), start=1):
        expected, found = shown(old), shown(new)
        if NUMBER.sub("#", expected) != NUMBER.sub("#", found) or _apart(expected, found):
            return f"code cell {number} of {NOTEBOOK.name} shows\n{found}\nand is committed with\n{expected}\n{RENEW}"
    return ""


def _apart(expected: str, found: str) -> bool:
    both = zip(NUMBER.findall(expected), NUMBER.findall(found), strict=True)
    return any(abs(float(one) - float(other)) > TOLERANCE for one, other in both)


def shown(cell: Any) -> str:
    """What a cell shows in words; a picture is a line that says so."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            parts.append("(a picture)")
        else:
            parts.append(output.get("text") or data.get("text/plain", ""))
    return "\n".join(parts)


def page(notebook: Any) -> str:
    """The notebook as a page in Markdown, complete in itself: tables are HTML, and pictures stand in the page.

    Example:
        >>> from types import SimpleNamespace as Cell
        >>> hello = Cell(cell_type="code", source="print(1)", outputs=[{"output_type": "stream", "text": "1"}])
        >>> page(Cell(cells=[Cell(cell_type="markdown", source="# Hello"), hello])).splitlines()[4:8]
        ['```python', 'print(1)', '```', '']
    """
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source.replace("](../docs/", "]("))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [_output(each) for each in cell.outputs]
    head, *others = parts
    source = f"This page is the notebook `examples/{NOTEBOOK.name}`, with what its cells showed when it was run."
    return "\n\n".join([head, source, *others, ""])


def _output(output: Any) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"].split())
        return f'<img class="notebook-picture" alt="What the cell above draws." src="data:image/png;base64,{picture}">'
    table = TABLE.search(data.get("text/html", ""))
    if table:
        rows = re.sub(r' (?:border|class|style)="[^"]*"', "", table[0])
        return f'<div class="notebook-output">\n{rows}\n</div>'
    text = output.get("text") or data.get("text/plain", "")
    return f"```{{ .text .notebook-output }}\n{text.rstrip()}\n```"


def main() -> int:
    """Run the notebook and write it with what its cells show."""
    import nbformat

    fresh = execute(read())
    with replacing(NOTEBOOK) as partial:
        nbformat.write(fresh, partial)
    return 0


if __name__ == "__main__":
    sys.exit(main())
