# SPDX-License-Identifier: GPL-3.0-or-later
"""ONNX Runtime, on the processor, or on an execution provider in a library of its own."""


class Network:
    def __init__(self, session):
        self.session = session
        self.outputs = [o.name for o in session.get_outputs()]
        self.halves = {i.name for i in session.get_inputs() if i.type == 'tensor(float16)'}

    def fit(self, feeds):
        return {name: value.astype('float16') if name in self.halves else value for name, value in feeds.items()}

    def run(self, feeds):
        return self.session.run(None, feeds)


class Runtime:
    def __init__(self, job, folder, shapes):
        import onnxruntime

        self.onnxruntime, self.job = onnxruntime, job
        self.version = onnxruntime.__version__
        self.saturates, self.devices = False, []
        if job.get('provider'):
            self.register(job['provider'])
        elif not job['look']:
            self.saturates = attempt(self.find_saturation, False)    # noqa: F821

    def register(self, provider):
        if not hasattr(self.onnxruntime, 'register_execution_provider_library'):
            raise RuntimeError('ONNX Runtime %s loads no execution provider libraries' % self.version)
        self.onnxruntime.register_execution_provider_library(provider['name'], provider['library'])
        there = self.onnxruntime.get_ep_devices()
        self.devices = [d for d in there if d.ep_name.lower() == provider['name'].lower()][:1]
        if not self.devices:
            raise RuntimeError('no device for %s; available: %s' % (provider['name'],
                                                                    ', '.join(sorted({d.ep_name for d in there}))))
        self.version += ' (%s)' % self.devices[0].ep_name

    def make_options(self):
        options = self.onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if self.job.get('custom_ops'):
            options.register_custom_ops_library(self.job['custom_ops'])
        return options

    def open_session(self, path, options):
        if self.devices:
            options.add_provider_for_devices(self.devices, self.job['provider']['options'])
            return self.onnxruntime.InferenceSession(path, options)
        return self.onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])

    def find_saturation(self):
        """Whether a product of integers that needs more than 16 bits comes out wrong."""
        import numpy

        n = self.job['probe_length']
        a, b = numpy.full((1, n), 255, numpy.uint8), numpy.full((n, 1), 127, numpy.int8)
        probe = self.open_session(self.job['probe'], self.make_options())
        return probe.run(None, {'a': a, 'b': b})[0].item() != self.job['probe_sum']

    def open(self, path, is_float):
        return Network(self.open_session(path, self.make_options()))

    def open_exact(self, path):
        options = self.make_options()
        options.add_session_config_entry('session.x64quantprecision', '1')
        return Network(self.open_session(path, options))

    def write_optimized(self, path, to):
        options = self.make_options()
        options.optimized_model_filepath = to
        self.open_session(path, options)
