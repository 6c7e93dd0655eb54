/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files of each kind consist of. */
#include "file-kinds.h"

const char * const external_words[] = {
  "location", "offset", "length", "checksum", "w.bin", "none.bin", "inner", "out", "../", "./w.bin", "/", "0", "16", "4096",
  "18446744073709551615", "9223372036854775807", "\x70\x01", "\x6a\x12\x0a\x08", "\x10\x01\x08\x04", NULL
};

const char * const recipe_words[] = {
  "\"vernier-recipe\":1,", "\"preset\":\"", "xquant", "npu-cnn", "mx9", "\"rules\":[", "{\"nodes\":\"type:Conv\"}",
  "\"from\":[\"a\"],",
  "\"to\":[\"b\"],", "\"tensors\":[\"a\"],", "\"activation\":\"uint16\",", "\"weight\":\"int4\",", "\"format\":\"integer\",",
  "\"exclude\":true,", "\"axis\":-1,", "\"scale\":[\"0.5\"],", "\"zero-point\":[\"1\"],", "\"min\":[\"-1\"],", "\"max\":[\"1\"],",
  "\"convert\":\"uint8\",", "\"receivers\":[\"conv\"],", "\"percentile\":99.9,", "\"method\":\"kl\",", "\"block-size\":32,",
  "\"npu\":true,", "\"power-of-two\":\"nearest\",", "\"bias\":\"int8\",", "\"truncate\":[\"a\"],", "null", "{", "}", "[", "]",
  ",", "\\u0000",
  "\\ud800", "\\\"", "\"\"", NULL
};

const char * const preprocess_words[] = {
  "\"data\":{", "\"path\":\"random\",", "\"samples\":9,", "\"held-out\":1,", "\"seed\":1,", "\"mean\":[1,2,3,4],",
  "\"std\":[1,1,1,1],", "\"script\":\"f.py:g\",", "\"python\":\"p\",", "\"timeout\":3,", "\"raw-type\":\"uint8\",",
  "\"labels\":\"l\",", "\"tokenizer\":\"t\",", "\"window\":8,", "\"stride\":4,", "\"inputs\":{", "\"data\":{}",
  "\"fit\":\"crop\",", "\"crop-part\":0.9,", "\"mean_value\":[1]", "\"preprocess_file\":\"PT_IMAGENET\",", "a=b;", "null",
  "{", "}", "[", "]", ",", NULL
};

const char * const config_words[] = {
  "\"model_parameters\":{", "\"onnx_model\":\"", "\"calibration_parameters\":{", "\"calibration_type\":\"kl\",",
  "\"input_parametres\":[{", "\"input_name\":\"data\",", "\"input_shape\":[", "\"mean_value\":[", "\"std_value\":",
  "\"preprocess_file\":\"", "f.py:g", "\"data_list_path\":\"", "\"quantization_parameters\":{", "\"precision_level\":4,",
  "\"custom_setting\":[{", "\"input_names\":[\"a\"],", "\"output_names\":[\"b\"],", "\"truncate_var_names\":[\"a\"],",
  "\"overall_quantize_config\":{", "\"datatype\":\"bfloat16\",", "\"bit_width\":16,", "\"layer_quantize_config\":[{",
  "\"layer_type\":\"Conv2d\",", "\"subgraphs\":[{", "\"start_nodes\":[\"conv\"],", "\"end_nodes\":[\"softmax\"],",
  "\"per_model_config\":{", "\"op_types\":[\"Conv\"],", "\"per_channel\":true,", "\"reduce_range\":true,", "\"QUInt8\",", "null",
  "{", "}",
  "[", "]", ",", "\\u0000", "\xe3\x80\x82", NULL
};

const char * const result_words[] = {
  "\"vernier-result\":1,", "\"program\":\"", "\"time\":\"", "2025-03-31T14:05:00Z", "0001-01-01T00:00:00Z", "\"model\":{",
  "\"digests\":{",
  "\"run\":{", "\"shapes\":{\"a\":[1,-1]}", "\"sizes\":{", "\"samples\":{", "\"accuracy\":{", "\"errors\":{", "\"tensors\":[",
  "\"weights\":[",
  "\"nodes\":[", "\"quantized-names\":{", "\"notes\":[", "\"sqnr\":", "\"nan\"", "\"inf\"", "\"-inf\"", "9223372036854775807",
  "1e308",
  "null", "{", "}", "[", "]", ",", "\\u0000", NULL
};

const char * const project_words[] = {
  "\"vernier-project\":1,", "\"runs\":[", "\"id\":\"", "../", "\"time\":\"", "2025-03-31T14:05:00Z", "\"file\":\"",
  "\"changes\":[",
  "\"mean-sqnr\":", "\"nan\"", "\"verdict\":\"good\"", "\"data\":{\"path\":\"", "null", "{", "}", "[", "]", ",", NULL
};

const char * const range_words[] = {
  "\"format\":\"vernier-ranges\",", "\"version\":1,", "\"tensors\":{", "\"a\":{", "\"min\":", "\"max\":", "\"scale\":",
  "\"zero_point\":",
  "\"lowest\":", "\"highest\":", "\"CLS\":\"TensorsData\",", "\"data\":", "\"input_quantization_params\":{", "[128,0.5]",
  "[-1.5,2]",
  "[", "]", "{", "}", ",", " 1.5\n", "\\u0000", "1e-400", "1e39", NULL
};

const char * const tokenizer_words[] = {
  "\"model\":{", "\"type\":\"BPE\",", "\"type\":\"Unigram\",", "\"vocab\":{", "\"merges\":[[\"a\",\"b\"]],",
  "\"merges\":[\"a b\"],", "\"unk_token\":\"a\",", "\"unk_id\":0,", "\"byte_fallback\":true,", "\"fuse_unk\":true,",
  "\"ignore_merges\":true,", "\"continuing_subword_prefix\":\"#\",", "\"end_of_word_suffix\":\"#\",", "\"normalizer\":{",
  "\"pre_tokenizer\":{", "\"type\":\"Sequence\",", "\"normalizers\":[", "\"pretokenizers\":[", "\"type\":\"NFKC\"",
  "\"type\":\"Strip\",", "\"strip_left\":true", "\"type\":\"Replace\",", "\"pattern\":{\"Regex\":\"",
  "\"pattern\":{\"String\":\"", "\"content\":\"", "\"type\":\"Split\",", "\"behavior\":\"MergedWithNext\",",
  "\"behavior\":\"Contiguous\",", "\"invert\":true", "\"type\":\"Metaspace\",", "\"prepend_scheme\":\"first\",",
  "\"split\":false", "\"type\":\"ByteLevel\",", "\"use_regex\":false", "\"type\":\"Digits\",", "\"added_tokens\":[",
  "\"lstrip\":true,", "\"rstrip\":true,", "\"single_word\":true,", "\"normalized\":true,", "\"post_processor\":{",
  "\"type\":\"TemplateProcessing\",", "\"single\":[", "\"SpecialToken\":{\"id\":\"a\"}", "\\\\p{L}", "\\\\s", "(?!\\\\S)",
  "(?i:", "{1,3}", "(a*)*", "[^", "]", "|", "+", "null", "{", "}", "[", "]", ",", NULL
};

const char * const npy_words[] = {
  "'descr': ", "'<f4'", "'|O'", "'>f8'", "'fortran_order': ", "True", "False", "'shape': (", "(", ")", ",", "9223372036854775807",
  "4294967296", "0,", "}", "'<i8'", "'|b1'", "'<f2'", NULL
};

const char * const wav_words[] = { "RIFF", "WAVE", "fmt ", "data", "LIST", "\xff\xff\xff\xff", "\xfe\xff", "\1", "\3", NULL };
const char * const npz_words[] = { "PK\1\2", "PK\3\4", "PK\5\6", "x.npy", "\xff\xff\xff\xff", "\x93NUMPY", NULL };

const char * const stream_words[] = { "VNS1T\1\4", "VNS1N", "\xff\xff\xff\xff\xff\xff\xff\x7f", "x", "ids", "\7\2", NULL };

const char * const list_words[] = {
  "\n", "\r\n", "\t", ",", " ", "#", "0", " 3\n", ".npz", ".npy", ".pb", "../", "/proc/self/fd/0", "\xef\xbb\xbf", "x=", ";", NULL
};

const char * const label_words[] = { "a.npy", "cat", "17", " ", "\t", ",", ";", ":", "\n", "\r\n", "2147483647", "0", "_", "-",
                                     "\xef\xbb\xbf", NULL };

const char * const node_data_words[] = {
  "\"results\":{", "\"conv\":{\"value\":1},", "\"value\":", "\"graph\":{", "\"bgColor\":\"red\",", "\"traceEvents\":[",
  "{\"cat\":\"Node\",", "\"name\":\"conv_kernel_time\",", "\"name\":\"model_run\"", "\"dur\":", "\"args\":{\"op_name\":\"Conv\"}",
  "_nchwc", "_token_1", "fused ", "/GeluFusion/", "softmax", "conv", "\"\"", "\"", ",", ";", "\t", "\n", "\r\n",
  "1,5", "1e308", "-1e308",
  "nan", "inf", "name,value\n", "\xef\xbb\xbf", "{", "}", "[", "]", NULL
};
