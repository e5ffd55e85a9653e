import re
from collections import Counter
from pathlib import Path

import pytest

from graphreach import datasets
from graphreach.errors import InputError
from graphreach.experiments import ORDER, load_experiment, works
from graphreach.experiments.definition import Figure, columns, read_figure
from graphreach.experiments.work import Store, Work

RESULTS = Path(__file__).parents[2] / "results"

PNC = ["communities", "email", "email-complete", "protein"]
LP = ["grid-t", "communities-t", "grid", "communities", "ppi"]
NODES = ["cora-node-st", "cora-node-s", "citeseer-node-st", "citeseer-node-s"]
SHAPES = {
    "table-3a": (7, PNC), "table-3b": (7, LP), "table-4": (6, 12), "table-5a": (3, PNC), "table-5b": (3, LP),
    "table-6": (2, 6), "table-7": (2, 12), "table-8a": (2, PNC), "table-8b": (2, LP), "table-9a": (6, PNC),
    "table-9b": (6, LP), "table-10a": (9, PNC), "table-10b": (9, LP),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDER)
def test_every_file_makes_valid_runs(name):
    experiment = load_experiment(name)
    cells = [(cell.group.name, cell.key, cell.name) for cell in experiment.cells()]
    assert set(Counter(cells).values()) == {1}
    for cell in experiment.cells():
        assert cell.column.data in datasets.names()
        assert cell.row.published is None or cell.row.published in experiment.published
        assert cell.leaks == (cell.work(0).leak is not None) == cell.group.name.startswith("Leaking: ")
        assert cell.work(3).settings.seed == 3
    assert set().union(*experiment.blocks) in (set(), set(experiment.columns))


@pytest.mark.parametrize("name", ORDER)
def test_every_published_row_has_a_figure_for_every_column_and_a_row_of_ours(name):
    experiment = load_experiment(name)
    rows, wanted = SHAPES.get(name, (0, []))
    assert len(experiment.published) == rows
    if rows:
        assert list(experiment.columns) == wanted or len(experiment.columns) == wanted
    for row, figures in experiment.published.items():
        assert len(figures) == len(experiment.columns)
        assert None not in figures
        assert any(cell.row.published == row for cell in experiment.cells())


def tables(tex, *labels):
    """Figures of the paper's source by label: rows of (mean, deviation)."""
    out = {}
    for label in labels:
        begin = tex.index(rf"\label{{{label}}}")
        body = tex[begin : tex.index(r"\end{tabular}", begin)].split(r"\midrule", 1)[1]
        rows = [row for row in body.split(r"\\") if "pm" in row or "bld" in row]
        out[label] = [
            [
                Figure(float(one or three), float(two or four))
                for one, two, three, four in re.findall(r"\\bld\{([\d.]+)\}\{([\d.]+)\}|([\d.]+) *\\pm *([\d.]+)", row)
            ]
            for row in rows
        ]
    return out


LABELS = {
    "table-3a": "tab:pairwise", "table-3b": "tab:link", "table-5a": "tab:pairwise_ablation",
    "table-5b": "tab:link_ablation", "table-8a": "tab:pairwise_osim", "table-8b": "tab:link_osim",
    "table-9a": "tab:lw_pnc", "table-9b": "tab:lw_lp", "table-10a": "tab:nw_pnc", "table-10b": "tab:nw_lp",
}  # fmt: skip


@pytest.fixture
def tex(data_root):
    path = data_root.parent / "paper" / "graphreach.tex"
    if not path.exists():
        pytest.skip("the paper's source is not here")
    return path.read_text()


@pytest.mark.parametrize("name", LABELS)
def test_figures_are_those_of_the_paper(tex, name):
    (found,) = tables(tex, LABELS[name]).values()
    assert [list(figures) for figures in load_experiment(name).published.values()] == found


def test_figures_of_cora_and_citeseer_are_those_of_the_paper(tex):
    published = load_experiment("table-4").published
    rows = re.findall(r"(LP|PNC|NC) & \\(cora|citeseer)(.*?)\\\\", tex)
    assert len(rows) == 6
    found = []
    for place, (_, _, text) in enumerate(rows):
        values = [float(each) for each in re.findall(r"0\.\d\d", text)]
        ours = [figures[2 * place + i].mean for figures in published.values() for i in (0, 1)]
        assert ours == values
        found += values
    assert len(found) == 72


def test_figures_of_attacks_and_times_are_those_of_the_paper(tex):
    attack = load_experiment("table-6").published
    for row, task in ((0, "PNC"), (1, "LP ")):
        text = re.search(rf"Communities & {task}(.*?)\\\\", tex)[1].replace(r"\mathbf", "")
        values = [float(each) for each in re.findall(r"-?\d\.\d\d", text)]
        ours = [figures[3 * row + i].mean for figures in attack.values() for i in range(3)]
        assert ours == values
    times = load_experiment("table-7").published
    block = tex[tex.index(r"\textbf{Training Time") : tex.index(r"\caption{Training and Inference")]
    rows = [[float(each) for each in re.findall(r"& +([\d.]+)", row)] for row in block.split(r"\\")]
    rows = [row for row in rows if len(row) == 4]
    ours = [
        [times["P-GNN-E"][2 * i].mean, times["GraphReach"][2 * i].mean, times["P-GNN-E"][2 * i + 1].mean,
         times["GraphReach"][2 * i + 1].mean]
        for i in range(6)
    ]  # fmt: skip
    assert ours == rows


def test_budgets():
    shared = columns()
    for name in ("communities", "grid", "email", "email-complete"):
        assert (shared[name]["seeds"], shared[name]["settings"]["epochs"], shared[name]["settings"]["patience"]) == (
            10,
            1000,
            200,
        )
    assert all(
        len({seed for _, seed, _ in works(load_experiment(f"table-{n}{p}"))}) <= 3 for n in (9, 10) for p in "ab"
    )


def test_reach_has_the_splits_and_columns_of_the_other_methods():
    """But transductive columns, as it has no vector for each node."""
    for name in ("table-3a", "table-3b", "table-4", "table-6"):
        experiment = load_experiment(name)
        found = {(cell.group.name, cell.key, cell.name) for cell in experiment.cells()}
        assert any(key == "reach" for _, key, _ in found)
        for group, key, column in found:
            is_transductive = experiment.columns[column].settings.get("identity", False)
            if key == "pgnn-e" and column not in NODES and "epochs" not in group and "weight decay" not in group:
                assert ((group, "reach", column) in found) is not is_transductive
    cells = [cell for cell in load_experiment("table-6").cells() if cell.key in ("pgnn-e", "reach")]
    assert len({(cell.column.data, cell.seeds, str(cell.work(0).attack)) for cell in cells}) == 1


def test_figure_without_deviation():
    assert read_figure(0.86) == Figure(0.86, None)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'table-3"):
        load_experiment("table-3c")


@pytest.mark.parametrize("name", ORDER)
def test_results_in_the_repository_are_those_that_definitions_ask_for(name):
    """A definition or a preset that was changed leaves results behind that no table shows: delete them, run again."""
    lines = Store(RESULTS, name).lines()
    seeds = {line["work"]["settings"].get("seed", 0) for line in lines}
    assert lines
    assert {line["key"] for line in lines} <= {work.key for _, _, work in works(load_experiment(name), seeds)}


def test_the_papers_split_is_the_default_of_experiments_alone():
    paper = Work.make(data="grid", settings={"task": "pair"})
    assert paper.settings.protocol == "published"
    assert paper.describe()["settings"] == {"task": "pair"}
    assert Work.make(data="grid", settings={"task": "pair", "protocol": "clean"}).describe()["settings"] == {
        "task": "pair", "protocol": "clean",
    }  # fmt: skip


def test_settings_at_their_defaults_change_no_key():
    plain = Work.make(data="grid", settings={"epochs": 5})
    spelt = Work.make(data="grid", settings={"epochs": 5, "keep_connected": False, "bipartite": None})
    assert spelt.key == plain.key
    assert Work.make(data="grid", settings={"epochs": 5, "keep_connected": True}).key != plain.key
