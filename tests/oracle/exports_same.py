#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""exports_same.py [OPTION...] BEFORE AFTER NETWORKS CACHE: do two vernier-cli export the same bytes?

Quantizes every network of the folder NETWORKS with each setting of the table below, by the program BEFORE and by AFTER,
on the same samples, and compares the files. Samples and what BEFORE exported are kept in the folder CACHE: later calls
with the same CACHE run AFTER alone, and BEFORE may be "-". Prints each pair that differs and in what, then how many are
the same. Exit 0, 1 (something differs), 2 (nothing to compare).

  --setting NAME   only this one (repeatable)        --network GLOB   only these (repeatable)
  --accept FILE    lines "SETTING NETWORK-GLOB reason": these may differ (# starts a comment)

A setting names everything that it depends on, so that another default makes no difference and hides none.
"""
import argparse
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from networks import find_networks, make_inputs, make_session

COMMON = ['--held-out=0', '--skip-compare', '--threads=1']
SETTINGS = {
    'cpu-tensor': ['--preset=cpu', '--format=qdq', '--activation=u8', '--weight=s8', '--per-tensor', '--method=minmax',
                   '--opset=0'],
    'cpu-channel': ['--preset=cpu', '--format=qdq', '--activation=u8', '--weight=s8', '--per-channel', '--method=entropy',
                    '--opset=0'],
    'npu-equalized': ['--preset=npu-cnn', '--format=qdq', '--activation=u8', '--weight=s8', '--per-tensor', '--bias=auto',
                      '--method=minmse', '--weight-method=minmse', '--power-of-two=nearest', '--equalize=amd',
                      '--equalize-steps=1', '--equalize-threshold=0.5', '--npu-rounds=5'],
    'qlinear': ['--preset=qlinear', '--format=qoperator', '--activation=u8', '--weight=s8', '--per-tensor',
                '--method=percentile', '--percentile=99.9'],
    'dynamic': ['--preset=dynamic', '--format=integer', '--dynamic', '--activation=u8', '--weight=s8', '--per-tensor',
                '--method=minmax'],
    'bf16': ['--preset=bf16', '--format=extended', '--activation=bf16', '--weight=bf16', '--method=minmax'],
}
SAMPLES = 2
TIMEOUT = 300
REFUSED = b'refused: '


def save_samples(shared, stem, path, folder):
    """Writes the samples of a network, one folder per input if there are several, and the sizes of open inputs."""
    import numpy as np

    photographs = oracle.photographs(shared)
    session = make_session(path, False)
    samples = [make_inputs(stem, session, photographs[n], n) for n in range(SAMPLES)]
    data = os.path.join(folder, 'data')
    for name in samples[0]:
        place = os.path.join(data, re.sub('[/:]', '_', name)) if len(samples[0]) > 1 else data
        os.makedirs(place)
        for n, feeds in enumerate(samples):
            np.save(os.path.join(place, '%03d.npy' % n), feeds[name])
    sizes = ['--shape=%s=%s' % (name, 'x'.join(map(str, x.shape))) for name, x in samples[0].items() if x.ndim > 0]
    with open(os.path.join(folder, 'sizes'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(sizes))


def prepare_samples(shared, stem, path, cache):
    """The folder with the samples of a network, and its options; none for a network that onnxruntime does not run."""
    folder = os.path.join(cache, stem, 'samples')
    if not os.path.isdir(folder):
        os.makedirs(os.path.join(cache, stem), exist_ok=True)
        half = tempfile.mkdtemp(dir=os.path.join(cache, stem))
        try:
            save_samples(shared, stem, path, half)
        except Exception as e:
            shutil.rmtree(half)
            print('%s: no samples: %s' % (stem, str(e).strip().splitlines()[0][:120]))
            return None
        os.rename(half, folder)
    with open(os.path.join(folder, 'sizes'), encoding='utf-8') as f:
        return ['--data', os.path.join(folder, 'data')] + f.read().split('\n')


def export(program, path, options):
    """The bytes a program writes, or REFUSED and its message."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.onnx')
        done = subprocess.run([program, 'quantize', path, '-o', out] + options, capture_output=True, text=True,
                              timeout=TIMEOUT)
        if done.returncode != 0:
            return REFUSED + (done.stderr.strip() or 'exit code %d' % done.returncode).encode()
        with open(out, 'rb') as f:
            return f.read()


def export_before(program, path, options, kept):
    """What the earlier program wrote, from the cache if it is there."""
    if os.path.exists(kept):
        with open(kept, 'rb') as f:
            return f.read()
    if program == '-':
        sys.exit('%s: not there, so name the program that makes it' % kept)
    data = export(program, path, options)
    with open(kept + '.part', 'wb') as f:
        f.write(data)
    os.rename(kept + '.part', kept)
    return data


def named_differences(what, before, after):
    """Names of the entries of two dicts that are not in both, or not the same."""
    differ = [n for n in {**before, **after} if before.get(n) != after.get(n)]
    return ['%d %s: %s%s' % (len(differ), what, ', '.join(differ[:4]), ' ...' if len(differ) > 4 else '')] if differ else []


def describe(before, after):
    """In what two exports differ, in words."""
    import onnx

    if before.startswith(REFUSED) or after.startswith(REFUSED):
        return '; '.join('%s %s' % (who, x.decode(errors='replace')[:200] if x.startswith(REFUSED) else 'exported')
                         for who, x in (('before', before), ('after', after)))
    models = [onnx.load_model_from_string(x) for x in (before, after)]
    entries = [{
        'facts about the file': {p.key: p.value for p in m.metadata_props},
        'opsets': {o.domain or 'ai.onnx': o.version for o in m.opset_import},
        'nodes': {'%s(%s)' % (n.op_type, n.output[0] if n.output else n.name): n.SerializeToString() for n in m.graph.node},
        'constants': {w.name: w.SerializeToString() for w in m.graph.initializer},
        'inputs and outputs': {v.name: v.SerializeToString() for v in [*m.graph.input, *m.graph.output]},
        'inner values': {v.name: v.SerializeToString() for v in m.graph.value_info},
        'functions': {f.name: f.SerializeToString() for f in m.functions},
    } for m in models]
    found = [text for what in entries[0] for text in named_differences(what, entries[0][what], entries[1][what])]
    return '; '.join(found) or 'the same entries in another order'


def read_accepted(path):
    """The pairs that may differ: (setting, glob of networks)."""
    if path is None:
        return []
    with open(path, encoding='utf-8') as f:
        lines = [line.split('#')[0].split(None, 2) for line in f]
    return [(words[0], words[1]) for words in lines if len(words) > 1]


def compare(options, shared, stem, path, counts):
    """One network with each of the settings."""
    samples = prepare_samples(shared, stem, path, options.cache)
    if samples is None:
        return
    for setting in options.setting or SETTINGS:
        arguments = SETTINGS[setting] + COMMON + [a for a in samples if a]
        label = hashlib.sha256('\n'.join(SETTINGS[setting] + COMMON).encode()).hexdigest()[:8]
        kept = os.path.join(options.cache, stem, '%s-%s.onnx' % (setting, label))
        before, after = export_before(options.before, path, arguments, kept), export(options.after, path, arguments)
        accepted = any(s == setting and fnmatch.fnmatch(stem, g) for s, g in options.accepted)
        if before == after or before.startswith(REFUSED) and after.startswith(REFUSED):
            counts['refused' if after.startswith(REFUSED) else 'same'] += 1
        else:
            counts['accepted' if accepted else 'differ'] += 1
            print('%s %s: %s%s' % (stem, setting, describe(before, after), ' (accepted)' if accepted else ''), flush=True)


def main():
    oracle.use_oracle_python()
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ('before', 'after', 'networks', 'cache'):
        parser.add_argument(name)
    parser.add_argument('--setting', action='append', choices=list(SETTINGS))
    parser.add_argument('--network', action='append')
    parser.add_argument('--accept')
    options = parser.parse_args()
    options.accepted = read_accepted(options.accept)
    started, shared, counts = time.monotonic(), oracle.shared_folder(), dict.fromkeys(('same', 'differ', 'accepted', 'refused'),
                                                                                      0)
    networks = [(stem, path) for stem, path in find_networks(options.networks, [])
                if any(fnmatch.fnmatch(stem, g) for g in options.network or ['*'])]
    for stem, path in networks:
        compare(options, shared, stem, path, counts)
    print('%d networks, %d settings, %.0f s: %d same, %d differ, %d differ as accepted, %d refused by both'
          % (len(networks), len(options.setting or SETTINGS), time.monotonic() - started, counts['same'], counts['differ'],
             counts['accepted'], counts['refused']))
    sys.exit(2 if counts['same'] + counts['differ'] == 0 else 1 if counts['differ'] else 0)


if __name__ == '__main__':
    main()
