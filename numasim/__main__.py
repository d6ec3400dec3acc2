"""The entrance of the command `numasim` and of `python -m numasim`.

Importing the command line takes a tenth of a second. `main` imports it inside a block that handles an interrupt.
"""

import gc
import os
import sys

INTERRUPTED = 130  # the status that a shell gives to a program ended by SIGINT: 128 + 2
QUIET_LIBRARIES = {  # settings that stop work at the import of libraries; a setting that the user made stays
    "OPENBLAS_NUM_THREADS": "1",  # threads for the linear algebra of numpy
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # a search for plug-ins through all installed packages
}
MANY_OBJECTS = 200_000  # more objects than the imports create; the collector then finds no garbage among them


def main() -> int:
    """Run the command line and return its exit status. An interrupt (Ctrl-C) at any time prints one sentence."""
    try:
        for name, value in QUIET_LIBRARIES.items():
            os.environ.setdefault(name, value)
        gc.set_threshold(MANY_OBJECTS, *gc.get_threshold()[1:])
        from numasim.cli import main as command

        status = command()
    except KeyboardInterrupt:
        sys.stderr.write("numasim: interrupted: the same command begins anew\n")
        status = INTERRUPTED
    gc.freeze()  # the process ends now, so a last search for garbage would be wasted
    if status == INTERRUPTED:
        exec("")  # clears the mark of an interrupted `exec`, as dataclasses call it: Python would end by the signal
    return status


if __name__ == "__main__":
    sys.exit(main())
