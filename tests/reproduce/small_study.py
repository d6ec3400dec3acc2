"""A study of two small programs, made up, that reproduces in a second: a file for each path that a test may break."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "study.yaml": """\
title: A small study
source: nobody
machine: xeon-e5-2620-2s
seed: 3
repeat: 2
scores:
  times: {metric: mape, bound: 0.15}
ablations:
  caches: {model.cache: none}
contributions:
  stealing domains: {program: trees, variant: domains, over: plain}
inconsistencies:
  - {text: the first table contradicts itself, tables: ["1.1"]}
""",
    "programs/trees.yaml": """\
spec: {runtime: ompi, strategy: randomized, workers: threads}
rows:
  small: {workload: {name: fib, n: 6}}
  large: {workload: {name: fib, n: 9}}
variants:
  plain: {strategy: randomized}
  domains: {strategy: topology-aware}
quick: {without: [large]}
""",
    "programs/grid.yaml": """\
spec: {workload: {name: matmul, n: 64}, runtime: own, strategy: randomized, workers: 24}
quick: {set: {workload.n: 16}}
""",
    "tables/table-1-1.yaml": """\
title: Times
source: section 1
published: times.csv
program: trees
rows: program
columns:
  plain_s: {variant: plain, quantity: makespan_s, role: fitted}
  domains_s: {variant: domains, quantity: makespan_s, role: predicted, score: times, baseline: plain_s}
notes: [read off a plot]
""",
    "tables/table-1-2.yaml": """\
title: Steals
source: section 2
published: steals.csv
program: grid
rows: {key: workers, field: workers}
columns:
  attempts: {quantity: steal_attempts, role: predicted, null_from: {table: "1.3", column: attempts}, fitted: ["2"]}
""",
    "tables/table-1-3.yaml": """\
title: Steals again
source: section 2
published: steals.csv
program: grid
rows: {key: workers, field: workers}
columns:
  attempts: {quantity: steal_attempts, role: predicted}
""",
    "tables/figure-1.yaml": """\
title: Gains
source: section 3
published: times.csv
program: trees
rows: program
columns:
  gain: {variant: domains, quantity: speedup, role: predicted, published: {over: plain_s, under: domains_s}}
""",
    "published/times.csv": "program,plain_s,domains_s\nsmall,4,2\nlarge,9,3\n",
    "published/steals.csv": "workers,attempts\n2,10\n24,300\n32,900\n",
}


def write_study(folder: Path, edits: dict[str, tuple[str, str]] | None = None) -> Path:
    """Write the study to ``folder``; ``edits`` replace a text in a file once."""
    for name, text in FILES.items():
        old, new = (edits or {}).get(name, ("", ""))
        assert old in text
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new, 1) if old else text)
    return folder
