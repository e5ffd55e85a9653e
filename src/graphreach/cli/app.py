"""The verbs put together."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, cast

import typer
import typer.main
from typer.core import CompletionItem, TyperGroup  # type: ignore[attr-defined]

from graphreach._version import __version__
from graphreach.cli.group import OneLineErrors

VERBS = {
    "info": "info",
    "anchors": "reach",
    "reach": "reach",
    "embed": "embed",
    "evaluate-embedding": "evaluate_embedding",
    "train": "train",
    "predict": "predict",
    "evaluate": "predict",
    "recommend": "recommend",
    "nearest": "nearest",
    "update": "update",
    "follow": "follow",
    "explain": "explain",
    "report": "explain",
    "attack": "attack",
    "compare": "train",
    "reproduce": "reproduce",
    "demo": "demo",
    "datasets": "datasets",
    "doctor": "doctor",
}
"""The modules of the verbs. A verb is imported when it is called, so that one does not pay for the others."""


@cache
def find_verb(name: str) -> Any:
    """Import a verb and make it a command."""
    verb = getattr(importlib.import_module(f"graphreach.cli.{VERBS[name]}"), name.replace("-", "_"))
    if not isinstance(verb, typer.Typer):
        verb, function = typer.Typer(add_completion=False, rich_markup_mode=None), verb
        verb.command(name)(function)
    return typer.main.get_command(verb)


class Verbs(Mapping[str, Any]):
    """The commands by their names, each imported when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        return find_verb(name)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class Graphreach(OneLineErrors):
    """The command with all verbs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = cast(Any, Verbs())

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the verbs, of which none is imported for it."""
        return list(VERBS)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """The verbs, by their names alone for the same reason; or options."""
        if incomplete.startswith("-"):
            return super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [CompletionItem(name) for name in VERBS if name.startswith(incomplete)]


app = typer.Typer(
    name="graphreach",
    cls=Graphreach,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Position-aware node embeddings by reachability to anchors.

    Data go to stdout or to --output, progress and messages to stderr.
    """
    if version:
        typer.echo(f"graphreach {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def main() -> None:
    """Run the command; the entry point of the package."""
    app(prog_name="graphreach")
