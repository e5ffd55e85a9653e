"""Dot products of pairs against plain indexing."""

import importlib

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from nn_literal import assert_near, force_plain, gradients

pair_dot_module = importlib.import_module("graphreach.nn.decoders")


def indexed(z, pairs):
    return (z[pairs[0]] * z[pairs[1]]).sum(-1)


def random_case(dtype, num_nodes=50, width=13, num_pairs=400, seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(num_nodes, width, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    pairs = torch.randint(num_nodes, (2, num_pairs), generator=generator)
    some = num_pairs // 10
    pairs[:, :some] = pairs[:, some : 2 * some]
    pairs[1, -some:] = pairs[0, -some:]
    return z, pairs


def assert_pairs_agree(z, pairs, tolerance):
    out, expected = gr.nn.pair_dot(z, pairs), indexed(z, pairs)
    assert_near(out, expected, tolerance)
    assert_near(gradients(out, [z])[0], gradients(expected, [z])[0], tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_equals_indexing_with_duplicates_and_self_pairs(dtype, tolerance):
    assert_pairs_agree(*random_case(dtype), tolerance)


@pytest.mark.parametrize("width", [1, 3, 4, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 121, 128, 150])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_rows_of_any_width(width, dtype, tolerance):
    assert_pairs_agree(*random_case(dtype, 20, width, 300), tolerance)


@pytest.mark.parametrize("rows", [1, 4, 16])
@pytest.mark.parametrize("width", [3, 13, 70])
def test_pairs_by_blocks_of_rows(rows, width, monkeypatch):
    monkeypatch.setattr(pair_dot_module, "CACHED_BYTES", rows * width * 8)
    z, pairs = random_case(torch.float64, 30, width, 8 * 30 * 30)
    assert pair_dot_module._block_bits(30, pairs.size(1), width * 8) == rows.bit_length() - 1
    assert_pairs_agree(z, pairs, 1e-12)


def test_blocks_are_few_where_a_node_has_few_pairs():
    assert pair_dot_module._block_bits(10**6, 2 * 10**6, 256) == 20
    assert pair_dot_module._block_bits(2708, 8400, 484) == 12
    assert pair_dot_module._block_bits(2708, 10**6, 484) == 9
    assert pair_dot_module._block_bits(0, 0, 0) >= 0


def test_without_gradients_pairs_are_not_grouped():
    z, pairs = random_case(torch.float64)
    expected = indexed(z, pairs)
    with torch.no_grad():
        assert_near(gr.nn.pair_dot(z, pairs), expected, 1e-12)
    assert_near(gr.nn.pair_dot(z.detach(), pairs), expected, 1e-12)
    assert pairs not in pair_dot_module._groups
    assert gr.nn.pair_dot(z, pairs).requires_grad
    assert pairs in pair_dot_module._groups


def test_gradcheck():
    z, pairs = random_case(torch.float64, 6, 3, 20)
    assert torch.autograd.gradcheck(lambda z: gr.nn.pair_dot(z, pairs), [z])


@pytest.mark.parametrize("pairs", [[[0], [0]], [[0, 1, 0], [1, 0, 1]], [[2, 2, 2, 2], [2, 2, 2, 2]], [[], []]])
def test_few_pairs(pairs):
    z = torch.randn(3, 4, dtype=torch.float64).requires_grad_()
    assert_pairs_agree(z, torch.tensor(pairs, dtype=torch.long), 1e-12)


def test_nodes_without_pairs_have_no_gradient():
    z = torch.randn(5, 3).requires_grad_()
    (gradient,) = gradients(gr.nn.pair_dot(z, torch.tensor([[0, 1], [1, 1]])), [z])
    assert gradient[2:].eq(0).all()
    assert gradient[:2].ne(0).all()


def test_pairs_changed_in_place_are_grouped_anew():
    z, pairs = random_case(torch.float64)
    assert_pairs_agree(z, pairs, 1e-12)
    pairs[0, 100:] = 7
    assert_pairs_agree(z, pairs, 1e-12)
    pairs.copy_(pairs.flip(1))
    assert_pairs_agree(z, pairs, 1e-12)


def test_same_pairs_of_another_number_of_nodes():
    pairs = torch.tensor([[0, 1], [1, 0]])
    for n in (2, 9, 3):
        assert_pairs_agree(torch.randn(n, 4, dtype=torch.float64).requires_grad_(), pairs, 1e-12)


def test_pairs_changed_between_forward_and_backward_are_refused():
    z, pairs = random_case(torch.float64)
    out = gr.nn.pair_dot(z, pairs)
    pairs[0] = 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_strides_and_small_integers():
    z, pairs = random_case(torch.float64)
    assert_pairs_agree(z, pairs.t().contiguous().t(), 1e-12)
    assert_pairs_agree(z, pairs[:, ::3], 1e-12)
    assert_pairs_agree(z, pairs.to(torch.int32), 1e-12)
    assert_pairs_agree(torch.randn(6, 50, dtype=torch.float64).requires_grad_().t(), pairs, 1e-12)


def test_expanded_gradient():
    z, pairs = random_case(torch.float64)
    gr.nn.pair_dot(z, pairs).sum().backward()
    assert_near(z.grad, torch.autograd.grad(indexed(z, pairs).sum(), [z])[0], 1e-12)


def test_fused_and_plain_agree(monkeypatch):
    z, pairs = random_case(torch.float32)
    out = gr.nn.pair_dot(z, pairs)
    gradient = gradients(out, [z])[0]
    force_plain(monkeypatch)
    plain = gr.nn.pair_dot(z, pairs)
    assert_near(out, plain, 1e-5)
    assert_near(gradient, gradients(plain, [z])[0], 1e-5)


@pytest.mark.parametrize("shape", [(3, 4), (4,), (1, 4), (2, 3, 4)])
def test_shape_is_checked(shape):
    with pytest.raises(InputError, match=r"pairs must have shape \[2, m\]"):
        gr.nn.pair_dot(torch.eye(5), torch.zeros(shape, dtype=torch.long))


@pytest.mark.parametrize("bad", [-1, 5, 10**9])
@pytest.mark.parametrize("training", [False, True])
def test_range_is_checked(bad, training):
    with pytest.raises(InputError, match="pairs must hold positions between 0 and 4"):
        gr.nn.pair_dot(torch.eye(5, requires_grad=training), torch.tensor([[0, 1], [2, bad]]))
