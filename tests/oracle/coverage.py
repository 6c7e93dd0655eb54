#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""coverage.py OPERATOR_LIST XFAIL NODE_CASES...

Every operator that can be computed is compared with somebody else's results: in a backend case that is not expected to
fail, or in one of the comparisons with onnxruntime; or it stands in ELSEWHERE with the test that looks at it. Exit 0, 1
or 77.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

# Operators no oracle can judge, and the test that looks at them.
RANDOM = 'test-op-random: what is drawn is random'
STYLE = 'test-op-move, and networks.py in style_candy_op7'
AMD = 'test-op-quantize: the documents of its maker'
ELSEWHERE = {
    'Bernoulli': RANDOM, 'Multinomial': RANDOM, 'RandomNormal': RANDOM, 'RandomNormalLike': RANDOM, 'RandomUniform': RANDOM,
    'RandomUniformLike': RANDOM, 'Crop': STYLE, 'ImageScaler': STYLE,
    'ai.onnx.contrib:FixNeuron': AMD, 'com.amd.quark:BFPQuantizeDequantize': AMD,
    'com.amd.quark:MXQuantizeDequantize': AMD, 'com.vai.quantize:MXFixNeuron': AMD,
    'com.amd.quark:ExtendedDequantizeLinear': AMD, 'com.amd.quark:ExtendedQuantizeLinear': AMD,
    'com.vai.quantize:BFPFixNeuron': AMD + ', as com.amd.quark:BFPQuantizeDequantize',
    'com.vai.quantize:VitisDequantizeLinear': AMD + ', as com.amd.quark:ExtendedDequantizeLinear',
    'com.vai.quantize:VitisQuantizeLinear': AMD, 'com.vai.quantize:FixNeuron': AMD + ', as ai.onnx.contrib:FixNeuron',
}


def expected_failures(path):
    with open(path, encoding='utf-8') as lines:
        return {line.split(':')[0].split(' ')[0] for line in lines if ':' in line and not line.startswith('#')}


def add_nodes(nodes, found):
    for node in nodes:
        found.add((node.domain if node.domain != 'ai.onnx' else '', node.op_type))
        for attribute in node.attribute:
            add_nodes(attribute.g.node, found)


def in_cases(folders, failing):
    """Operators of the networks of backend cases."""
    import onnx
    found = set()
    for folder in folders:
        for path in glob.glob(os.path.join(folder, '*', 'model.onnx')):
            if os.path.basename(os.path.dirname(path)) not in failing:
                add_nodes(onnx.load(path).graph.node, found)
    return found


def in_generators():
    """Operators that are compared with onnxruntime, without their domains."""
    import contrib, element_operators, experts, learning, nonfinite, operators, vision
    names = set()
    for module in (operators, element_operators, contrib, vision, learning, nonfinite):
        for name in ('GENERATORS', 'EXACT', 'NEAR'):
            names |= set(getattr(module, name, {}))
    names |= set(experts.OPERATORS.values())
    return names


def main():
    oracle.use_oracle_python()
    import backend_archives
    rows = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    operators = sorted({tuple(row.split('\t')[:2]) for row in rows})
    with tempfile.TemporaryDirectory() as work:
        folders, _ = backend_archives.unpack('*-[nops]*-tests*.tar.zst', work)
        cases = in_cases(folders + sys.argv[3:], expected_failures(sys.argv[2]))
    generated, failed = in_generators(), 0
    for domain, name in operators:
        full = domain + ':' + name if domain else name
        compared = (domain, name) in cases or name in generated
        if compared == (full in ELSEWHERE):
            failed += 1
            print('FAILED %s: %s' % (full, 'compared, but listed' if compared else 'nobody compares it'))
    for full in sorted(set(ELSEWHERE) - {d + ':' + n if d else n for d, n in operators}):
        failed += 1
        print('FAILED %s: listed, but there is no such operator' % full)
    print('%d operators, %d elsewhere, %d failed' % (len(operators), len(ELSEWHERE), failed))
    return 1 if failed or not operators else 0


if __name__ == '__main__':
    sys.exit(main())
