"""``graphreach report``: a run as one page."""

from pathlib import Path
from typing import Annotated

import typer

from graphreach.cli import run_data
from graphreach.cli import run_options as options
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.progress import stage


def report(
    run: run_data.Run,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page, .html.", show_default=False)
    ],
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    graph_number: run_data.GraphNumber = None,
) -> None:
    """Write a run as one HTML page: graph, anchors, embeddings, figures, and pairs or nodes explained, without network.

    A run on pairs or nodes of a file needs its --labels again; on links they colour the nodes. Of a run on several graphs
    one is shown. Of a run that adds scores of several methods, give the folder of the part, RUN/graphreach.
    """
    check_output(output, [".html"])
    from graphreach import training
    from graphreach.report import write_report
    from graphreach.training.run_folder import RunFolder

    trained = training.TrainedRun(run)
    own = run_data.read_run_data(run, trained.settings, labels, label_column)
    number = RunFolder(run).outcome().pick_graph(graph_number, "--graph-number")
    with stage("writing the report"):
        write_report(run, output, own.data, number=number, split=own.splits[number - 1], classes=own.classes)
    say(f"the report is {output} ({output.stat().st_size / 1e6:.1f} MB)")
