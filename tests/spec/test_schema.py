import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from numasim.cli import main
from numasim.cli.listing import SCHEMAS, schema_of
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.yaml.document import load, parse
from numasim.parts.yaml.nodes import Source
from numasim.spec.json_schema import json_schema

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
FILES = {"calibration": ["thesis/calibrated.yaml"], "validation": ["validation/*.yaml"]}
SHIPPED = [(what, kind, name) for kind, what in catalog.KINDS.items() for name in catalog.names(kind)]


def valid(kind: str, text: str) -> bool:
    document = parse(text, Source("x.yaml", Path())).plain()
    return bool(jsonschema.Draft202012Validator(json_schema(kind)).is_valid(document))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_schemas(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(kind))
    assert schema_of(kind)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match=r"there is no schema 'machin'.*did you mean 'machine'\?"):
        schema_of("machin")


@pytest.mark.parametrize("kind", FILES)
def test_every_shipped_study_and_part_of_a_validation_fits(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(schema_of(kind))
    paths = [path for pattern in FILES[kind] for path in sorted(EXPERIMENTS.glob(pattern))]
    assert paths
    for path in paths:
        validator.validate(load(path).plain())


def test_a_written_graph_and_a_printed_result_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.json"
    assert main(["workload", "export", "sparselu-for", "blocks=3", str(graph)]) == 0
    jsonschema.Draft202012Validator(schema_of("graph")).validate(json.loads(graph.read_text()))
    capsys.readouterr()
    assert main(["run", "thesis-remote-steals", "--set", "workload={name: fib, n: 5}", "--json"]) == 0
    jsonschema.Draft202012Validator(schema_of("result")).validate(json.loads(capsys.readouterr().out))


def test_schemas_have_descriptions_of_fields_and_words() -> None:
    steal = schema_of("strategy")["$defs"]["LevelSpec"]["properties"]
    assert steal["from"]["description"].endswith(".")
    assert len(steal["visit"]["enumDescriptions"]) == len(steal["visit"]["enum"])


@pytest.mark.parametrize(("what", "kind", "name"), SHIPPED)
def test_every_shipped_file_fits(what: str, kind: str, name: str) -> None:
    jsonschema.Draft202012Validator(json_schema(what)).validate(load(catalog.find(kind, name)).plain())


WHOLE = (
    "{sockets: 4, nodes: {cores: 8, memory: 1GiB, imc_bandwidth_gbs: 9}, caches: {}, clock: {base_ghz: 2}, "
    "links: {topology: ring, latency_ns: 1}, coherence: {same_core_ns: 1, same_socket_ns: 2}}"
)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("strategy", "steal: [{from: others, if: {length: max}}]", True),
        ("strategy", "like: threshold", True),
        ("strategy", "refill: 3", False),
        ("machine", "{like: xeon-e5-2620-2s, nodes: {cores: 8}, links: {bandwidth_gbs: 9}, clock: {}}", True),
        ("machine", "{name: xeon-e5-2620-2s, nodes: {cores: 8}}", True),
        ("machine", "{like: xeon-e5-2620-2s, links: ring}", True),
        ("machine", "{like: xeon-e5-2620-2s, links: rin}", False),
        ("machine", "{like: xeon-e5-2620-2s, nodes: {corse: 8}}", False),
        ("machine", WHOLE, True),
        ("machine", WHOLE.replace("memory: 1GiB, ", ""), False),
        ("machine", WHOLE.replace("base_ghz: 2", ""), False),
        ("machine", WHOLE.replace("topology: ring, ", ""), False),
        ("machine", WHOLE.replace("{topology: ring, latency_ns: 1}", "[{between: [0, 1]}]"), True),
        ("strategy", "steal: [{from: othres}]", False),
        ("strategy", "steal: [{form: others}]", False),
        ("runtime", "costs: {push_ns: 1.5, line: yes}", True),
        ("runtime", "costs: {push_ns: '1.5'}", False),
        ("runtime", "costs: {push_ns: -1}", False),
        ("workload", "{name: matmul, n: 256}", True),
        ("workload", "{name: matmul, m: 256}", False),
        ("workload", "{file: graph.json}", True),
        ("sweep", "workers: 0", False),
        ("sweep", "sweep: {workers: {from: 2, to: 8}, zip: {seed: [1], workload.n: [2]}}", True),
        ("sweep", "sweep: {wrokers: [2]}", False),
        ("sweep", "sweep: {workers: []}", False),
        ("sweep", "machine: nowhere", False),
        ("sweep", "machine: ./mine.yaml", True),
        ("sweep", "wrokers: 2", False),
    ],
)
def test_what_fits(kind: str, text: str, expected: bool) -> None:
    assert valid(kind, text) is expected


def test_a_complete_run_fits(run_file: Callable[..., Path], folder: Path) -> None:
    document = load(run_file("model: {skip: off}\nseed: 3\n")).plain()
    jsonschema.Draft202012Validator(json_schema("run")).validate(document)
    jsonschema.Draft202012Validator(json_schema("machine")).validate(load(folder / "machine.yaml").plain())
