from pathlib import Path

import pytest

from numasim.errors import InputError, nearest_name
from numasim.parts import catalog


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_shipped_name_is_found(kind: str) -> None:
    for name in catalog.names(kind):
        assert catalog.find(kind, name).is_file()


def test_the_papers_are_there() -> None:
    assert "xeon-e5-2620-2s" in catalog.names("machines")
    assert {"randomized", "threshold", "topology-aware"} <= set(catalog.names("strategies"))
    assert set(catalog.names("runtimes")) == {"bare", "ompi", "own", "phoenix"}


def test_unknown_names_propose_the_nearest() -> None:
    with pytest.raises(InputError, match=r"there is no strategy 'randomised'.*did you mean 'randomized'\?"):
        catalog.find("strategies", "randomised")


def test_paths_are_seen_from_the_document() -> None:
    assert catalog.find("strategies", "./mine.yaml", Path("there")) == Path("there/mine.yaml")
    assert catalog.find("machines", "mine.yml", Path("there")) == Path("there/mine.yml")
    assert catalog.find("machines", "/abs/mine", Path("there")) == Path("/abs/mine")


def test_installed_configs_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "numasim" / "configs" / "machines"
    inside.mkdir(parents=True)
    (inside / "only.yaml").touch()
    monkeypatch.setattr(catalog, "_PACKAGE", tmp_path / "numasim")
    assert catalog.names("machines") == ("only",)
    beside = tmp_path / "configs" / "machines"
    beside.mkdir(parents=True)
    (beside / "other.yaml").touch()
    assert catalog.names("machines") == ("only",)
    inside.parent.rename(tmp_path / "gone")
    assert catalog.names("machines") == ("other",)


def test_a_file_comes_before_a_shipped_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "names", lambda kind: ("quick",) if kind == "sweeps" else ())
    assert catalog.find_spec("quick") == catalog.folder("sweeps") / "quick.yaml"
    Path("quick").touch()
    assert catalog.find_spec("quick") == Path("quick")


@pytest.mark.parametrize(("typed", "meant"), [("lawz", "laws"), ("heath", "heat"), ("fibb", "fib"), ("qqqq", None)])
def test_of_names_as_similar_that_with_the_same_beginning_is_meant(typed: str, meant: str | None) -> None:
    assert nearest_name(typed, ["slaw", "laws", "heat", "fib"]) == meant
