import hashlib
import subprocess
import sys

import pytest

import graphreach as gr
from graphreach.datasets import email_core, registry
from graphreach.datasets.store import DataFile, Plain, Source

CLIQUE = "".join(f"{u} {v}\n" for u in range(12) for v in range(u)).encode()
LABELS = "".join(f"{u} {u % 2 + 3}\n" for u in range(12)).encode()


@pytest.fixture
def small(server, monkeypatch):
    """Email-Complete made from two files of our own server."""
    files = []
    for name, original, body in (("/edges", email_core.EDGES, CLIQUE), ("/labels", email_core.LABELS, LABELS)):
        check = Plain(hashlib.sha256(body).hexdigest())
        files.append(DataFile(original.path, check, (Source((server.gives(name, body),)),)))
    monkeypatch.setattr(email_core, "EDGES", files[0])
    monkeypatch.setattr(email_core, "LABELS", files[1])
    entry = registry.Entry("small", "", email_core.email_complete, tuple(files), 1, 12, 66)
    monkeypatch.setattr(registry, "ENTRIES", (entry,))


def test_missing_files_are_downloaded_once(small, server, tmp_path):
    dataset = gr.datasets.load("small", tmp_path)
    assert (dataset.num_nodes, dataset.num_edges, dataset.num_classes) == (12, 66, 2)
    assert dataset.classes.tolist() == [3, 4]
    gr.datasets.load("small", tmp_path)
    assert server.asked == ["/edges", "/labels"]
    assert gr.datasets.fetch("small", tmp_path) == [
        tmp_path / "email" / name for name in ("email.txt", "email_labels.txt")
    ]


def test_folder_of_the_variable(small, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_DATA", str(tmp_path / "data"))
    gr.datasets.load("small")
    assert (tmp_path / "data" / "email" / "email.txt").read_bytes() == CLIQUE


def test_generated_need_neither_root_nor_pooch(monkeypatch):
    monkeypatch.delenv("GRAPHREACH_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert gr.datasets.load("communities").num_nodes == 400
    assert gr.datasets.fetch("grid") == []


def test_nothing_heavy_is_imported(data_root):
    code = f"""
import sys
import graphreach as gr
gr.datasets.load("cora", {str(data_root)!r})
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "pooch", "requests", "networkx", "pandas"} & set(done.stdout.split())
