"""Graphs of other libraries: networkx, PyTorch Geometric, scipy, pandas and polars."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from graphreach.errors import InputError
from graphreach.graph import Graph


def test_networkx_keeps_ids_isolated_nodes_and_direction():
    G = nx.DiGraph([("b", "a"), ("a", 3)])
    G.add_node((1, 2))
    graph = Graph.from_networkx(G)
    assert graph.ids.tolist() == [3, "a", "b", (1, 2)]
    assert graph.directed
    assert graph.edge_index.tolist() == [[1, 2], [0, 1]]
    assert Graph.from_networkx(G, directed=False).num_edges == 2


def test_networkx_missing_weights_are_one():
    G = nx.Graph()
    G.add_edge(0, 1, weight=3.0)
    G.add_edge(1, 2)
    assert Graph.from_networkx(G).degree.tolist() == [3, 4, 1]
    assert not Graph.from_networkx(G, weight=None).weighted
    assert not Graph.from_networkx(G, weight="length").weighted


def test_networkx_multigraph_weights_are_added():
    G = nx.MultiGraph()
    G.add_edge(0, 1, weight=1.0)
    G.add_edge(1, 0, weight=2.0)
    assert Graph.from_networkx(G).weights.tolist() == [3, 3]


def test_networkx_errors():
    with pytest.raises(InputError, match="G must be a networkx graph, got dict"):
        Graph.from_networkx({})
    with pytest.raises(InputError, match="at least one node"):
        Graph.from_networkx(nx.Graph())
    with pytest.raises(InputError, match="edge attribute 'weight' must be finite and not negative, got -1"):
        Graph.from_networkx(nx.Graph([(0, 1, {"weight": -1})]))


def test_scipy_infers_direction_and_weights():
    symmetric = scipy.sparse.csr_array([[0, 1], [1, 0]])
    graph = Graph.from_scipy(symmetric)
    assert (graph.directed, graph.weighted, graph.num_edges) == (False, False, 1)
    assert Graph.from_scipy(symmetric, directed=True).num_edges == 2
    uneven = scipy.sparse.coo_matrix([[0, 2.0], [1.0, 0]])
    assert Graph.from_scipy(uneven).weights.tolist() == [2, 1]
    assert Graph.from_scipy(uneven).directed
    assert Graph.from_scipy(uneven, directed=False, reduce="max").weights.tolist() == [2, 2]


def test_scipy_explicit_zeros_are_no_edges_and_repeats_are_added():
    A = scipy.sparse.coo_array(([0.0, 1.0, 1.0], ([0, 1, 1], [1, 2, 2])), shape=(4, 4))
    graph = Graph.from_scipy(A)
    assert (graph.num_nodes, graph.num_edges, graph.weights.tolist()) == (4, 1, [2])


def test_scipy_all_formats():
    A = scipy.sparse.random_array((9, 9), density=0.3, rng=np.random.default_rng(0))
    hashes = {Graph.from_scipy(A.asformat(kind)).content_hash for kind in ("csr", "csc", "coo", "lil", "dok")}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("A", "sentence"),
    [
        (np.eye(2), "A must be a scipy sparse matrix, got ndarray"),
        (scipy.sparse.csr_array((2, 3)), r"A must be square, got shape \(2, 3\)"),
        (scipy.sparse.csr_array([[0, 1j], [0, 0]]), "A must hold real numbers, got complex128"),
        (scipy.sparse.csr_array([[0, -1], [0, 0]]), "must be finite and not negative, got -1.0"),
    ],
)
def test_scipy_errors(A, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph.from_scipy(A)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).lazy()])
@pytest.mark.parametrize(
    ("ends", "ids"),
    [
        (([3, 1], [1, 2]), [1, 2, 3]),
        ((["c", "a"], ["a", "b"]), ["a", "b", "c"]),
        (([2.5, 0.5], [0.5, 1.5]), [0.5, 1.5, 2.5]),
    ],
)
def test_frames(make, ends, ids):
    graph = Graph.from_frame(make({"weight": [2.0, 3.0], "Target": ends[1], "Source": ends[0]}), directed=True)
    assert graph.ids.tolist() == ids
    assert graph.weights.tolist() == [3, 2]
    assert graph.edge_index.tolist() == [[0, 2], [1, 0]]


def test_frame_columns_by_name_and_position():
    frame = pl.DataFrame({"x": [1], "y": [2], "z": [3]})
    assert Graph.from_frame(frame).ids.tolist() == [1, 2]
    assert Graph.from_frame(frame, target="z").ids.tolist() == [1, 3]
    assert Graph.from_frame(frame, weight="x").ids.tolist() == [2, 3]
    assert not Graph.from_frame(pl.DataFrame({"u": [1], "v": [2], "w": [3]}), weight=False).weighted


def test_frame_kinds_of_ids():
    mixed = pl.DataFrame({"user": [1, 2], "item": ["x", "y"]})
    assert Graph.from_frame(mixed, nodes=["z"]).ids.tolist() == [1, 2, "x", "y", "z"]
    categorical = mixed.cast({"item": pl.Categorical, "user": pl.String})
    assert Graph.from_frame(categorical).ids.tolist() == ["1", "2", "x", "y"]
    assert Graph.from_frame(pd.DataFrame({"u": ["b"], "v": ["a"]}, dtype="category")).ids.tolist() == [
        "a",
        "b",
    ]
    days = pl.DataFrame({"u": ["2020-10-01"], "v": ["2020-09-01"]}).select(pl.all().str.to_date())
    assert [day.month for day in Graph.from_frame(days).ids] == [9, 10]
    large = pl.DataFrame({"u": [2**63 + 1], "v": [5]}, schema={"u": pl.UInt64, "v": pl.UInt64})
    assert Graph.from_frame(large).ids.tolist() == [5, 2**63 + 1]


@pytest.mark.parametrize(
    ("frame", "arguments", "sentence"),
    [
        (
            {"u": [1], "v": [2]},
            {"source": "a"},
            "source='a' is not a column of frame; its columns are 'u', 'v'",
        ),
        ({"u": [1], "v": [2]}, {"weight": True}, "weight must be the name of a column"),
        ({"u": [1]}, {}, r"frame must have a column of sources and one of targets, got only \['u'\]"),
        (
            {"u": ["a", None], "v": ["b", "c"]},
            {},
            "column 'u' must hold an id in every row, got none in row 1",
        ),
        ({"u": [1.0, float("nan")], "v": [1.0, 2.0]}, {}, "column 'u'|node ids must"),
        ({"u": [1], "v": [2], "w": ["x"]}, {}, "column 'w' must hold numbers"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frame_errors(make, frame, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph.from_frame(make(frame), **arguments)


def test_frame_must_be_a_frame():
    with pytest.raises(InputError, match="frame must be a pandas or polars data frame, got list"):
        Graph.from_frame([])


class TestPyG:
    """PyTorch Geometric, where it is installed."""

    @pytest.fixture(autouse=True)
    def pyg(self):
        self.torch = pytest.importorskip("torch")
        self.data = pytest.importorskip("torch_geometric.data")

    def test_data_infers_direction(self):
        index = self.torch.tensor([[0, 1, 1], [1, 0, 2]])
        graph = Graph.from_pyg(self.data.Data(edge_index=index, num_nodes=4))
        assert (graph.num_nodes, graph.num_edges, graph.directed) == (4, 3, True)
        both = self.data.Data(edge_index=self.torch.cat([index, index.flip(0)], dim=1))
        assert Graph.from_pyg(both).num_edges == 2
        assert not Graph.from_pyg(both).directed

    def test_data_weights(self):
        index, weight = self.torch.tensor([[0, 1], [1, 0]]), self.torch.tensor([1.0, 2.0], requires_grad=True)
        data = self.data.Data(edge_index=index, edge_weight=weight)
        assert Graph.from_pyg(data).weights.tolist() == [1, 2]
        assert Graph.from_pyg(data, directed=False, reduce="sum").weights.tolist() == [3, 3]

    @pytest.mark.parametrize("wrap", [True, False])
    def test_edge_index(self, wrap):
        from torch_geometric import EdgeIndex

        index = EdgeIndex([[0, 1], [1, 2]], sparse_size=(5, 5))
        graph = Graph.from_pyg(self.data.Data(edge_index=index) if wrap else index)
        assert (graph.num_nodes, graph.num_edges) == (5, 2)

    @pytest.mark.filterwarnings("ignore:Sparse")
    @pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_coo"])
    @pytest.mark.parametrize("weight", [None, [2.0, 3.0, 4.0]])
    def test_adj_t_is_transposed(self, layout, weight):
        source, target = [0, 0, 1], [1, 2, 2]
        values = self.torch.tensor(weight or [1.0, 1.0, 1.0])
        adj_t = self.torch.sparse_coo_tensor(self.torch.tensor([target, source]), values, (4, 4)).coalesce()
        adj_t = {
            "sparse_coo": lambda: adj_t,
            "sparse_csr": adj_t.to_sparse_csr,
            "sparse_csc": adj_t.to_sparse_csc,
        }[layout]()
        graph = Graph.from_pyg(self.data.Data(adj_t=adj_t))
        assert graph.edge_index.tolist() == [source, target]
        assert graph.num_nodes == 4
        assert graph.directed
        assert (None if graph.weights is None else graph.weights.tolist()) == weight

    def test_heterogeneous_data(self):
        with pytest.raises(InputError, match="to_homogeneous"):
            Graph.from_pyg(self.data.HeteroData())


def test_sparse_tensor_of_torch_sparse():
    class SparseTensor:
        def coo(self):
            return np.array([1, 2]), np.array([0, 0]), None

        def sparse_sizes(self):
            return 3, 3

    assert Graph.from_pyg(SimpleNamespace(adj_t=SparseTensor())).edge_index.tolist() == [[0, 0], [1, 2]]


def test_pyg_without_edges():
    with pytest.raises(InputError, match="data must have edge_index or adj_t, got SimpleNamespace with neither"):
        Graph.from_pyg(SimpleNamespace(x=1))
