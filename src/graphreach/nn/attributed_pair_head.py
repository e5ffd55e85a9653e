"""The network that reads what describes a pair together with the attributes of nodes, by messages between neighbours."""

import itertools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphreach.arguments import check_flag, check_number, check_whole
from graphreach.errors import InputError
from graphreach.nn.checks import MOST_FEATURES, check_channels
from graphreach.nn.link_member import LinkMember
from graphreach.nn.perceptron_layers import init_layers, make_layers, read_layers
from graphreach.nn.pretrained import Pretrained
from graphreach.nn.sparse_rows import SparseRows, drop
from graphreach.pairs.attributes import AttributeScaling


class AttributedPairHead(Pretrained, nn.Module):
    r"""Logits of pairs from their features and from the attributes of nodes: the mean of several networks.

    Each member has a graph convolutional network with two layers,
    :math:`Z = \hat A \, \mathrm{ReLU}(\hat A X W_1 + b_1) \, W_2 + b_2`, and a perceptron with two hidden layers that reads
    the pair's features, standardised once over pairs of both kinds, and the elementwise product :math:`Z_u \odot Z_v`. No
    statistic is taken of a batch: separate statistics of links and of other pairs would give the kind of a pair away.

    Messages make neighbours alike, which a class of nodes need not be: with ``own_attributes`` a perceptron of the node's
    own attributes is added to its row, :math:`Z + \mathrm{ReLU}(X W_3 + b_3) \, W_4 + b_4`.

    Links are found better if messages are ``linear`` (:class:`graphreach.nn.link_member.LinkMember`). Then features and
    products may also be read separately (``apart``), by their own perceptrons whose logits are added.

    Args:
        in_channels: Number of features of a pair.
        node_channels: Number of attributes of a node.
        hidden_channels: Width of the perceptron's hidden layers.
        gnn_channels: Width of both layers of the convolutional network.
        num_members: Number of networks.
        dropout: Share of the perceptron's hidden units left out in a training step.
        gnn_dropout: Share of the convolutional network's hidden units left out.
        attribute_dropout: Share of the attributes left out.
        own_attributes: Whether a perceptron reads a node's own attributes too.
        apart: Whether features and products are read separately, with linear messages.
        linear: Whether messages are linear; then own attributes are read in any case. None means as ``apart`` says.

    Shapes:
        - **input:** features and products :math:`(m, f + members \cdot g)`
        - **output:** logits :math:`(m)`

    Example:
        >>> head = AttributedPairHead(30, 1433)
        >>> head
        AttributedPairHead(30, 1433, gnn_channels=128, num_members=3)
        >>> head(torch.zeros(7, 30 + 3 * 128)).shape
        torch.Size([7])
    """

    mean: Tensor
    scale: Tensor
    node_mean: Tensor
    node_scale: Tensor
    calibration: Tensor

    def __init__(
        self,
        in_channels: int,
        node_channels: int,
        hidden_channels: int = 64,
        gnn_channels: int = 128,
        num_members: int = 3,
        dropout: float = 0.2,
        gnn_dropout: float = 0.5,
        attribute_dropout: float = 0.7,
        own_attributes: bool = False,
        apart: bool = False,
        linear: bool | None = None,
    ) -> None:
        super().__init__()
        linear = check_flag("apart", apart) if linear is None else check_flag("linear", linear)
        if apart and not linear:
            raise InputError("apart must be False where linear is False, got True")
        self._keep_config({key: value for key, value in locals().items() if key not in ("self", "__class__")})
        check_whole("node_channels", node_channels, 1, MOST_FEATURES)
        check_whole("num_members", num_members, 1, 100)
        for name in ("in_channels", "hidden_channels", "gnn_channels"):
            check_channels(name, self.config[name])
        for name in ("dropout", "gnn_dropout", "attribute_dropout"):
            check_number(name, self.config[name], 0, 0.99)
        self.in_channels, self.node_channels, self.gnn_channels = in_channels, node_channels, gnn_channels
        self.num_members, own = num_members, check_flag("own_attributes", own_attributes)
        dropouts = (dropout, gnn_dropout, attribute_dropout)
        widths = (in_channels, node_channels, hidden_channels, gnn_channels)
        self.members = nn.ModuleList(
            LinkMember(*widths, dropouts, apart) if linear else Member(*widths, dropouts, own)
            for _ in range(num_members)
        )
        self.register_buffer("mean", torch.zeros(in_channels))
        self.register_buffer("scale", torch.ones(in_channels))
        self.register_buffer("node_mean", torch.zeros(node_channels))
        self.register_buffer("node_scale", torch.zeros(node_channels))
        self.register_buffer("calibration", torch.tensor([1.0, 0.0]))

    @property
    def width(self) -> int:
        """Number of columns that the network reads: a pair's features, then the products of each member."""
        return self.in_channels + self.num_members * self.gnn_channels

    @property
    def scaling(self) -> AttributeScaling:
        """How attributes are scaled."""
        return AttributeScaling(self.node_mean.numpy(), self.node_scale.numpy())

    def standardise(self, features: Tensor) -> Tensor:
        """Features with the mean and deviation of the training pairs taken out."""
        return (features - self.mean) * self.scale

    @torch.no_grad()
    def nodes(self, x: SparseRows, messages: SparseRows) -> Tensor:
        """What each member makes of the nodes, ``[n, members, g]``, from scaled attributes and :math:`\\hat A`."""
        return torch.stack([member.nodes(x, messages) for member in self.members], dim=1)  # type: ignore[operator]

    @staticmethod
    def products(nodes: Tensor, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """The elementwise products for pairs ``[2, m]``, ``[m, members * g]``."""
        first, second = torch.from_numpy(pairs)
        found: NDArray[np.float32] = (nodes[first] * nodes[second]).flatten(1).numpy()
        return found

    def forward(self, described: Tensor) -> Tensor:
        """Calibrated logits of pairs, as if as many of them were of one kind as of the other."""
        features, products = described[:, : self.in_channels], described[:, self.in_channels :]
        own = self.standardise(features)
        parts = products.split(self.gnn_channels, dim=1)
        logits = [member(own, part) for member, part in zip(self.members, parts, strict=True)]
        slope, shift = self.calibration
        mean: Tensor = slope * torch.stack(logits).mean(0) + shift
        return mean

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, {self.node_channels}, gnn_channels={self.gnn_channels}, "
            f"num_members={self.num_members})"
        )


class Member(nn.Module):
    """One network of an :class:`AttributedPairHead`; dropout has a generator of the caller's, none when it is used."""

    def __init__(
        self, in_channels: int, node_channels: int, hidden_channels: int, gnn_channels: int,
        dropouts: tuple[float, ...], own_attributes: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dropout, self.gnn_dropout, self.attribute_dropout = dropouts
        widths = (node_channels, gnn_channels, gnn_channels)
        self.convs = nn.ParameterList(nn.Parameter(torch.empty(each)) for each in itertools.pairwise(widths))
        self.conv_biases = nn.ParameterList(nn.Parameter(torch.empty(size)) for size in widths[1:])
        own = itertools.pairwise(widths) if own_attributes else ()
        self.own = nn.ParameterList(nn.Parameter(torch.empty(each)) for each in own)
        self.own_biases = nn.ParameterList(nn.Parameter(torch.empty(each.size(1))) for each in self.own)
        self.weights, self.biases = make_layers(in_channels + gnn_channels, hidden_channels)
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all weights again."""
        layers = zip([*self.convs, *self.own], [*self.conv_biases, *self.own_biases], strict=True)
        for weight, bias in layers:
            nn.init.xavier_uniform_(weight, generator=generator)
            nn.init.zeros_(bias)
        init_layers(self.weights, self.biases, generator)

    def nodes(self, x: SparseRows, messages: SparseRows, generator: torch.Generator | None = None) -> Tensor:
        """The convolutional network's rows, with those of the nodes' own attributes if they are read, ``[n, g]``."""
        h = messages.times(x.times(self.convs[0], self.attribute_dropout, generator)) + self.conv_biases[0]
        h = drop(torch.relu(h), self.gnn_dropout, generator)
        rows: Tensor = messages.times(h @ self.convs[1]) + self.conv_biases[1]
        if not len(self.own):
            return rows
        own = drop(torch.relu(x.times(self.own[0]) + self.own_biases[0]), self.gnn_dropout, generator)
        return rows + torch.addmm(self.own_biases[1], own, self.own[1])

    def networks(self, features: Tensor, products: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Logits ``[1, m]`` of the one perceptron."""
        h = torch.cat([products, features], dim=1)
        return read_layers(h, self.weights, self.biases, self.dropout, generator)[None]

    def forward(self, features: Tensor, products: Tensor) -> Tensor:
        """Logits ``[m]`` from standardised features and products."""
        return self.networks(features, products)[0]
