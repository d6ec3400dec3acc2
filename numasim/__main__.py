"""The entrance of the command `numasim` and of `python -m numasim`.

It imports nothing before it can answer an interrupt: the command line takes a fifth of a second to import.
"""

import sys

INTERRUPTED = 130  # the status that a shell gives to a program ended by SIGINT: 128 + 2


def main() -> int:
    """Run the command line and return its exit status; an interrupt at any moment is one sentence."""
    try:
        from numasim.cli import main as command

        status = command()
    except KeyboardInterrupt:
        sys.stderr.write("numasim: interrupted: the same command begins anew\n")
        status = INTERRUPTED
    if status == INTERRUPTED:
        exec("")  # Python forgets an interrupt of code in a text, as dataclasses have it, and ends with our status
    return status


if __name__ == "__main__":
    sys.exit(main())
