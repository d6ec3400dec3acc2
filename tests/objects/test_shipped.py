"""The lists of shipped names: every name is listed with a line of description."""

from __future__ import annotations

from pathlib import Path

import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.objects.shipped import Shipped
from numasim.parts import catalog

LISTS = {
    "machines": ns.machines,
    "strategies": ns.strategies,
    "runtimes": ns.runtimes,
    "sweeps": ns.sweeps,
    "workloads": ns.workloads,
}


@pytest.mark.parametrize("kind", LISTS)
def test_everything_shipped_has_a_line(kind: str) -> None:
    listed = LISTS[kind]()
    if kind in catalog.KINDS:
        assert list(listed) == list(catalog.names(kind))
    for line in listed.values():
        assert line.endswith(".")
        assert "\n" not in line
        assert "``" not in line
        assert 15 < len(line) <= 120


def test_the_line_is_the_first_sentence_of_the_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "numasim" / "configs" / "machines"
    folder.mkdir(parents=True)
    monkeypatch.setattr(catalog, "_PACKAGE", tmp_path / "numasim")
    texts = {
        "long": "# The machine of B. Vikranth, 2.5 GHz,\n# on two lines. Another sentence.\nname: long\n# no comment\n",
        "short": "# No full stop\nname: short\n",
        "none": "name: none\n# Too late.\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    listed = ns.machines()
    assert listed == {"long": "The machine of B. Vikranth, 2.5 GHz, on two lines.", "none": "", "short": "No full stop"}
    assert repr(listed) == "long   The machine of B. Vikranth, 2.5 GHz, on two lines.\nnone\nshort  No full stop"


def test_a_name_that_is_not_shipped() -> None:
    with pytest.raises(InputError, match="did you mean 'randomized'"):
        catalog.described("strategies", "randomised")
    with pytest.raises(KeyError):
        ns.machines()["cray"]


def test_a_list_is_a_table_for_pandas_and_notebooks() -> None:
    shipped = Shipped("machine", {"b<": "x & y", "a": "z"})
    frame = shipped.to_frame()
    assert frame.index.tolist() == ["a", "b<"]
    assert frame.index.name == "machine"
    assert frame["description"].tolist() == ["z", "x & y"]
    assert "<code>b&lt;</code>" in shipped._repr_html_()
    assert "x &amp; y" in shipped._repr_html_()
