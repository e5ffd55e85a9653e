"""The README's code runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [code for language, code in BLOCKS if language == "sh" and "graphreach info" in code]


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_block_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {"__name__": "readme"})


def test_output_in_comments_is_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = (code for code in PYTHON if "roads.csv" in code)
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out == "Graph(num_nodes=3, num_edges=2, directed=False, weighted=True)\n2\n"


def test_shell_block_runs(tmp_path):
    (code,) = SHELL
    command = f'graphreach() {{ {sys.executable} -c "from graphreach.cli import main; main()" "$@"; }}\n'
    result = subprocess.run(["sh", "-e", "-c", command + code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    names = {"friends.csv", "reach.parquet", "embedding.parquet", "run", "comparison"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_links_lead_somewhere():
    targets = re.findall(r"\]\((?!https?://)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (README.parent / target).exists(), target
