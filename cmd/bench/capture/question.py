"""The question of question.go, answered with polars or DuckDB: question.py TOOL FILE."""

import hashlib
import os
import sys
import time

COUNTERS = {
    "Group Cpu": ["% Ready", "% CoStop"],
    "Group Memory": [
        "Numa Home Nodes",
        "Numa Rebalance Count Delta",
        "Numa Remote Memory MBytes",
        "Numa Local Memory MBytes",
        "Numa % Local",
    ],
}


def find(path):
    """Returns the VMs by name, with the columns of their counters, and all names."""
    with open(path, encoding="utf-8") as f:
        names = f.readline().rstrip("\n").strip('",').split('","')
    places = {name: i for i, name in enumerate(names)}
    vms = {}
    for name in names[1:]:
        host, _, rest = name[2:].partition("\\")
        if rest.startswith("Group Cpu(") and rest.endswith(")\\% VmWait"):
            vm = rest[len("Group Cpu(") : -len(")\\% VmWait")]
            vms[vm] = [
                places[f"\\\\{host}\\{group}({vm})\\{counter}"]
                for group, counters in COUNTERS.items()
                for counter in counters
            ]
    return dict(sorted(vms.items())), names


def summary(vms, rows):
    """Makes one line of the answer; vms maps names to (numbers, homes)."""
    numbers, homes = hashlib.sha256(), hashlib.sha256()
    for name, (n, h) in vms.items():
        numbers.update((" ".join([name, *map(str, n)]) + "\n").encode())
        homes.update((" ".join([name, *map(str, h)]) + "\n").encode())
    return f"rows={rows} vms={len(vms)} numbers={numbers.hexdigest()[:12]} homes={homes.hexdigest()[:12]}"


def answers(vms, frame):
    """Answers for each VM from a polars frame: frame[i] is column i of the file."""
    import polars as pl

    out = {}
    for vm, (ready, costop, home, moved, remote, local, share) in vms.items():
        c = lambda i: pl.col(f"c{i}")
        cents = lambda i: (c(i) * 100).round().cast(pl.Int64)
        text = c(home)
        out[vm] = [
            cents(local).sum(),
            cents(remote).sum(),
            ((c(share) < 80) & (c(local) + c(remote) > 0)).sum(),
            c(moved).cast(pl.Int64).sum(),
            cents(ready).max(),
            cents(costop).max(),
            (text != text.shift(1)).sum(),
            text.str.contains(",", literal=True).sum(),
        ]
    flat = frame.select([e.alias(f"{vm}/{i}") for vm, es in out.items() for i, e in enumerate(es)]).row(0)
    return {vm: (flat[8 * i : 8 * i + 6], flat[8 * i + 6 : 8 * i + 8]) for i, vm in enumerate(out)}


def schema(vms, pl):
    """Returns the type of each wanted column."""
    out = {}
    for columns in vms.values():
        for k, i in enumerate(columns):
            out[i] = pl.String if k == 2 else pl.Float64
    return dict(sorted(out.items()))


def by_polars(path):
    import polars as pl

    start = time.perf_counter()
    vms, names = find(path)
    types = schema(vms, pl)
    frame = pl.read_csv(
        path,
        columns=list(types),
        has_header=True,
        infer_schema=False,
        new_columns=None,
        truncate_ragged_lines=True,
    )
    frame = frame.rename(dict(zip(frame.columns, [f"c{i}" for i in types])))
    frame = frame.with_columns([pl.col(f"c{i}").cast(t) for i, t in types.items() if t != pl.String])
    line = summary(answers(vms, frame), frame.height)
    return line, time.perf_counter() - start


def all_by_polars(path):
    import polars as pl

    start = time.perf_counter()
    _, names = find(path)
    home = "\\Numa Home Nodes"
    # By position: the comma at the end of each line makes one more column.
    types = [pl.String if i == 0 or n.endswith(home) else pl.Float64 for i, n in enumerate(names)] + [pl.String]
    frame = pl.read_csv(path, schema_overrides=types, infer_schema=False)
    numbers = [c for c in frame.get_columns() if c.dtype == pl.Float64]
    total = sum(int((c * 100).round().cast(pl.Int64).sum()) for c in numbers)
    return f"rows={frame.height} columns={len(numbers)} total={total}", time.perf_counter() - start


def by_duckdb(path, told=True):
    """Answers with DuckDB, which is told the columns or finds them out."""
    import duckdb
    import polars as pl

    start = time.perf_counter()
    vms, names = find(path)
    types = schema(vms, pl)
    con = duckdb.connect()
    con.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
    given, column = "", lambda i: '"' + names[i] + '"'
    if told:
        # The comma at the end of each line makes one more column.
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names) + 1))
        given = f", auto_detect = false, delim = ',', quote = '\"', columns = {{{columns}}}"
        column = lambda i: f"c{i}"
    wanted = ", ".join(f"CAST({column(i)} AS {'VARCHAR' if t == pl.String else 'DOUBLE'})" for i, t in types.items())
    rows = con.execute(
        f"SELECT {wanted} FROM read_csv(?, header = true, max_line_size = 33554432{given})", [path]
    ).fetchall()
    frame = pl.DataFrame(rows, schema={f"c{i}": t for i, t in types.items()}, orient="row")
    line = summary(answers(vms, frame), frame.height)
    return line, time.perf_counter() - start


def by_duckdb_alone(path):
    return by_duckdb(path, told=False)


TOOLS = {"polars": by_polars, "polars-all": all_by_polars, "duckdb": by_duckdb, "duckdb-alone": by_duckdb_alone}

if __name__ == "__main__":
    line, seconds = TOOLS[sys.argv[1]](sys.argv[2])
    print(f"{line} seconds={seconds:.6f}")
