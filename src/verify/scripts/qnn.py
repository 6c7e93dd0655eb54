# SPDX-License-Identifier: GPL-3.0-or-later
"""Qualcomm's HTP, of onnxruntime-qnn: on x86 as a simulator, of which numbers count, not times. The float network is run by ONNX
Runtime on the processor, as HTP computes in float16."""

PROVIDER = 'QNNExecutionProvider'
SOC, ARCHITECTURE = '57', '75'    # Snapdragon 8 Gen 3
WARNINGS = 2    # they say why a node is refused


class Network:
    def __init__(self, session):
        self.session = session
        self.outputs = [o.name for o in session.get_outputs()]

    def fit(self, feeds):
        halves = {i.name for i in self.session.get_inputs() if i.type == 'tensor(float16)'}
        return {name: value.astype('float16') if name in halves else value for name, value in feeds.items()}

    def run(self, feeds):
        return self.session.run(None, feeds)


class Runtime:
    def __init__(self, job, folder, shapes):
        import importlib.metadata
        import onnxruntime
        import onnxruntime_qnn

        self.onnxruntime, self.qnn, self.folder = onnxruntime, onnxruntime_qnn, os.path.join(folder, 'htp')    # noqa: F821
        self.options = (job.get('provider') or {}).get('options', {})
        self.version = importlib.metadata.version('onnxruntime-qnn')
        if self.options:
            self.version += ' (%s)' % ', '.join('%s=%s' % item for item in sorted(self.options.items()))

    def find_devices(self):
        return [d for d in self.onnxruntime.get_ep_devices() if d.ep_name == PROVIDER]

    def open(self, path, is_float):
        options = self.onnxruntime.SessionOptions()
        options.log_severity_level = 4 if is_float else WARNINGS
        if is_float:
            return Network(self.onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider']))
        if not self.find_devices():
            self.onnxruntime.register_execution_provider_library(PROVIDER, self.qnn.get_library_path())
        os.makedirs(self.folder, exist_ok=True)    # noqa: F821
        options.add_session_config_entry('ep.context_enable', '1')
        options.add_session_config_entry('ep.context_file_path', os.path.join(self.folder, 'context.onnx'))    # noqa: F821
        chip = {} if {'htp_arch', 'soc_model'} & set(self.options) else {'htp_arch': ARCHITECTURE, 'soc_model': SOC}
        options.add_provider_for_devices(self.find_devices()[:1], {
            'backend_path': self.qnn.get_qnn_htp_path(), **chip,
            'enable_framework_op_trace': '1', 'framework_op_trace_dir': self.folder, **self.options})
        return Network(self.onnxruntime.InferenceSession(path, options))

    def facts(self, network):
        for path, _, names in os.walk(self.folder):    # noqa: F821
            for name in names:
                if name.endswith('.json') and 'op_trace' in name:
                    with open(os.path.join(path, name), encoding='utf-8') as file:    # noqa: F821
                        return json.load(file)    # noqa: F821
        return {}
