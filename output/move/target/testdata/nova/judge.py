"""Lets Nova's own code judge flavors: standard input has a JSON list of flavors, standard output what Nova makes of each.

Each flavor has name, vcpus, ram (MB), specs, and image, the properties of the image it starts. The answer has, for each, "rejected": the keys that the validators reject,
and why; "cells": the vCPUs and memory (MB) of each guest node; "topology": sockets, cores and threads; "fits": whether it
fits an empty host of 16 nodes of 16 CPUs and 256 GB; "pins": the CPU of each vCPU that has one. CPUs 2n and 2n+1 are of one core where
smt is asked.
"""
import json
import sys

from nova import conf, context, objects
from nova.api.validation.extra_specs import validators
from nova.virt import hardware

conf.CONF([], project='nova', default_config_files=[])
objects.register_all()
validators.load_validators()


def host(smt):
    cells = []
    for n in range(16):
        cpus = set(range(n * 16, n * 16 + 16))
        siblings = [{c, c + 1} for c in sorted(cpus)[::2]] if smt else [{c} for c in cpus]
        pages = [objects.NUMAPagesTopology(size_kb=4, total=64 << 20, used=0), objects.NUMAPagesTopology(size_kb=2048, total=8192, used=0),
                 objects.NUMAPagesTopology(size_kb=1 << 20, total=64, used=0)]
        cells.append(objects.NUMACell(id=n, cpuset=cpus, pcpuset=cpus, memory=256 << 10, cpu_usage=0, memory_usage=0, pinned_cpus=set(), siblings=siblings,
                                      mempages=pages, socket=n, network_metadata=objects.NetworkMetadata(physnets=set(), tunneled=False)))
    return objects.NUMATopology(cells=cells)


def judge(asked):
    out = {'name': asked['name'], 'rejected': []}
    for key, value in asked['specs'].items():
        try:
            validators.validate(key, value)
        except Exception as e:
            out['rejected'].append('%s=%s: %s' % (key, value, e))
    flavor = objects.Flavor(id=1, flavorid='1', name=asked['name'], vcpus=asked['vcpus'], memory_mb=asked['ram'], root_gb=0, ephemeral_gb=0, swap=0, extra_specs=asked['specs'])
    image = objects.ImageMeta.from_dict({'properties': asked['image'] or {}})
    try:
        numa = hardware.numa_get_constraints(flavor, image)
    except Exception as e:
        out['error'] = type(e).__name__ + ': ' + str(e)
        return out
    out['cells'] = [{'cpus': sorted(c.cpuset | c.pcpuset), 'memory': c.memory} for c in numa.cells] if numa else []
    best = hardware.get_best_cpu_topology(flavor, image)
    out['topology'] = [best.sockets, best.cores, best.threads]
    fit = numa and hardware.numa_fit_instance_to_host(host(asked['smt']), numa, {}, None)
    out['fits'] = not numa or fit is not None
    out['pins'] = {v: c for cell in (fit.cells if fit else []) for v, c in (cell.cpu_pinning or {}).items()}
    return out


json.dump([judge(f) for f in json.load(sys.stdin)], sys.stdout)
