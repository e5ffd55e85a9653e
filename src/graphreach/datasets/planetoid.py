"""Cora, CiteSeer and PubMed in Planetoid's files."""

import collections
import io
import pickle
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, vstack

from graphreach.datasets.store import DataFile, Plain, Source, Store, github
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.dataset import Dataset, Sample

ALLOWED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("collections", "defaultdict"): collections.defaultdict,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    # Asked of an array, because the module that holds it has moved and warns under its old name.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
}
"""All that Planetoid's files refer to, under the names of the libraries of their time."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise InputError(f"a pickle must refer to arrays, lists and dicts only, got {module}.{name}") from None


def read_pickle(data: bytes) -> Any:
    """Read a Python 2 pickle of arrays, sparse matrices, lists and dicts; any other class is refused.

    Call it only with bytes whose checksum has been verified: the list of classes is the second line of defence.
    """
    return _Reader(io.BytesIO(data), encoding="latin1").load()


SHA256 = {
    "cora": {
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    },
    "citeseer": {
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    },
    "pubmed": {
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    },
}
"""All eight files of each; ``x`` and ``y`` are the first rows of ``allx`` and ``ally``, and are not read here."""


def _file(dataset: str, part: str) -> DataFile:
    name = f"ind.{dataset}.{part}"
    sources = (
        github("kimiyoung/planetoid", f"data/{name}"),
        github("JiaxuanYou/P-GNN", f"data/{name}"),
        github("tkipf/gcn", f"gcn/data/{name}"),
    )
    return DataFile(f"{dataset}/{name}", Plain(SHA256[dataset][part]), tuple(Source((url,)) for url in sources))


FILES = {
    dataset: {part: _file(dataset, part) for part in parts if part not in ("x", "y")}
    for dataset, parts in SHA256.items()
}


def planetoid(store: Store) -> Dataset:
    """Cora, CiteSeer or PubMed: an edge where either paper cites the other, without self-loops.

    Attributes are the word vectors as they are, not normalised; the class is the topic. Fifteen test papers of CiteSeer
    have neither words nor a label: their attributes are zero and, as in PyTorch Geometric and so in the authors' code,
    their class is 0.
    """
    files = FILES[store.name]
    parts = {part: read_pickle(store.open(file)) for part, file in files.items() if part != "test.index"}
    test = np.array(store.open(files["test.index"]).split(), np.int64)
    known = parts["allx"].shape[0]
    graph = Graph.from_edges(citations(parts["graph"]), max(known, int(test.max()) + 1))
    x = place(csr_array(parts["allx"]), csr_array(parts["tx"]), test, graph.num_nodes)
    y = place(csr_array(parts["ally"]), csr_array(parts["ty"]), test, graph.num_nodes).toarray().argmax(axis=1)
    return Dataset(store.name, (Sample(graph, x.toarray().astype(np.float32), y.astype(np.int64)),))


def citations(lists: dict[int, list[int]]) -> NDArray[np.int64]:
    """Edges ``[2, m]`` of a dict of neighbours, as often as they are listed."""
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    source = np.repeat(np.fromiter(lists, np.int64, len(lists)), lengths)
    return np.stack([source, np.fromiter(chain.from_iterable(lists.values()), np.int64, len(source))])


def place(first: Any, test: Any, index: NDArray[np.int64], num_nodes: int) -> Any:
    """Sparse rows of all nodes: ``first`` as they come, then row i of ``test`` at ``index[i]``, zeros elsewhere."""
    rows, entries = np.concatenate([np.arange(first.shape[0]), index]), vstack([first, test]).tocoo()
    return csr_array((entries.data, (rows[entries.row], entries.col)), shape=(num_nodes, first.shape[1]))
