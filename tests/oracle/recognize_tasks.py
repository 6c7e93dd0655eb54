#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""recognize_tasks.py CLI

What `evaluate` takes each of the shared networks for, on the samples that it is made for where there are some: what it answers,
or nothing of what is known. One network that finds text is shown a page of it, and what --task says is believed."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
SHARED = oracle.shared_folder()

from PIL import Image, ImageDraw  # noqa: E402

cli = sys.argv[1]
failed = 0
PEOPLE, COCO = (os.path.join(SHARED, 'images', name) for name in ('people', 'coco'))
IMAGENET = ['--mean', '123.675,116.28,103.53', '--std', '58.395,57.12,57.375']
HALF = ['--mean', '127.5', '--std', '127.5']
PAGE = ['--color', 'bgr', '--mean', '122.68,116.67,104', '--std', '255', '--shape', 'x=1x3x320x320']
RANDOM = ['--data', 'random']


def of(folder, *options):
    return ['--data', folder, *options]


# file stem: task, options
NETWORKS = {
    'aud_basic_pitch_nmp': ('other', RANDOM),
    'aud_dtln_1_lstm': ('other', RANDOM),
    'aud_gtcrn_stream_gru': ('other', RANDOM),
    'aud_silero_vad_v6_if': ('other', RANDOM + ['--shape', 'input=1x576', '--shape', 'state=2x1x128']),
    'aud_yamnet256_st': ('classification', RANDOM),
    'cls_cifar10_winml_cnn': ('classification', of(COCO, *HALF)),
    'cls_mobilenetv2_035_128_flowers': ('classification', of(COCO, *HALF)),
    'cls_mobilenetv2_qdq_ort_op11': ('classification', of(COCO, *IMAGENET)),
    'cls_ppocr_v2_angle': ('classification', of(COCO, *HALF)),
    'cls_shufflenet_v2_12_int8_qop': ('classification', of(COCO, *IMAGENET)),
    'cls_squeezenet10_fp32_from_fp16': ('classification', of(COCO, '--color', 'bgr', '--mean', '103.94,116.78,123.68')),
    'det_nanodet_m_320': ('detection', of(COCO, '--color', 'bgr', '--mean', '103.53,116.28,123.675', '--std',
                                          '57.375,57.12,58.395')),
    'det_openseeface_mnv3': ('keypoints', of(PEOPLE, *IMAGENET)),
    'det_picodet_s_320_constnodes': ('detection', of(COCO, *IMAGENET)),
    'det_picodet_xs_416_op10': ('detection', of(COCO, *IMAGENET)),
    'det_plate_yolov5face_320': ('detection', of(COCO, '--std', '255', '--fit', 'letterbox')),
    'det_ultraface_rfb320': ('detection', of(PEOPLE, '--mean', '127', '--std', '128')),
    'det_ultraface_rfb320_raw_bn': ('detection', of(PEOPLE, '--mean', '127', '--std', '128')),
    'det_yolox_nano_416': ('detection', of(COCO, '--color', 'bgr', '--fit', 'letterbox')),
    'det_yunet_n_dynamic': ('detection', of(PEOPLE, '--color', 'bgr', '--shape', 'input=1x3x320x320')),
    'enh_tbefn_lowlight_180x320': ('other', of(PEOPLE, '--std', '255')),
    'graph_tfbert_qa_3836nodes': ('classification', RANDOM),
    'kws_micro_fp32': ('classification', RANDOM),
    'mnist_burn': ('classification', RANDOM),
    'mnist_cntk_op8': ('classification', RANDOM),
    'mnist_rten_op18': ('classification', RANDOM),
    'ml_rf_iris': ('other', RANDOM),
    'qdq_aimet_layout_op21': ('other', RANDOM),
    'qdq_mobilenet_edgetpu_block_u16_op21': ('other', RANDOM),
    'seg_sinet_portrait_320': ('segmentation', of(PEOPLE, '--color', 'bgr', '--mean', '102.890434,111.25247,126.91212',
                                                  '--std', '16048,16019,16743')),
    'seg_teams_bg_dynamic': ('segmentation', RANDOM + ['--shape', 'bgrm=1x4x256x256']),
    'sr_espcn_bsd300_rgb': ('other', of(PEOPLE, '--std', '255')),
    'sr_espcn_x3_op10': ('other', of(PEOPLE, '--std', '255')),
    'txt_bert_toy_op12_unsorted': ('tokens', RANDOM),
    'txt_gpt2_tiny_fp32': ('tokens', RANDOM + ['--dim', 'batch_size=1', '--dim', 'seq_len=4', '--dim', 'past_seq_len=4',
                                               '--dim', 'total_seq_len=8']),
    'txt_magika_v3_3': ('classification', RANDOM),
    'txt_tashkeel_transformer_fp32': ('tokens', RANDOM),
    'vit_cct2_32_op20': ('classification', of(COCO, *IMAGENET)),
}


def expect(stem, task, options):
    global failed
    model = os.path.join(SHARED, 'models', stem + '.onnx')
    done = subprocess.run([cli, 'evaluate', model, '--json', '--samples', '2', *options], capture_output=True, text=True)
    found = json.loads(done.stdout)['models'][0]['task'] if done.returncode == 0 else done.stderr
    if found != task:
        failed += 1
        print('not ok: %s: %s, not %s' % (stem, found, task))


def draw_page(path):
    page = Image.new('RGB', (160, 160), 'white')
    draw = ImageDraw.Draw(page)
    for y, line in enumerate(('Once upon a time', 'there was a ship', 'that sailed the sea')):
        draw.text((15, 25 + 45 * y), line, fill='black')
    page.resize((640, 640), Image.Resampling.BICUBIC).save(path)


for name, (expected, arguments) in NETWORKS.items():
    expect(name, expected, arguments)
with tempfile.TemporaryDirectory() as pages:
    for i in range(2):
        draw_page(os.path.join(pages, '%d.png' % i))
    expect('det_ppocr_v3_ch', 'text-detection', of(pages, *PAGE))
    expect('det_ppocr_v3_ch', 'segmentation', of(pages, *PAGE, '--task', 'segmentation'))
    expect('mnist_cntk_op8', 'other', RANDOM + ['--task', 'detection'])
    expect('mnist_cntk_op8', 'embedding', RANDOM + ['--task', 'embedding'])
sys.exit(failed > 0)
