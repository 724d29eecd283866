"""Packs small fleets exactly, with OR-Tools CP-SAT: a line of JSON in, a line of JSON out. The
most vCPUs placed, then the fewest hosts. Exit code 3: OR-Tools is not installed."""
import json
import sys

try:
    from ortools.sat.python import cp_model
except ModuleNotFoundError:
    sys.exit(3)


def build(p):
    m = cp_model.CpModel()
    hosts, vms = p["hosts"], p["vms"]
    used = [m.new_bool_var("") for _ in hosts]
    on = [[m.new_bool_var("") for _ in hosts] for _ in vms]
    cells = {}  # of VM, cell, host, node
    for v, vm in enumerate(vms):
        m.add_at_most_one(on[v])
        for h, host in enumerate(hosts):
            m.add_implication(on[v][h], used[h])
            for c in range(len(vm["cells"])):
                row = [m.new_bool_var("") for _ in host["nodes"]]
                m.add(sum(row) == on[v][h])
                for n, x in enumerate(row):
                    cells[v, c, h, n] = x
            for n in range(len(host["nodes"])):
                m.add_at_most_one(cells[v, c, h, n] for c in range(len(vm["cells"])))
    for h, host in enumerate(hosts):
        for n, node in enumerate(host["nodes"]):
            limit(m, p, vms, node, lambda v, c: cells[v, c, h, n])
        for group in {group for vm in vms for group in vm["group"].split("|") if group}:
            m.add_at_most_one(on[v][h] for v, vm in enumerate(vms) if group in vm["group"].split("|"))
    for a in range(len(hosts)):  # of equal hosts the first are used
        for b in range(a):
            if hosts[a] == hosts[b]:
                m.add(used[b] >= used[a])
                break
    return m, used, on


def limit(m, p, vms, node, at):
    """What the cells of a node may come to."""
    every = [(v, c, vm, cell) for v, vm in enumerate(vms) for c, cell in enumerate(vm["cells"])]
    m.add(sum(cell["parts"] * at(v, c) for v, c, vm, cell in every) <= node["cores"] * p["core"])
    alone = sum(cell["vcpus"] * at(v, c) for v, c, vm, cell in every if vm["exclusive"])
    for v, c, vm, cell in every:
        if vm["exclusive"]:
            m.add(cell["vcpus"] * at(v, c) <= node["cores"])
        else:
            m.add(alone + cell["vcpus"] * at(v, c) <= node["cores"])
    need = sum(cell["memory"] * at(v, c) for v, c, vm, cell in every if not vm["page"])
    for size in {vm["page"] for vm in vms if vm["page"]}:
        pages = sum(cell["memory"] * at(v, c) for v, c, vm, cell in every if vm["page"] == size)
        over = m.new_int_var(0, 1 << 40, "")
        m.add(over >= pages - node["pages"].get(str(size), 0))
        need += over
    m.add(need <= node["memory"])


def solve(p):
    m, used, on = build(p)
    placed = sum(vm["vcpus"] * x for vm, row in zip(p["vms"], on) for x in row)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = p["seconds"]
    m.maximize(placed)
    proven = solver.solve(m) == cp_model.OPTIMAL
    best = round(solver.objective_value)
    if not proven:
        return {"proven": False}
    if best < sum(vm["vcpus"] for vm in p["vms"]):
        return {"proven": True, "vcpus": best, "hosts": 0}
    m.clear_objective()
    m.add(placed >= best)
    m.minimize(sum(used))
    proven = solver.solve(m) == cp_model.OPTIMAL
    return {"proven": proven, "vcpus": best, "hosts": round(solver.objective_value)}


for line in sys.stdin:
    print(json.dumps(solve(json.loads(line))), flush=True)
