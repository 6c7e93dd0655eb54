# SPDX-License-Identifier: GPL-3.0-or-later
"""What the process does that runs an export in a runtime, behind the part of that runtime, which defines Runtime.

    Runtime (job, folder, shapes): imports what it needs; version, and what else is said of it
        open (path, is_float): a network: outputs, fit (feeds), run (what fit gave)
        facts (network): what the runtime tells of the export, as JSON; optional, as are saturates, open_exact (path) and
        write_optimized (path, to)

The only argument is a folder with job.json, and S-I.npy for input I of sample S. It answers with files, so that what libraries
print cannot get between: out-S-O.npy, and reply.json, or its stage and the error.
"""
import sys
sys.path[:] = [p for p in sys.path if p not in ('', '.')]    # the current folder may be somebody else's
import json    # noqa: E402
import os    # noqa: E402
import time    # noqa: E402

LEAST_RUNS = 3    # that are measured, however long they take
FOLDER = sys.argv[1]
STAGE = ['import']


def reply(**what):
    part = os.path.join(FOLDER, 'reply.part')
    with open(part, 'w', encoding='utf-8') as out:
        json.dump(what, out)
    os.replace(part, os.path.join(FOLDER, 'reply.json'))


def attempt(what, otherwise):
    try:
        return what()
    except Exception:
        return otherwise


def place(prefix, sample, i):
    return os.path.join(FOLDER, '%s%d-%d.npy' % (prefix, sample, i))


def read_feeds(job, sample):
    import numpy

    return {name: numpy.load(place('', sample, i)) for i, name in enumerate(job['inputs'])}


def find_shapes(job):
    """Sizes of the inputs, if they are those of every sample."""
    found = [{name: list(x.shape) for name, x in read_feeds(job, s).items()} for s in range(job['samples'])]
    return found[0] if found and all(one == found[0] for one in found) else None


def save(prefix, sample, values):
    import numpy

    for o, value in enumerate(values):
        numpy.save(place(prefix, sample, o), value)


def run_samples(job, networks, exact):
    """The inputs of the first sample as each network takes them, for measuring."""
    same = len(networks) > 1 and networks[0].outputs == networks[1].outputs
    for s in reversed(range(job['samples'])):
        feeds = read_feeds(job, s)
        fitting = [network.fit(feeds) for network in networks]
        if len(networks) > 1:
            STAGE[0] = 'float'
            wanted = networks[1].run(fitting[1])
            save('float-', s, wanted if same else [])
        STAGE[0] = 'run'
        save('out-', s, networks[0].run(fitting[0]))
        if exact:
            save('exact-', s, attempt(lambda: exact.run(fitting[0]), []))
    return fitting


def measure(job, networks, fitting):
    """The shortest time of each, in turns, so that what else the machine does meets both."""
    best = [float('inf')] * len(networks)
    until = time.perf_counter() + (job['seconds'] or float('inf'))
    for r in range(job['runs']):
        if r >= LEAST_RUNS and time.perf_counter() > until:
            break
        for k, network in enumerate(networks):
            STAGE[0] = 'float' if k else 'run'
            began = time.perf_counter()
            network.run(fitting[k])
            best[k] = min(best[k], time.perf_counter() - began)
    return [seconds if seconds < float('inf') else 0 for seconds in best] + [0]


def work(job):
    runtime = Runtime(job, FOLDER, find_shapes(job))    # noqa: F821
    if job['look']:
        return reply(version=runtime.version)
    floats = []
    if job['float_model']:
        STAGE[0] = 'float'
        floats = [runtime.open(job['float_model'], True)]
    STAGE[0] = 'load'
    began = time.perf_counter()
    networks = [runtime.open(job['model'], False)] + floats
    load = time.perf_counter() - began
    saturates = getattr(runtime, 'saturates', False)
    exact = attempt(lambda: runtime.open_exact(job['model']), None) if saturates else None
    STAGE[0] = 'run'
    seconds, float_seconds = measure(job, networks, run_samples(job, networks, exact))[:2]
    facts = attempt(lambda: runtime.facts(networks[0]), {})
    networks.clear()
    if job['optimized']:
        attempt(lambda: runtime.write_optimized(job['model'], job['optimized']), None)
    reply(version=runtime.version, saturates=saturates, load_seconds=load, seconds=seconds, float_seconds=float_seconds,
          facts=facts)


def main():
    with open(os.path.join(FOLDER, 'job.json'), encoding='utf-8') as file:
        job = json.load(file)
    try:
        work(job)
    except Exception as error:
        reply(stage=STAGE[0], error='%s: %s' % (type(error).__name__, error))


main()
