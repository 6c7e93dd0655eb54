# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenVINO, on the processor: one stream and one thread, in f32, as some processors take bf16 otherwise."""

OPTIONS = {'INFERENCE_NUM_THREADS': 1, 'NUM_STREAMS': 1, 'INFERENCE_PRECISION_HINT': 'f32'}


class Network:
    def __init__(self, compiled):
        self.compiled = compiled
        self.request = compiled.create_infer_request()
        self.outputs = [sorted(o.get_names()) for o in compiled.outputs]

    def fit(self, feeds):
        return {name: value.astype(self.compiled.input(name).get_element_type().to_dtype(), copy=False)
                for name, value in feeds.items()}

    def run(self, feeds):
        result = self.request.infer(feeds)
        return [result[o].copy() for o in self.compiled.outputs]


def read_sizes(port):
    """-1: of any size."""
    shape = port.get_partial_shape()
    return [d.get_length() if d.is_static else -1 for d in shape] if shape.rank.is_static else []


def read_text(value):
    """What the graph says of a node is text, or an array of it, or a wrapper."""
    for name in ('get', 'tolist'):
        if hasattr(value, name):
            value = getattr(value, name)()
    return str(value)


class Runtime:
    def __init__(self, job, folder, shapes):
        import openvino

        self.core, self.shapes = openvino.Core(), shapes
        self.version = openvino.__version__.split('-')[0]
        self.saturates = False if job['look'] else attempt(self.find_saturation, False)    # noqa: F821

    def find_saturation(self):
        """Whether a convolution of the largest integers, whose sums need more than 16 bits, comes out wrong."""
        import numpy
        import openvino
        from openvino import opset13

        n, size = 64, 8
        zero, one = numpy.float32(0), numpy.float32(1)
        x = opset13.parameter([1, n, size, size], numpy.float32)
        weights = opset13.constant(numpy.ones((n, n, 1, 1), numpy.float32))
        sums = opset13.convolution(opset13.fake_quantize(x, zero, one, zero, one, 256),
                                   opset13.fake_quantize(weights, -one, one, -one, one, 255), [1, 1], [0, 0], [0, 0], [1, 1])
        compiled = self.core.compile_model(openvino.Model([sums], [x]), 'CPU', OPTIONS)
        found = compiled([numpy.ones((1, n, size, size), numpy.float32)])[0]
        return bool(abs(found - n).max() > 1)

    def open(self, path, is_float):
        model = self.core.read_model(path)
        if self.shapes and any(i.get_partial_shape().is_dynamic for i in model.inputs):
            model.reshape(self.shapes)
        return Network(self.core.compile_model(model, 'CPU', OPTIONS))

    def facts(self, network):
        nodes = []
        for node in network.compiled.get_runtime_model().get_ordered_ops():
            about = {key: read_text(value) for key, value in node.get_rt_info().items()}
            nodes.append({'name': node.get_friendly_name(), 'about': about, 'result': [read_sizes(o) for o in node.outputs()][:1],
                          'operands': [read_sizes(i) for i in node.inputs()][:2]})
        return {'nodes': nodes}
