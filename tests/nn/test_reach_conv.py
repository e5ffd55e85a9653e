"""The layer against the paper's equations written down plainly."""

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from nn_literal import (
    ANCHORS,
    NUM_NODES,
    as_csr,
    assert_near,
    assert_same_function,
    features,
    in_single,
    literal_conv,
    literal_messages,
    random_weights,
    small_matrices,
    small_positions,
    with_layouts,
    with_switches,
)

AGGREGATIONS = [
    {"aggregation": "mean"},
    {"aggregation": "attention"},
    {"aggregation": "attention", "heads": 2},
    {"aggregation": "attention", "heads": 3, "concat": True},
]
aggregations = pytest.mark.parametrize(
    "aggregation", AGGREGATIONS, ids=["eq6-mean", "eq7-8-attention", "heads-averaged", "heads-concatenated"]
)


def check_against_literal(make, layout, switches, width):
    hops = switches.get("hops")
    conv = random_weights(make(width))
    x = features(width)
    T, F = small_matrices(hops)
    expected = literal_conv(conv, x, T, F, ANCHORS)
    inputs = [x, *conv.parameters()]
    assert_same_function(conv(x, small_positions(layout, hops=hops)), inputs, expected, inputs, 1e-10)

    single, x32 = in_single(conv), x.detach().float().requires_grad_()
    out = single(x32, small_positions(layout, torch.float32, hops))
    assert out.dtype == torch.float32
    expected = literal_conv(conv, x, T, F, ANCHORS)
    assert_same_function(out, [x32, *single.parameters()], expected, inputs, 1e-5)


@with_layouts
@with_switches
@aggregations
@pytest.mark.parametrize("width", [4, 6])
def test_layer_equals_the_equations_in_values_and_gradients(layout, switches, aggregation, width):
    check_against_literal(lambda width: gr.nn.ReachConv(width, 6, **aggregation, **switches), layout, switches, width)


def test_eqs_4_5_by_hand():
    # one node, one anchor, both of width one: M = s(v, a) h_v w_1 + s(a, v) h_a w_2
    conv = gr.nn.ReachConv(1, 1, aggregation="mean").double()
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([[10.0], [1000.0]]))
    T, F = torch.tensor([[0.0], [0.5]]).double(), torch.tensor([[0.0], [0.25]]).double()
    positions = gr.nn.Positions.dense(T, F, torch.tensor([0]))
    out = conv(torch.tensor([[3.0], [2.0]]).double(), positions)
    assert out.tolist() == [[0.0], [0.5 * 2 * 10 + 0.25 * 3 * 1000]]


def test_eq6_divides_by_the_number_of_anchors():
    conv = random_weights(gr.nn.ReachConv(4, 6, aggregation="mean"))
    x, (T, F) = features(4), small_matrices()
    messages = literal_messages(conv, x, T, F, ANCHORS)
    assert_near(conv(x, small_positions()), messages.sum(1) / 5, 1e-12)


@pytest.mark.parametrize("negative_slope", [0.0, 0.2, 1.0, 1.5])
@with_layouts
def test_eq7_slope_of_leaky_relu(negative_slope, layout):
    conv = random_weights(gr.nn.ReachConv(6, 6, negative_slope=negative_slope))
    x, (T, F) = features(6), small_matrices()
    messages = literal_messages(conv, x, T, F, ANCHORS)
    W, att = conv.weight_att[0], conv.att[0]
    logits = torch.cat([(x @ W).unsqueeze(1).expand(-1, 5, -1), messages @ W], -1) @ att
    assert (logits < 0).any()
    assert (logits > 0).any()
    alpha = torch.where(logits > 0, logits, negative_slope * logits).softmax(1)
    expected = (alpha.unsqueeze(-1) * (messages @ W)).sum(1) + x @ W
    inputs = [x, *conv.parameters()]
    assert_same_function(conv(x, small_positions(layout)), inputs, expected, inputs, 1e-10)


def test_eq7_slope_is_two_tenths_by_default():
    assert gr.nn.ReachConv(4, 4).negative_slope == 0.2


def test_attention_does_not_overflow():
    conv = random_weights(gr.nn.ReachConv(4, 4))
    with torch.no_grad():
        conv.att.mul_(1e4)
    x = features(4)
    for layout in ("dense", "csr"):
        assert torch.isfinite(conv(x, small_positions(layout))).all()


@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_ablation_without_similarity_sees_no_position(aggregation):
    # M^- of section 4.4: equal features, equal output, wherever the node is
    conv = gr.nn.ReachConv(3, 4, aggregation=aggregation, similarity=False).double()
    out = conv(torch.ones(NUM_NODES, 3, dtype=torch.float64), small_positions("csr"))
    assert_near(out, out[:1].expand(NUM_NODES, -1), 1e-12)


@with_layouts
@pytest.mark.parametrize(
    "switches",
    [{}, {"bias": True, "message_activation": "relu"}, {"bias": True, "similarity_map": "learned"}],
    ids=["linear", "relu", "map"],
)
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_gradcheck(layout, switches, aggregation):
    conv = random_weights(gr.nn.ReachConv(3, 2, aggregation=aggregation, **switches), seed=3)
    positions = small_positions(layout)
    names, weights = zip(*conv.named_parameters(), strict=True)

    def function(x, *weights):
        return torch.func.functional_call(conv, dict(zip(names, weights, strict=True)), (x, positions))

    inputs = [features(3), *(weight.detach().clone().requires_grad_() for weight in weights)]
    assert torch.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("switches", [{}, {"message_activation": "relu", "bias": True, "similarity_map": "learned"}])
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
@with_layouts
def test_permuting_nodes_permutes_output(switches, aggregation, layout):
    conv = random_weights(gr.nn.ReachConv(4, 6, aggregation=aggregation, **switches))
    x, order = features(4).detach(), torch.randperm(NUM_NODES, generator=torch.Generator().manual_seed(0))
    T, F = small_matrices()
    anchors = torch.argsort(order)[torch.tensor(ANCHORS)]
    if layout == "dense":
        permuted = gr.nn.Positions.dense(T[order], F[order], anchors)
    else:
        permuted = gr.nn.Positions.compressed(as_csr(T[order]), as_csr(F[order]), anchors)
    assert_near(conv(x[order], permuted), conv(x, small_positions(layout))[order], 1e-12)


def test_order_of_anchors_does_not_matter():
    conv = random_weights(gr.nn.ReachConv(4, 6))
    x, (T, F) = features(4).detach(), small_matrices()
    order = torch.tensor([4, 2, 0, 1, 3])
    shuffled = gr.nn.Positions.dense(T[:, order], F[:, order], torch.tensor(ANCHORS)[order])
    assert_near(conv(x, shuffled), conv(x, small_positions()), 1e-12)


def test_graph_of_these_tests_has_gaps_of_all_kinds():
    T, F = (matrix > 0 for matrix in small_matrices())
    assert not (T | F).any(1).all()
    for some in (T & ~F, F & ~T, T & F, ~T & ~F):
        assert some.any()


def test_repr():
    assert repr(gr.nn.ReachConv(8, 32, aggregation="mean")) == "ReachConv(8, 32, aggregation=mean)"
    assert repr(gr.nn.ReachConv(8, 32, heads=4)) == "ReachConv(8, 32, aggregation=attention, heads=4)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"aggregation": "max"}, 'aggregation must be "attention" or "mean", got \'max\''),
        ({"aggregation": "mean", "heads": 2}, "heads must be 1"),
        ({"message_activation": "elu"}, "message_activation must be None or \"relu\", got 'elu'"),
        ({"similarity_map": "spline"}, "similarity_map must be"),
        ({"hops": 3}, "hops must go with"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        gr.nn.ReachConv(4, 4, **arguments)


def test_hops_of_layer_and_positions_must_agree():
    conv = gr.nn.ReachConv(4, 4, similarity_map="learned", hops=2).double()
    with pytest.raises(InputError, match="hops=2 as the layer has, got hops=3"):
        conv(features(4), small_positions(hops=3))
    with pytest.raises(InputError, match="got hops=None"):
        conv(features(4), small_positions())


@pytest.mark.parametrize("switches", [{}, {"bias": True, "similarity_map": "learned"}])
def test_reset_parameters_draws_new_weights(switches):
    torch.manual_seed(0)
    conv = gr.nn.ReachConv(4, 6, **switches)
    before = {name: weight.clone() for name, weight in conv.named_parameters()}
    conv.reset_parameters()
    for name, weight in conv.named_parameters():
        assert name == "bias" or not torch.equal(weight, before[name]), name


def test_same_map_can_be_shared():
    shared = gr.nn.SimilarityMap()
    layers = [gr.nn.ReachConv(4, 4, similarity_map=shared) for _ in range(2)]
    assert layers[0].similarity_map is layers[1].similarity_map
