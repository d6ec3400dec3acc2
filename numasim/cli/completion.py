"""What shells offer to complete a word of a command line: names of what ships, and files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

Completer = Callable[[str], list[str]]
YAML = (".yaml", ".yml")


def shipped(kind: str, *suffixes: str) -> Completer:
    """Offer the shipped names of ``kind`` (machines, strategies, runtimes or sweeps), and files with ``suffixes``."""

    def offer(incomplete: str) -> list[str]:
        from numasim.parts import catalog

        return [*_beginning(catalog.names(kind), incomplete), *_files(incomplete, suffixes)]

    return offer


def workloads(incomplete: str) -> list[str]:
    """Offer the names of workloads."""
    from numasim.workload.registry import MODULES

    return _beginning(MODULES, incomplete)


def shipped_names(incomplete: str) -> list[str]:
    """Offer everything that ships."""
    from numasim.parts import catalog

    names = [name for kind in catalog.KINDS for name in catalog.names(kind)]
    return [*_beginning(names, incomplete), *workloads(incomplete), *_studies(incomplete)]


def studies(incomplete: str) -> list[str]:
    """Offer the shipped studies, all of them, and folders."""
    return [*_studies(incomplete), *_beginning(("all",), incomplete), *_files(incomplete, ())]


def parts_of_validation(incomplete: str) -> list[str]:
    """Offer the shipped parts of a validation, and YAML files."""
    from numasim.validate.part_files import part_names

    return [*_beginning(part_names(), incomplete), *_files(incomplete, YAML)]


def files(*suffixes: str) -> Completer:
    """Offer folders, and files with ``suffixes``."""

    def offer(incomplete: str) -> list[str]:
        return list(_files(incomplete, suffixes))

    return offer


def words(*known: str) -> Completer:
    """Offer ``known`` words."""

    def offer(incomplete: str) -> list[str]:
        return _beginning(known, incomplete)

    return offer


def engines(incomplete: str) -> list[str]:
    """Offer the engines that are built here."""
    from numasim.engine.simulate import ENGINES

    return _beginning(ENGINES, incomplete)


def _studies(incomplete: str) -> list[str]:
    from numasim.reproduce.load import study_names

    return _beginning(study_names(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Folders, each with a slash behind it, and files with ``suffixes`` whose paths begin as ``incomplete``."""
    head, slash, _ = incomplete.rpartition("/")
    try:
        entries = sorted(Path(head + slash).iterdir())
    except OSError:
        return
    for entry in entries:
        text = f"{head}{slash}{entry.name}"
        if text.startswith(incomplete) and (entry.name[0] != "." or incomplete.endswith(".")):
            if entry.is_dir():
                yield f"{text}/"
            elif entry.suffix in suffixes:
                yield text
