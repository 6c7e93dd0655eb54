#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""builder.py FOLDER: gives the decoder that decoder.py has trained to the model builder of onnxruntime-genai.

Run by a Python that has onnxruntime-genai (tested with 0.18), transformers and torch. Makes FOLDER/builder/float, the network as
the builder writes it, and one folder for each of its ways to make integers of 4 bits, VARIANTS: what divergence.py compares with.
"""
import os
import subprocess
import sys

sys.path.pop(0)    # a script beside this one is called transformers, too
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import torch    # noqa: E402
from onnx import numpy_helper    # noqa: E402
from transformers import Qwen2Config, Qwen2ForCausalLM    # noqa: E402

VARIANTS = {
    'float': ('fp32', []),
    'rtn': ('int4', ['algo_config=rtn']),
    'k_quant': ('int4', ['algo_config=k_quant']),
    'k_quant_mixed': ('int4', ['algo_config=k_quant_mixed']),
}
PARTS = {'q_proj': 'self_attn.q_proj', 'k_proj': 'self_attn.k_proj', 'v_proj': 'self_attn.v_proj', 'o_proj': 'self_attn.o_proj',
         'gate_proj': 'mlp.gate_proj', 'up_proj': 'mlp.up_proj', 'down_proj': 'mlp.down_proj',
         'norm1': 'input_layernorm', 'norm2': 'post_attention_layernorm'}


def read_weights(path):
    """By their names in transformers. Its table is the head as it is: what the graph multiplies its rows by goes into the table,
    and what that does to the head out of the last normalization."""
    constants = {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    scale = constants['table_scale'].item()
    weights = {'model.embed_tokens.weight': constants['table'] * scale, 'model.norm.weight': constants['norm.weight'] / scale}
    for name, value in constants.items():
        layer, _, rest = name.partition('/')
        part, _, kind = rest.partition('.')
        if layer.startswith('layers.') and part in PARTS:
            matrix = kind == 'weight' and value.ndim == 2
            weights['model.%s.%s.%s' % (layer, PARTS[part], kind)] = value.T if matrix else value
    return {name: torch.from_numpy(np.array(value, np.float32)) for name, value in weights.items()}


def save(weights, folder):
    table, inner = weights['model.embed_tokens.weight'], weights['model.layers.0.mlp.gate_proj.weight']
    layers = 1 + max(int(name.split('.')[2]) for name in weights if name.startswith('model.layers.'))
    config = Qwen2Config(hidden_size=table.shape[1], intermediate_size=inner.shape[0], num_hidden_layers=layers,
                         num_attention_heads=4, num_key_value_heads=4, vocab_size=table.shape[0], tie_word_embeddings=True,
                         max_position_embeddings=512, rms_norm_eps=1e-6, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model = Qwen2ForCausalLM(config).float()
    missing, unknown = model.load_state_dict(weights, strict=False)
    if set(missing) - {'lm_head.weight'} or unknown:
        raise RuntimeError('weights do not fit: %s, %s' % (missing, unknown))
    model.save_pretrained(folder)
    save_tokenizer(table.shape[0], folder)


def save_tokenizer(n_words, folder):
    """The builder wants one; nothing here reads it."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast
    tokenizer = Tokenizer(models.BPE(vocab={'<%d>' % i: i for i in range(n_words)}, merges=[]))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token='<1>', eos_token='<2>', pad_token='<0>').save_pretrained(folder)


def main():
    folder = os.path.join(sys.argv[1], 'builder')
    source = os.path.join(folder, 'weights')
    save(read_weights(os.path.join(sys.argv[1], 'decoder.onnx')), source)
    for name, (precision, options) in VARIANTS.items():
        run = subprocess.run([sys.executable, '-m', 'onnxruntime_genai.models.builder', '-i', source, '-o',
                              os.path.join(folder, name), '-p', precision, '-e', 'cpu',
                              *(['--extra_options', *options] if options else [])], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError('%s: %s' % (name, run.stderr.strip()[-2000:]))
        print(name, {n: os.path.getsize(os.path.join(folder, name, n)) for n in sorted(os.listdir(os.path.join(folder, name)))
                     if 'onnx' in n}, flush=True)


if __name__ == '__main__':
    main()
