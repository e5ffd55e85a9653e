"""The PyG transform."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.data.datapipes import DatasetAdapter
from torch_geometric.transforms import BaseTransform, Compose, RandomLinkSplit, ToSparseTensor

import graphreach as gr
from graphreach.errors import InputError
from graphreach.transforms import AddReachability
from helpers import random_graph, run_python
from nn_literal import assert_near, ring_with_chords

pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CSR tensor support|invariant checks)")


def as_data(graph, **attributes):
    edges = torch.from_numpy(graph.edge_index.copy())
    return Data(edge_index=edges, num_nodes=graph.num_nodes, **attributes)


class Tiny(InMemoryDataset):
    """Three graphs of different sizes."""

    def __init__(self, root, transform=None, pre_transform=None):
        super().__init__(root, transform, pre_transform)
        self.load(self.processed_paths[0])

    raw_file_names = ()
    processed_file_names = ("data.pt",)

    def process(self):
        graphs = [as_data(random_graph(n, 3 * n, seed=n), x=torch.ones(n, 2)) for n in (10, 25, 40)]
        self.save(
            [data if self.pre_transform is None else self.pre_transform(data) for data in graphs],
            self.processed_paths[0],
        )


def dense_matrices(data):
    if "adj_to_anchors" in data:
        return data.adj_to_anchors.to_dense(), data.adj_from_anchors.to_dense()
    return data.to_anchors, data.from_anchors


def assert_same_positions(one, other):
    assert torch.equal(one.anchor_index, other.anchor_index)
    for mine, others in zip(dense_matrices(one), dense_matrices(other), strict=True):
        assert torch.equal(mine, others)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_adds_what_the_functions_compute(layout):
    graph = ring_with_chords()
    data = AddReachability(6, layout=layout, num_walks=20, walk_length=4, seed=3)(as_data(graph))
    options = {"num_walks": 20, "walk_length": 4, "seed": 3}
    anchors = gr.select_anchors(graph, 6, **options)
    reach = gr.reachability(graph, anchors, **options)
    assert data.anchor_index.tolist() == anchors.anchors.tolist()
    for mine, theirs in zip(dense_matrices(data), (reach.to_anchors, reach.from_anchors), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)


def test_dense_and_csr_hold_the_same():
    data = as_data(random_graph(30, 40))
    assert_same_positions(*(AddReachability(5, layout=layout, walk_length=2)(data) for layout in ("dense", "csr")))


def test_options_reach_the_engine():
    graph = ring_with_chords()
    data = AddReachability(anchors=[0, 5], method="exact", walk_length=3, hops=3)(as_data(graph))
    expected = gr.reachability(graph, [0, 5], method="exact", walk_length=3, hops=3)
    np.testing.assert_array_equal(data.to_anchors.numpy(), expected.to_anchors)


def test_leaves_its_input_alone():
    add, data = AddReachability(4), as_data(ring_with_chords())
    assert isinstance(add, BaseTransform)
    out = add(data)
    assert "to_anchors" not in data
    assert "to_anchors" in out


def test_is_registered_as_a_functional_transform():
    data = as_data(ring_with_chords())
    (piped,) = DatasetAdapter([data]).add_reachability(4, walk_length=3)
    assert_same_positions(piped, AddReachability(4, walk_length=3)(data))


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("num_anchors", [4, "log2"])
def test_transform_and_pre_transform_of_a_data_set(tmp_path, layout, num_anchors):
    if layout == "dense" and num_anchors == "log2":
        pytest.skip("dense matrices of one data set need one number of anchors")
    add = AddReachability(num_anchors, layout=layout, walk_length=3)
    later, before = Tiny(tmp_path / "a", transform=add), Tiny(tmp_path / "b", pre_transform=add)
    again = Tiny(tmp_path / "b", pre_transform=add)
    plain = Tiny(tmp_path / "c")
    for i in range(3):
        expected = add(plain[i])
        for dataset in (later, before, again):
            assert_same_positions(dataset[i], expected)


def test_in_a_composition():
    data = Compose([AddReachability(4), ToSparseTensor()])(as_data(ring_with_chords()))
    assert data.to_anchors.shape == (60, 4)


def test_reads_adj_t():
    plain = as_data(ring_with_chords())
    sparse = ToSparseTensor()(as_data(ring_with_chords()))
    assert "edge_index" not in sparse
    add = AddReachability(4, walk_length=3)
    assert_same_positions(add(plain), add(sparse))


def test_respects_edge_weight():
    graph = ring_with_chords()
    source, target = graph.edge_index
    weight = torch.from_numpy(1.0 + (source + target) % 5)
    plain, weighted = as_data(graph), as_data(graph, edge_weight=weight)
    add = AddReachability(anchors=[0, 7], method="exact", walk_length=3)
    expected = gr.reachability(gr.Graph.from_pyg(weighted), [0, 7], method="exact", walk_length=3)
    np.testing.assert_array_equal(add(weighted).to_anchors.numpy(), expected.to_anchors)
    assert not torch.allclose(add(weighted).to_anchors, add(plain).to_anchors)
    ones = as_data(graph, edge_weight=torch.ones(len(source)))
    assert_near(add(ones).to_anchors, add(plain).to_anchors, 1e-6)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_nothing_is_n_by_n(layout):
    n = 500
    data = AddReachability(6, layout=layout, walk_length=3)(as_data(ring_with_chords(n)))
    added = [value for _, value in data if isinstance(value, torch.Tensor)]
    for value in added:
        assert list(value.shape).count(n) <= 1
        stored = value.values().numel() if value.layout == torch.sparse_csr else value.numel()
        assert stored < 8 * n


def test_after_random_link_split_only_edge_index_is_seen():
    torch.manual_seed(0)
    split = RandomLinkSplit(num_val=0.2, num_test=0.2, is_undirected=True)
    for part in split(as_data(ring_with_chords())):
        expected = AddReachability(6, walk_length=3)(part)
        alone = AddReachability(6, walk_length=3)(Data(edge_index=part.edge_index, num_nodes=60))
        assert_same_positions(expected, alone)
        poisoned = part.clone()
        poisoned.edge_label_index = torch.randint(60, (2, 500))
        poisoned.edge_label = torch.ones(500)
        assert_same_positions(AddReachability(6, walk_length=3)(poisoned), expected)
        graph = gr.Graph.from_pyg(Data(edge_index=part.edge_index, num_nodes=60))
        held_out = part.edge_label_index[:, part.edge_label == 1].t().tolist()
        seen = set(map(tuple, graph.edge_index.T.tolist()))
        assert part.edge_index.size(1) == len(seen)
        assert held_out


def test_one_anchor_set_for_all_parts():
    torch.manual_seed(0)
    train, val, test = RandomLinkSplit(num_val=0.2, num_test=0.2, is_undirected=True)(as_data(ring_with_chords()))
    train = AddReachability(6, walk_length=3)(train)
    shared = AddReachability(anchors=train.anchor_index, walk_length=3)
    for part in (val, test):
        assert torch.equal(shared(part).anchor_index, train.anchor_index)
    assert_same_positions(shared(Data(edge_index=train.edge_index, num_nodes=60)), train)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_names_batch_correctly(layout):
    add = AddReachability(4, layout=layout, walk_length=3)
    graphs = [add(as_data(random_graph(n, 3 * n, seed=n))) for n in (10, 25)]
    batch = Batch.from_data_list(graphs)
    assert batch.anchor_index.tolist() == graphs[0].anchor_index.tolist() + (graphs[1].anchor_index + 10).tolist()
    for mine, parts in zip(dense_matrices(batch), zip(*map(dense_matrices, graphs), strict=True), strict=True):
        expected = torch.cat(parts) if layout == "dense" else torch.block_diag(*parts)
        assert torch.equal(mine, expected)


def test_repr_and_errors():
    add = AddReachability(64, layout="csr")
    assert repr(add) == "AddReachability(num_anchors=64, strategy=greedy, layout=csr)"
    with pytest.raises(InputError, match='layout must be "dense" or "csr", got \'coo\''):
        AddReachability(layout="coo")
    with pytest.raises(InputError):
        AddReachability(anchors=[99])(as_data(ring_with_chords()))


def test_same_seed_same_result():
    data = as_data(ring_with_chords())
    assert_same_positions(AddReachability(6, seed=4)(data), AddReachability(6, seed=4)(data))


def test_csr_warns_of_nothing():
    run_python("""
import warnings, torch
from torch_geometric.data import Data
from graphreach.transforms import AddReachability
warnings.simplefilter("error")
AddReachability(1, layout="csr")(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))
""")
