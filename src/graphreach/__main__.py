"""``python -m graphreach``: the command."""

from graphreach.cli import main

if __name__ == "__main__":
    main()
