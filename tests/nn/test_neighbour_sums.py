"""Sums over neighbours against loops, and their gradients."""

import numba
import pytest
import torch

import graphreach as gr
from graphreach.nn import neighbour_sums
from graphreach.nn.neighbour_sums import neighbour_attention, neighbour_sum
from helpers import random_graph
from nn_literal import assert_near, assert_same_function

ADJACENCY = gr.nn.Adjacency.from_graph(random_graph(12, 30, directed=True, weighted=True))


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def literal_attention(pattern, x, source, target, slope):
    rows = []
    for v in range(len(x)):
        heads = []
        for h in range(x.size(1)):
            near = [u for u in range(len(x)) if pattern[v, u]]
            logits = torch.stack([torch.nn.functional.leaky_relu(source[u, h] + target[v, h], slope) for u in near])
            heads.append(sum(a * x[u, h] for a, u in zip(logits.softmax(0), near, strict=True)))
        rows.append(torch.stack(heads))
    return torch.stack(rows)


@pytest.fixture(params=["kernels", "plain"])
def path(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(neighbour_sums, "use_kernels", lambda *tensors: False)
    return request.param


@pytest.mark.parametrize("name", ["gcn", "mean", "sum"])
@pytest.mark.parametrize("width", [1, 5, 32])
def test_sum_is_a_matrix_product(path, name, width):
    x, same = draw(12, width), draw(12, width)
    matrix = ADJACENCY.operator(name, x)
    out = neighbour_sum(matrix, x)
    assert_same_function(out, [x], matrix.as_torch().to_dense() @ same, [same], 1e-12)


@pytest.mark.parametrize("heads", [1, 3])
def test_attention_is_a_softmax_over_neighbours(path, heads):
    inputs = [draw(12, heads, 4), draw(12, heads, seed=1), draw(12, heads, seed=2)]
    matrix = ADJACENCY.operator("self", inputs[0])
    out = neighbour_attention(matrix, *inputs, 0.2)
    expected = literal_attention(matrix.as_torch().to_dense(), *inputs, 0.2)
    assert_same_function(out, inputs, expected, inputs, 1e-12)


def test_gradients_by_differences():
    x = draw(12, 3)
    assert torch.autograd.gradcheck(lambda x: neighbour_sum(ADJACENCY.operator("mean", x), x), [x])
    inputs = [draw(12, 2, 3), draw(12, 2, seed=1), draw(12, 2, seed=2)]
    matrix = ADJACENCY.operator("self", x)
    assert torch.autograd.gradcheck(lambda *inputs: neighbour_attention(matrix, *inputs, 0.2), inputs)


def test_attention_with_large_logits():
    x, source, target = draw(12, 1, 4), draw(12, 1, seed=1), draw(12, 1, seed=2)
    matrix = ADJACENCY.operator("self", x)
    out = neighbour_attention(matrix, x, source + 900, target, 0.2)
    assert_near(out, neighbour_attention(matrix, x, source + 890, target + 10, 0.2), 1e-9)
    assert out.isfinite().all()


def test_transposed_and_strided_inputs():
    x = draw(5, 12).t()
    matrix = ADJACENCY.operator("sum", x)
    assert_near(neighbour_sum(matrix, x), matrix.as_torch().to_dense() @ x, 1e-12)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_threads_do_not_matter():
    adjacency = gr.nn.Adjacency.from_graph(random_graph(500, 4000))
    x, s, t = (draw(500, *shape, seed=1).float().detach().requires_grad_() for shape in ((1, 16), (1,), (1,)))

    def run():
        one = neighbour_sum(adjacency.operator("gcn", x), x[:, 0])
        two = neighbour_attention(adjacency.operator("self", x), x, s, t, 0.2)
        weight = torch.linspace(-1, 1, one.numel())
        return [one, two, *torch.autograd.grad((one.flatten() + two.flatten()) @ weight, [x, s, t])]

    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        first = run()
        numba.set_num_threads(2)
        second = run()
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(one, two) for one, two in zip(first, second, strict=True))
