"""A run that is trained on the command line in no time."""

SMALL = (
    "--set", "model.steps=3", "--set", "model.lengths=[3]", "--set", "model.num_anchors=6", "--set", "model.num_members=2",
)  # fmt: skip


def trained(run, streets, folder, *words):
    """Train ``reach`` on the file ``streets["graph"]``."""
    done = run("train", streets["graph"], "-o", folder, *words, *SMALL)
    assert done.exit_code == 0, done.output
    return done
