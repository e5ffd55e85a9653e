"""Encodings of a node's place in its graph, as extra features for models that pass messages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from graphreach.arguments import check_choice, check_flag
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory
from graphreach.nn.kernels.positions import count_returns
from graphreach.progress import stage, track
from graphreach.threads import one_blas_thread
from graphreach.walks.engine import row_chunks, transitions
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count

BLOCK = 64
"""Nodes whose return probabilities are computed together."""

EXACT_COST = 1e11
"""Multiplications up to which return probabilities are exact: about half a minute."""

DENSE_NODES = 1000
"""Nodes up to which all eigenvectors are computed at once."""


def random_walk_encodings(
    graph: Graph, dim: int = 16, seed: int = 0, *, method: str = "auto", num_walks: int = 1000
) -> NDArray[np.float32]:
    r"""The probabilities that a random walk from a node is back after 1, ..., dim steps: the diagonals of
    :math:`P^1 \ldots P^{dim}`, as in `"Graph Neural Networks with Learnable Structural and Positional Representations"
    <https://arxiv.org/abs/2110.07875>`_.

    Exactly, by :math:`P^{a+b}(v, v) = \langle e_v^T P^a, P^b e_v \rangle` for some nodes at a time, never n x n numbers; or
    estimated by walks, with a standard error of at most :math:`1 / (2 \sqrt{n_w})`.

    Args:
        graph: The graph.
        dim: The number of steps.
        seed: Random seed for the walks.
        method: ``"exact"``, ``"walks"``, or ``"auto"``: exact where it takes no more than half a minute.
        num_walks: Walks from each node, :math:`n_w`, where it is estimated.

    Example:
        >>> import graphreach as gr
        >>> triangle = gr.Graph.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> random_walk_encodings(triangle, 3)[0]
        array([0.  , 0.5 , 0.25], dtype=float32)
    """
    dim, seed = check_count("dim", dim), check_seed(seed)
    check_choice("method", method, ("auto", "exact", "walks"))
    n = check_graph(graph).num_nodes
    check_memory(8 * n * dim, f"{dim} encodings of {n} nodes", "lower dim")
    cost = (2 if graph.directed else 1) * n * (len(graph.indices) + n) * dim / 2
    if method == "exact" or (method == "auto" and cost <= EXACT_COST):
        return _exact_returns(graph, dim)
    num_walks = check_count("num_walks", num_walks)
    counts = np.zeros((n, dim), np.int64)
    starts = np.arange(n, dtype=np.uint32)
    for rows in row_chunks(n, num_walks * dim, "returning walks"):
        count_returns(*transitions(graph), starts[rows], num_walks, seed, counts[rows])
    return (counts / num_walks).astype(np.float32)


def laplacian_encodings(graph: Graph, dim: int = 16, seed: int = 0, *, flip_signs: bool = False) -> NDArray[np.float32]:
    r"""Eigenvectors of the normalised Laplacian :math:`I - D^{-1/2} A D^{-1/2}` with the smallest eigenvalues above zero,
    smallest first, as in `"Benchmarking Graph Neural Networks" <https://arxiv.org/abs/2003.00982>`_.

    Columns are scaled to a mean square of one. An eigenvector's sign is arbitrary: the first of its large entries is made
    positive, or with ``flip_signs`` each sign is drawn. Where an eigenvalue repeats, any rotation of its vectors would do
    as well; the seed fixes which one comes out.

    A graph of c components (a node alone is one) has c eigenvectors of eigenvalue zero, which distinguish components and
    nothing within them: these are left out. The others are zero outside one component, unless eigenvalues of components
    coincide. Where there are fewer than ``dim``, the last columns are zero. Directions are ignored: an edge counts with the
    mean weight of both.

    Args:
        graph: The graph.
        dim: The number of eigenvectors.
        seed: Random seed for the vector that the search starts from, and for the flips.
        flip_signs: Whether to draw the sign of each eigenvector at random; call it again in each epoch with another seed.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> (laplacian_encodings(path, 1).round(2) + 0).T  # -0 is 0
        array([[ 1.22,  0.  , -1.22]], dtype=float32)
    """
    dim, rng = check_count("dim", dim), np.random.default_rng(check_seed(seed))
    n = check_graph(graph).num_nodes
    check_flag("flip_signs", flip_signs)
    check_memory(16 * n * dim, f"{dim} encodings of {n} nodes", "lower dim")
    M, trivial = _normalized(graph)
    wanted = min(dim, n - trivial.shape[1])
    vectors = np.zeros((n, dim))
    if wanted:
        vectors[:, :wanted] = _top_vectors(M, trivial, wanted, rng.standard_normal(n))
    size = np.abs(vectors)
    first = (size > 0.5 * size.max(0)).argmax(0)
    signs = np.where(vectors[first, np.arange(dim)] < 0, -1.0, 1.0)
    if flip_signs:
        signs *= rng.choice([-1.0, 1.0], dim)
    encodings: NDArray[np.float32] = (vectors * signs * np.sqrt(n)).astype(np.float32)
    return encodings


def _exact_returns(graph: Graph, dim: int) -> NDArray[np.float32]:
    A, n = graph.to_scipy(), graph.num_nodes
    degree = A.sum(1)
    inverse = np.divide(1, degree, out=np.zeros(n), where=degree > 0)
    if graph.directed:
        P = csr_array(diags_array(inverse) @ A)
    else:  # D^-1/2 A D^-1/2 has powers with the same diagonal, and is its own transpose
        P = csr_array(diags_array(np.sqrt(inverse)) @ A @ diags_array(np.sqrt(inverse)))
    P = P.astype(np.float32)
    transpose = P if not graph.directed else csr_array(P.T)
    out = np.empty((n, dim), np.float32)
    begins = range(0, n, BLOCK)
    for begin in track(begins, len(begins), "return probabilities"):
        _block_returns(P, transpose, begin, out[begin : begin + BLOCK])
    return out


def _block_returns(P: Any, transpose: Any, begin: int, out: NDArray[np.float32]) -> None:
    """The diagonals of P^1 .. P^dim at some nodes: that of P^(a+b) is the product of rows of P^a and columns of P^b."""
    columns = np.zeros((P.shape[0], len(out)), np.float32)
    np.fill_diagonal(columns[begin : begin + len(out)], 1)
    rows = columns
    for step in range(out.shape[1]):
        if step % 2 == 0:
            rows = transpose @ rows
        else:
            columns = rows if transpose is P else P @ columns
        out[:, step] = np.einsum("vi,vi->i", rows, columns)


def _normalized(graph: Graph) -> tuple[Any, Any]:
    """D^-1/2 A D^-1/2, and its eigenvectors of eigenvalue one (of a node alone: of zero), a column a component."""
    A = graph.to_scipy()
    A = csr_array((A + A.T) / 2) if graph.directed else A
    degree, n = A.sum(1), graph.num_nodes
    root = np.sqrt(degree)
    scale = diags_array(np.divide(1, root, out=np.zeros(n), where=root > 0))
    count, component = connected_components(A, directed=False)
    entries = np.where(root > 0, root, 1.0)
    trivial = csr_array((entries, (np.arange(n), component)), shape=(n, count))
    trivial = csr_array(trivial @ diags_array(np.bincount(component, entries**2) ** -0.5))
    return csr_array(scale @ A @ scale), trivial


@one_blas_thread()
def _top_vectors(M: Any, trivial: Any, count: int, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eigenvectors of the largest eigenvalues; the trivial ones are moved to the far end, as -2 is below all others."""
    n = M.shape[0]
    if n <= DENSE_NODES or count >= n // 2:
        dense: NDArray[np.float64] = np.linalg.eigh(M.toarray() - 3 * (trivial @ trivial.T).toarray())[1]
        return dense[:, : n - count - 1 : -1]
    operator = LinearOperator((n, n), lambda x: M @ x - 3 * (trivial @ (trivial.T @ x)), dtype=np.float64)
    try:
        with stage("Laplacian eigenvectors"):
            values, vectors = eigsh(operator, count, which="LA", v0=start, tol=1e-6, ncv=max(4 * count, 64), maxiter=n)
    except ArpackNoConvergence:
        raise InputError(f"dim must be smaller for this graph: {count} eigenvectors did not converge") from None
    order: NDArray[np.float64] = vectors[:, np.argsort(-values)]
    return order
