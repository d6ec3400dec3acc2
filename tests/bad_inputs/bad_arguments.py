"""Bad arguments of every command: options that contradict each other, numbers out of range, unknown names."""

from __future__ import annotations

from bad_input_type import GOOD_RUN, BadInput, nothing, text_at
from places_of_files import IMPORT, part, study, sysfs

RUN = text_at("run.yaml", GOOD_RUN)
LONG = "x" * 300


def run(*arguments: str, says: tuple[str, ...]) -> BadInput:
    """Return a run with these arguments."""
    return BadInput(f"run: {' '.join(arguments)[:60]}", ("run", "run.yaml", *arguments), RUN, says)


def command(*arguments: str, says: tuple[str, ...]) -> BadInput:
    """Return a command that needs no file."""
    return BadInput(" ".join(arguments)[:80], arguments, nothing, says)


def sweep(*arguments: str, says: tuple[str, ...]) -> BadInput:
    """Return a sweep with these arguments."""
    return BadInput(f"sweep: {' '.join(arguments)[:60]}", ("sweep", "run.yaml", *arguments), RUN, says)


NO_ENGINE = ("there is no engine 'steam'", "expected one of ")
ARGUMENTS = [
    run("--engine", "steam", says=NO_ENGINE),
    run("--set", "workers", says=("--set: got 'workers'", "field=value")),
    run("--set", "=4", says=("'' is no field", "a dotted field")),
    run("--set", "workers=", says=("there is no value after =",)),
    run("--set", "workers=[", says=("--set workers=[", "expected")),
    run("--set", "workers=" + "[" * 500, says=("nested deeper than 100 levels", "a flatter document")),
    run("--set", "workers=4, 5", says=("expected one value; put lists in brackets",)),
    run("--set", "workers=0", says=("workers: got 0", "at least 1")),
    run("--set", "seed=18446744073709551616", says=("seed: got 18446744073709551616", "less than")),
    run("--set", "repeat=0.5", says=("repeat: ", "a whole number is needed")),
    run("--set", "a b=1", says=("'a b' is no field",)),
    run("--set", "workload.n=100000", says=("workload.n: ", "at most")),
    run("--set", f"machine={LONG}", says=("there is no machine 'xxx", "expected one of ")),
    run("--set", f"machine=./{LONG}.yaml", says=("cannot read 'xxx", "File name too long")),
    run("--set", f"workload={{file: {LONG}}}", says=("cannot read ", "File name too long")),
    run("--set", "machine.name=" + LONG, says=("machine.name: ", "at most 100 characters")),
    run("--set", "model.skip=perhaps", says=("model.skip: ", "expected")),
    run("--trace", "absent/trace.json", says=("absent/trace.json: cannot be written", "there is no folder")),
    run("--set", "workload={name: matmul, n: 4096}", "--trace", "trace.json", says=("expected",)),
    command("run", LONG, says=("cannot read 'xxx", "File name too long")),
    command("run", "", says=("is a directory", "a YAML file")),
    command("run", "no/such/run.yaml", says=("there is no folder 'no/such'", "a YAML file")),
    command("run", "/dev/tty", says=("/dev/tty", "a YAML file")),
    command("run", "/proc/self/mem", says=("cannot read '/proc/self/mem'", "a YAML file")),
    sweep("--engine", "steam", "-o", "out", says=NO_ENGINE),
    sweep("-o", "run.yaml", says=("run.yaml: is a file", "a new or empty folder")),
    sweep("-o", "run.yaml/out", says=("run.yaml", "expected")),
    sweep("-o", LONG, says=("xxx", "File name too long")),
    sweep("-o", "/dev/null", says=("/dev/null: is a file", "a new or empty folder")),
    sweep("--jobs", "2", "--cluster", "local:2", "-o", "out", says=("jobs and cluster are both given",)),
    sweep("--cluster", "local:0", "-o", "out", says=("local:0", "expected")),
    sweep("--cluster", "local:" + "9" * 30, "-o", "out", says=("local:999", "expected")),
    sweep("--cluster", "tcp://", "-o", "out", says=("tcp://", "expected")),
    sweep("--set", "sweep.workers=[2, 2]", "-o", "out", says=("the value 2 stands here twice", "each value once")),
    sweep("--set", "sweep.workers={from: 1, to: 1e50}", "-o", "out", says=("expected 1 to 100000 values",)),
    sweep("--set", "repeat=1000000000000", "-o", "out", says=("repeat", "expected")),
    command("plot", "absent", says=("absent", "a results directory")),
    command("plot", "absent", "--column", "tasks", "-o", "f.gif", says=("unsupported figure format", ".pdf")),
    command("plot", LONG, says=("xxx", "a results directory")),
    command("schema", "steam", says=("steam", "expected")),
    command("list", "steam", says=("there is no list of 'steam'", "expected one of ")),
    command("show", "steam", says=("nothing that ships is called 'steam'", "expected")),
    command("show", "fib", "--yaml", says=("the workload 'fib' is no single file", "expected one of ")),
    command("runtime", "show", "steam", says=("there is no runtime 'steam'", "`numasim list runtimes`")),
    command("machine", "show", "absent", says=("there is no machine 'absent'", "expected one of ")),
    command(
        "machine", "show", "tilepro64", "--picture", "m.bmp", says=("unsupported figure format", ".png, .svg or .pdf")
    ),
    command("machine", "check", "", says=("there is no machine ''", "expected one of ")),
    command("machine", "import", f"{LONG}.xml", "-o", "m.yaml", says=("cannot read 'xxx", "File name too long")),
    command("machine", "import", "--sysfs", "absent", "-o", "m.yaml", says=("absent has no processors", "/sys")),
    command("machine", "import", "--sysfs", LONG, "-o", "m.yaml", says=("xxx has no processors", "/sys")),
    command("workload", "show", "steam", says=("there is no workload 'steam'", "expected one of ")),
    command("workload", "show", "{name: fib, n: -1}", says=("workload.n: got -1", "at least 0")),
    command("workload", "show", "{name: fib, n: 10000}", says=("workload.n: ", "at most")),
    command("workload", "show", "{name: fib", says=("expected",)),
    command("workload", "export", "fib", "n=5", "absent/fib.json", says=("cannot be written", "there is no folder")),
    command("workload", "import", LONG, says=("cannot read 'xxx", "File name too long")),
    command("strategy", "show", "steam", says=("there is no strategy 'steam'", "did you mean 'steal-half'?")),
    command("strategy", "show", "ring", "--worker", "24", says=("worker", "expected")),
    command("strategy", "show", "ring", "--worker", "-1", says=("worker", "expected")),
    command("strategy", "show", "ring", "--workers", "0", says=("workers", "expected")),
    command("strategy", "show", "ring", "--workers", "9" * 30, says=("workers", "expected")),
    command("strategy", "show", "ring", "--machine", "steam", says=("there is no machine 'steam'",)),
    command("strategy", "show", "ring", "--runtime", "steam", says=("there is no runtime 'steam'",)),
    command("strategy", "compile", "ring", "--workers", "25", says=("25 workers", "expected 1 to 24")),
    command("strategy", "compile", "ring", "--runtime", "own", says=("only a task graph determines", "--graph")),
    command("strategy", "compile", "ring", "-o", "absent/ring.plan", says=("cannot be written", "there is no folder")),
    command("strategy", "compile", "ring", "--seed", "18446744073709551616", says=("seed", "expected")),
    command("reproduce", "steam", says=("there is no study 'steam'", "expected one of ")),
    command("reproduce", LONG, says=("there is no study 'xxx", "expected one of ")),
    command("reproduce", f"./{LONG}", says=("study.py: is missing", "expected the module of a study")),
    command("reproduce", "/dev/zero", "-o", "out", says=("/dev/zero/study.py: is missing", "expected the module")),
    BadInput("study: table", ("reproduce", "./study", "--table", "9.9"), study, ("there is no table '9.9'",)),
    BadInput("study: mechanism", ("reproduce", "./study", "--without", "steam"), study, ("'steam'", "expected")),
    BadInput("study: machine", ("reproduce", "./study", "--machine", "steam"), study, ("there is no machine 'steam'",)),
    command("validate", "native", says=("the part 'native' of the validation has no machine of its own", "--machine")),
    command("validate", "steam", says=("there is no part 'steam'", "expected one of ")),
    BadInput("part: kernel", ("validate", "./part.yaml", "--kernel", "steam"), part, ("'steam'", "expected")),
    BadInput("part: machine", ("validate", "./part.yaml", "--machine", "steam"), part, ("no machine 'steam'",)),
    BadInput("part: runtime", ("validate", "./part.yaml", "--runtime", "steam"), part, ("no runtime 'steam'",)),
    BadInput("sysfs and no file", (*IMPORT, "a.xml", "--sysfs", "sys"), sysfs, ("no file 'a.xml'", "expected")),
    BadInput("name with a space", (*IMPORT, "--sysfs", "sys", "--name", "a b"), sysfs, ("name: got 'a b'", "letters")),
    BadInput("no folder", ("machine", "import", "--sysfs", "sys", "-o", "no/m.yaml"), sysfs, ("there is no folder",)),
]
