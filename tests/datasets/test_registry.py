import hashlib
import re

import pytest

import graphreach as gr
from graphreach.datasets import find, names, planetoid
from graphreach.datasets.registry import ENTRIES
from graphreach.datasets.store import Gzipped, Plain
from graphreach.errors import InputError

PAPER = ["grid", "communities", "email", "email-complete", "protein", "ppi", "cora", "citeseer"]


def test_all_that_is_promised_is_there():
    others = ["karate", "pubmed", "ca-astroph", "email-enron", "soc-epinions1", "chicago-regional", "facebook"]
    assert names() == PAPER + others
    for name in names():
        assert name in gr.datasets.load.__doc__


@pytest.mark.parametrize("entry", ENTRIES, ids=names())
def test_known_counts_are_those_of_the_loaded(entry, data_root):
    dataset = gr.datasets.load(entry.name, data_root)
    assert dataset.name == entry.name
    graph = dataset[0].graph
    assert (entry.num_graphs, entry.num_nodes, entry.num_edges, entry.num_features, entry.num_classes) == (
        len(dataset),
        dataset.num_nodes,
        dataset.num_edges,
        dataset.num_features,
        dataset.num_classes,
    )
    assert (entry.directed, entry.weighted) == (graph.directed, graph.weighted)


@pytest.mark.parametrize("entry", ENTRIES, ids=names())
def test_loading_twice_gives_the_same(entry, data_root):
    first, second = (gr.datasets.load(entry.name, data_root, seed=5) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.graph.content_hash == other.graph.content_hash
        for name in ("x", "y"):
            a, b = getattr(one, name), getattr(other, name)
            assert (a is None) == (b is None)
            assert a is None or a.tobytes() == b.tobytes()


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.num_classes], ids=lambda entry: entry.name)
def test_every_class_occurs(entry, data_root):
    dataset = gr.datasets.load(entry.name, data_root)
    assert set().union(*(sample.y.tolist() for sample in dataset)) == set(range(entry.num_classes))


def test_checksums_are_those_of_the_mirror(data_root):
    lines = (data_root / "SHA256SUMS").read_text().splitlines()
    listed = {line.split()[1].removeprefix("./"): line.split()[0] for line in lines}
    plain = {f.path: f.open.sha256 for e in ENTRIES for f in e.files if isinstance(f.open, Plain)}
    plain |= {
        f"{name}/ind.{name}.{part}": sha256
        for name, parts in planetoid.SHA256.items()
        for part, sha256 in parts.items()
    }
    assert len(plain) == 2 + 3 * 8
    assert plain == {path: listed[path] for path in plain}


def test_files_are_in_one_folder_with_several_sources():
    for entry in ENTRIES:
        assert len({file.folder for file in entry.files}) <= 1
        for file in entry.files:
            assert re.fullmatch(r"[a-z]+/[\w.-]+", file.path)
            assert len(file.sources) >= 2
            assert len({source.urls for source in file.sources}) == len(file.sources)
            for url in (url for source in file.sources for url in source.urls):
                assert re.fullmatch(r"https?://[\w.-]+/[\w./-]+", url)
            if isinstance(file.open, Plain | Gzipped):
                assert len(file.open.sha256) == len(hashlib.sha256().hexdigest())


@pytest.mark.parametrize("name", ["Cora", "CORA", " cora "])
def test_case_does_not_matter(name):
    assert find(name).name == "cora"


def test_underscores_are_dashes():
    assert find("Email_Complete").name == "email-complete"
    assert find("ca-AstroPh").name == "ca-astroph"
    assert find("chicago_regional").name == "chicago-regional"


@pytest.mark.parametrize(
    ("name", "near"),
    [("coar", "cora"), ("citeser", "citeseer"), ("emailcomplete", "email-complete"), ("protien", "protein")],
)
def test_unknown_names_suggest_the_nearest(name, near):
    with pytest.raises(InputError, match=f"got '{name}'; did you mean '{near}'\\?"):
        gr.datasets.load(name)


def test_names_like_none_of_them():
    with pytest.raises(InputError, match=r"there are grid, communities, .*, facebook"):
        find("zzz")
    with pytest.raises(InputError, match="got 3"):
        find(3)
