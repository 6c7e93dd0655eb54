#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""prepare.py VERNIER_CLI [--all | STEM...]

Real networks, small ones or all, through “vernier-cli prepare”: the result passes the checker, onnxruntime computes the same with
it as with the original, and it has about as few nodes as onnxsim leaves (where that is installed; else as onnxruntime's basic
optimization leaves). The same outputs, too, with a newer opset and with the passes on request that keep them.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile

import oracle

# More nodes than the peer leaves: so many, and so many of a hundred.
SLACK, SLACK_PERCENT = 2, 3


def passes(*names):
    return [word for name in names for word in ('--pass', name)]


VARIANTS = [
    ['--opset', '21'],
    ['--opset', '23', '--skip-optimization'],
    ['--opset', '20'] + passes('fuse-layer-norm', 'fuse-gelu', 'fuse-instance-norm', 'fuse-l2-norm', 'mean-to-pool',
                               'split-large-pool', 'split-to-slice', 'copy-shared-init', 'subsample-first',
                               'transpose-gemm', 'split-fused'),
]
# Networks of which the peer leaves fewer nodes than SLACK allows, and why: what it does there we do not.
FEWER = {
    'det_yunet_n_dynamic': 'leaves out sizes that Shape, Gather and Concat only carry along',
    'qdq_retinaface_amd_vai_640': 'folds the QuantizeLinear of float weights',
    'txt_tashkeel_transformer_fp32': 'merges and leaves out chains of Shape, Gather and Concat',
}
# What cannot be converted exactly is refused by its name; nothing else may be.
REFUSED = ['is not constant', 'cannot be converted']


def load_compare_runs():
    path = os.path.join(os.path.dirname(__file__), '..', 'unit', 'rewrite', 'compare-runs.py')
    spec = importlib.util.spec_from_file_location('compare_runs', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def count(graph):
    import onnx

    inner = [a.g for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.GRAPH]
    return sum(n.op_type != 'Constant' for n in graph.node) + sum(map(count, inner))


def peer_count(path, work):
    import onnx
    try:
        import onnxsim
        return count(onnxsim.simplify(onnx.load(path), check_n=0)[0].graph), 'onnxsim'
    except ImportError:
        pass
    except Exception as error:  # it does not take every network
        return None, 'onnxsim fails: %s' % str(error).split('\n')[0][:60]
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = os.path.join(work, 'peer.onnx')
    options.log_severity_level = 4
    try:
        ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    except Exception as error:
        return None, 'onnxruntime fails: %s' % str(error).split('\n')[0][:60]
    return count(onnx.load(options.optimized_model_filepath).graph), 'onnxruntime'


def check_variant(cli, path, options, runs, work):
    """What is wrong, or None."""
    import onnx

    out = os.path.join(work, 'variant.onnx')
    done = subprocess.run([cli, 'prepare', path, '-o', out] + options, capture_output=True, text=True)
    if done.returncode != 0:
        return None if any(r in done.stderr for r in REFUSED) else done.stderr.strip()
    onnx.checker.check_model(out)
    worst, tolerance = runs.compare(path, out)
    return None if worst <= tolerance else 'outputs are off by %.3g of their range, more than %.3g' % (worst, tolerance)


def check(cli, path, runs, work):
    """Nodes before, after, of the peer; and what is wrong, or None."""
    import onnx

    out = os.path.join(work, 'prepared.onnx')
    done = subprocess.run([cli, 'prepare', path, '-o', out], capture_output=True, text=True)
    if done.returncode != 0:
        return 0, 0, None, done.stderr.strip()
    before, after = count(onnx.load(path).graph), count(onnx.load(out).graph)
    peer, name = peer_count(path, work)
    onnx.checker.check_model(out)
    try:
        runs.run_original(path)
    except Exception:  # nothing to compare with
        return before, after, peer, None
    worst, tolerance = runs.compare(path, out)
    if not worst <= tolerance:
        return before, after, peer, 'outputs are off by %.3g of their range, more than %.3g' % (worst, tolerance)
    for options in VARIANTS:
        wrong = check_variant(cli, path, options, runs, work)
        if wrong is not None:
            return before, after, peer, '%s: %s' % (' '.join(options), wrong)
    if os.path.basename(path)[:-5] in FEWER:
        return before, after, peer, None
    if peer is not None and after > peer + SLACK + peer * SLACK_PERCENT // 100:
        return before, after, peer, 'more nodes than %s leaves' % name
    return before, after, peer, None


def main():
    oracle.use_oracle_python()
    folder = oracle.shared_folder()
    runs = load_compare_runs()
    failed = compared = 0
    stems = [a for a in sys.argv[2:] if a != '--all']
    for path in sorted(glob.glob(os.path.join(folder, 'models', '*.onnx'))):
        stem = os.path.basename(path)[:-5]
        if stems and stem not in stems or not stems and not oracle.choose_networks([path]):
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                before, after, peer, wrong = check(sys.argv[1], path, runs, work)
            except Exception as error:  # a result that cannot be loaded, for one
                before, after, peer, wrong = 0, 0, None, str(error)[:300]
        print('%-40s %5d nodes, prepared %5d, peer %5s  %s' % (stem, before, after, peer if peer is not None else '-', wrong
                                                               or ''), flush=True)
        compared += 1
        failed += wrong is not None
    print('%d networks, %d bad' % (compared, failed))
    sys.exit(1 if failed or not compared else 0)


if __name__ == '__main__':
    main()
