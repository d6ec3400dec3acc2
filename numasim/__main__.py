"""The entrance of the command `numasim` and of `python -m numasim`.

It imports nothing before it can answer an interrupt: the command line takes a tenth of a second to import.
"""

import gc
import os
import sys

INTERRUPTED = 130  # the status that a shell gives to a program ended by SIGINT: 128 + 2
QUIET_LIBRARIES = {  # what libraries do when they are imported, and no command needs; the user's own settings stay
    "OPENBLAS_NUM_THREADS": "1",  # threads for the linear algebra of numpy
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # a search for plug-ins through all installed packages
}
MANY_OBJECTS = 200_000  # more than all modules make, of which none is garbage


def main() -> int:
    """Run the command line and return its exit status; an interrupt at any moment is one sentence."""
    try:
        for name, value in QUIET_LIBRARIES.items():
            os.environ.setdefault(name, value)
        gc.set_threshold(MANY_OBJECTS, *gc.get_threshold()[1:])
        from numasim.cli import main as command

        status = command()
    except KeyboardInterrupt:
        sys.stderr.write("numasim: interrupted: the same command begins anew\n")
        status = INTERRUPTED
    gc.freeze()  # the process ends: nobody looks through what is left of it for garbage
    if status == INTERRUPTED:
        exec("")  # Python forgets an interrupt of code in a text, as dataclasses have it, and ends with our status
    return status


if __name__ == "__main__":
    sys.exit(main())
