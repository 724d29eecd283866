"""Solves problems of the optimiser exactly, with OR-Tools CP-SAT: a line of JSON in, a
line of JSON out. The home nodes of the clients are free here, the clients of one VM on
different nodes while there are enough: what comes out is no more than what any placement
of ESXi reaches. Exit code 3: OR-Tools is not installed."""
import json
import sys

try:
    from ortools.sat.python import cp_model
except ModuleNotFoundError:
    sys.exit(3)

WHOLE_CORE = 10_000


def slices(memory, clients):
    first, out, total = 0, [], sum(clients)
    for n in clients:
        out.append(memory * (first + n) // total - memory * first // total)
        first += n
    return out


def solve(p):
    model, w = cp_model.CpModel(), p["weights"]
    hosts, vms = p["hosts"], p["vms"]
    cost = []
    need = [[[] for _ in h["nodes"]] for h in hosts]  # memory of clients by node
    demand = [[[] for _ in h["nodes"]] for h in hosts]
    runs = []  # by VM and host: it runs there
    for v in vms:
        here, options = {}, []
        for h in v["allowed"]:
            nodes = hosts[h]["nodes"]
            shaped = []
            for s, shape in enumerate(v["shapes"]):
                fit = shape[hosts[h]["kind"]]
                if not fit["ok"]:
                    continue
                x = model.new_bool_var("")
                shaped.append(x)
                fixed = w["far"] * fit["far"]
                fixed += w["move"] if h != v["host"] else 0
                fixed += w["cycle"] if s else 0
                cost.append(fixed * x)
                place(model, v, fit, x, nodes, need[h], demand[h])
            here[h] = model.new_bool_var("")
            model.add(sum(shaped) == here[h])
            options.append(here[h])
        model.add_exactly_one(options)
        runs.append(here)
    for h, host in enumerate(hosts):
        for n, node in enumerate(host["nodes"]):
            over(model, cost, w["remote"], need[h][n], node["memory"])
            over(model, cost, w["ready"], demand[h][n], node["cores"] * WHOLE_CORE)
    constrain(model, p, runs)
    model.minimize(sum(cost))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = 120
    status = solver.solve(model)
    return {"optimal": status == cp_model.OPTIMAL, "total": round(solver.objective_value)}


def place(model, v, fit, x, nodes, need, demand):
    """Gives the clients of a VM that runs so their nodes, or lays it on all of them."""
    memory, busy = v["memory"], v["demand"]
    if not fit["managed"]:
        count = len(nodes)
        for n in range(count):
            need[n].append((memory * (n + 1) // count - memory * n // count) * x)
            whole = v["vcpus"] * busy
            demand[n].append((whole * (n + 1) // count - whole * n // count) * x)
        return
    on = [[] for _ in nodes]
    for vcpus, size in zip(fit["clients"], slices(memory, fit["clients"])):
        homes = [model.new_bool_var("") for _ in nodes]
        model.add(sum(homes) == x)
        for n, home in enumerate(homes):
            need[n].append(size * home)
            demand[n].append(vcpus * busy * home)
            on[n].append(home)
    most = -(-len(fit["clients"]) // len(nodes))
    for homes in on:
        model.add(sum(homes) <= most)


def over(model, cost, weight, terms, limit):
    if not terms:
        return
    extra = model.new_int_var(0, 1 << 40, "")
    model.add(extra >= sum(terms) - limit)
    cost.append(weight * extra)


def constrain(model, p, runs):
    hosts, vms = p["hosts"], p["vms"]

    def on(h, key):
        return [v[key] * here[h] for v, here in zip(vms, runs) if h in here]

    for h, host in enumerate(hosts):
        model.add(sum(on(h, "memory")) <= host["memory"])
        if host["vcpus"]:
            model.add(sum(on(h, "vcpus")) <= host["vcpus"])
        for group in p["apart"] or []:
            model.add_at_most_one(runs[v][h] for v in group if h in runs[v])
        for group in p["together"] or []:
            for v in group[1:]:
                model.add(runs[v].get(h, 0) == runs[group[0]].get(h, 0))
    if not p["nplus1"]:
        return
    for lost in range(len(hosts)):
        again = [{h: model.new_bool_var("") for h in here if h != lost} for here in runs]
        for here, there in zip(runs, again):
            model.add(sum(there.values()) == here.get(lost, 0))
        for h, host in enumerate(hosts):
            if h == lost:
                continue
            for key in ("memory", "vcpus"):
                if host[key]:
                    moved = [v[key] * there[h] for v, there in zip(vms, again) if h in there]
                    model.add(sum(on(h, key)) + sum(moved) <= host[key])


for line in sys.stdin:
    print(json.dumps(solve(json.loads(line))), flush=True)
