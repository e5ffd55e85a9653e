"""Every option says what happens without it."""

import typer.main

from graphreach.cli import app
from graphreach.paper_embedding import APART_NODES, recipe
from graphreach.training import Settings
from graphreach.training.inputs import WHOLE_GRAPH_NODES
from graphreach.vectors.positions import FEWER_ANCHORS, MANY_NODES, NUM_ANCHORS


def commands(name, command):
    yield name, command
    for child, each in getattr(command, "commands", {}).items():
        yield from commands(f"{name} {child}", each)


DO_AND_EXIT = {"--help", "--version", "--install-completion", "--show-completion"}
"""Options that have no default, as they are commands of their own."""


def texts():
    """The help of every option, by command and name."""
    found = {}
    for name, command in commands("graphreach", typer.main.get_command(app)):
        context = command.make_context(name, [], resilient_parsing=True)
        for option in command.get_params(context):
            if option.param_type_name == "option" and not DO_AND_EXIT & set(option.opts):
                found[name, option.opts[-1] if option.opts[-1].startswith("--") else option.opts[0]] = (
                    option.get_help_record(context)[1]
                )
    return found


TEXTS = texts()


def test_every_option_shows_its_default():
    """``--help`` showed no defaults."""
    missing = [key for key, text in TEXTS.items() if "default: " not in text and "required" not in text]
    assert missing == []


def default(verb, option):
    return TEXTS[f"graphreach {verb}", option].rpartition("default: ")[2].rstrip("]").split(";")[0].strip("() ")


def test_defaults_of_training_are_those_of_the_settings():
    settings = Settings()
    for option in ("epochs", "seed", "preset", "task"):
        assert default("train", f"--{option}").split()[0].rstrip(",") == str(getattr(settings, option))
    assert default("train", "--model") == "reach"


def test_defaults_of_embed_are_those_of_its_settings():
    text = TEXTS["graphreach embed", "--epochs"]
    sizes = [100, APART_NODES + 1, WHOLE_GRAPH_NODES + 1]
    small, large, very_large = (recipe(size, 10 * size)["epochs"] for size in sizes)
    assert f"{small}; {large} beyond {APART_NODES:,} nodes, {very_large} beyond {WHOLE_GRAPH_NODES:,}" in text
    assert f"{NUM_ANCHORS}; {FEWER_ANCHORS} beyond {MANY_NODES:,} nodes" in TEXTS["graphreach embed", "--num-anchors"]
