/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of other tools that are opened as models: what they are, and how one comes from them to ONNX. */
#include "vn-onnx-private.h"

#include "vn-i18n.h"

#include <string.h>

#define ZIP_HEAD ((gsize) 4096)
#define ZIP_TAIL ((gsize) 1 << 16)    /* its table of contents, or enough of it */
#define HEAD ((gsize) 1024)

static const char pytorch[] = N_("a PyTorch file: load it in Python and export the model with torch.onnx.export()");
static const char keras[] = N_("a Keras model: export it with python -m tf2onnx.convert --keras, or in Keras 3 with "
                               "model.export(…, format=\"onnx\")");
static const char saved_model[] = N_("a TensorFlow SavedModel: convert its folder with python -m tf2onnx.convert --saved-model");
static const char core_ml[] = N_("a Core ML model, which coremltools cannot export to ONNX: open the model that it was "
                                 "converted from");
static const char openvino[] = N_("an OpenVINO model, which has no way back to ONNX: open the model that it was converted from");
static const char tensorrt[] = N_("a TensorRT engine: open the .onnx file that it was built from");

/* The first that fits: more precise ones stand before others. */
static const struct {
  guint       offset;
  const char *magic;
  gsize       size;
  const char *what;
} magics[] = {
  { 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14, pytorch },   /* what torch.save() wrote before 1.6 */
  { 0, "\x80\x02",               2, N_("a Python pickle (PyTorch): export the model with torch.onnx.export()") },
  { 0, "\x80\x03",               2, N_("a Python pickle: export the model with torch.onnx.export() or skl2onnx") },
  { 0, "\x80\x04",               2, N_("a Python pickle: export the model with torch.onnx.export() or skl2onnx") },
  { 0, "\x80\x05",               2, N_("a Python pickle: export the model with torch.onnx.export() or skl2onnx") },
  { 0, "\x89HDF",                4, keras },
  { 4, "TFL3",                   4, N_("a TensorFlow Lite model: convert it with python -m tf2onnx.convert --tflite") },
  { 4, "ORTM",                   4, N_("a model in ONNX Runtime's own format (.ort): open the .onnx file that it was made of") },
  { 4, "ET12",                   4,
    N_("an ExecuTorch program: export the PyTorch model that it was made of with torch.onnx.export()") },
  { 0, "GGUF",                   4, N_("a GGUF file (llama.cpp): export the model it was made of with Optimum") },
  { 0, "ftrt",                   4, tensorrt },
  { 0, "ptrt",                   4, tensorrt },
  { 0, "<net",                   4, openvino },
  { 0, "\x93NUMPY",              6, N_("a NumPy array") },
  { 0, "\x1f\x8b",               2, N_("a compressed file; unpack it first") },
  { 0, "\x89PNG",                4, N_("an image") },
  { 0, "\xff\xd8\xff",           3, N_("an image") },
  { 0, "version https://git-lfs", 23, N_("a Git LFS pointer; fetch the file itself") },
};

/* Names of files in a zip archive. */
static const struct { const char *name, *what; } zips[] = {
  { "data.pkl",         pytorch },
  { "archive_format",   pytorch },           /* torch.export.save() */
  { "model.weights.h5", keras },
  { "saved_model.pb",   saved_model },
  { ".mlmodel",         core_ml },
  { ".onnx",            N_("a zip archive with an ONNX file; unpack it first") },
  { ".npy",             N_("an archive of NumPy arrays") },
};

static gboolean
onnx_foreign_holds (const guint8 *data,
                    gsize         size,
                    const char   *text)
{
  return memmem (data, size, text, strlen (text)) != NULL;
}

static const char *
onnx_foreign_zip (const guint8 *data,
                  gsize         size)
{
  gsize head = MIN (size, ZIP_HEAD), tail = MIN (size, ZIP_TAIL);

  for (guint i = 0; i < G_N_ELEMENTS (zips); i++)
    if (onnx_foreign_holds (data, head, zips[i].name) || onnx_foreign_holds (data + size - tail, tail, zips[i].name))
      return zips[i].what;
  return N_("a zip archive; unpack it first");
}

/* Behind a length of @width bytes comes JSON: weights of safetensors, or what Ultralytics writes before an engine. */
static const char *
onnx_foreign_json (const guint8 *data,
                   gsize         size)
{
  guint64 length = 0;
  guint32 short_length;

  if (size >= 10 && data[8] == '{')
    {
      memcpy (&length, data, 8);
      length = GUINT64_FROM_LE (length);
      if (length >= 2 && length <= size - 8 && data[8 + length - 1] <= '}')
        return N_("a safetensors file, which has weights without a network: export the model that they belong to with "
                  "Optimum or torch.onnx.export()");
    }
  if (size >= 12 && data[4] == '{')
    {
      memcpy (&short_length, data, 4);
      length = GUINT32_FROM_LE (short_length);
      if (length >= 2 && length <= size - 8 && memcmp (data + 5 + length, "trt", 3) == 0)
        return tensorrt;
    }
  return NULL;
}

/* A message whose first fields are these, all bytes; 0: any. */
static gboolean
onnx_foreign_begins (const VnWireField *message,
                     guint32            first,
                     guint32            second)
{
  VnWireIn in = vn_wire_in (message->data, message->value);
  VnWireField field;

  if (vn_wire_next (&in, &field) != VN_WIRE_FIELD || field.type != VN_WIRE_BYTES || (first != 0 && field.number != first))
    return FALSE;
  return second == 0 || (vn_wire_next (&in, &field) == VN_WIRE_FIELD && field.type == VN_WIRE_BYTES && field.number == second);
}

/* Other networks are messages of protocol buffers, too: a graph of TensorFlow begins with a node, models with a version and a
 * message where ONNX has the name of its producer. Core ML has its network in a field from 200 on, where ONNX has none. */
static const char *
onnx_foreign_message (const guint8 *data,
                      gsize         size)
{
  VnWireIn in = vn_wire_in (data, size);
  VnWireField field;
  gboolean only_graphs = TRUE;

  if (vn_wire_next (&in, &field) != VN_WIRE_FIELD || field.number != 1)
    return NULL;
  if (field.type == VN_WIRE_BYTES)
    return !onnx_foreign_begins (&field, 1, 2) ? NULL
           : N_("a TensorFlow graph: convert it with python -m tf2onnx.convert --graphdef, with its --inputs and --outputs");
  if (field.type != VN_WIRE_VARINT || vn_wire_next (&in, &field) != VN_WIRE_FIELD || field.number != 2 ||
      field.type != VN_WIRE_BYTES || !(onnx_foreign_begins (&field, 1, 0) || onnx_foreign_begins (&field, 2, 0)))
    return NULL;
  while (vn_wire_next (&in, &field) == VN_WIRE_FIELD)
    if (field.number >= 200 && field.number < 4096 && field.type == VN_WIRE_BYTES)
      return core_ml;
    else if (field.number != 2)
      only_graphs = FALSE;
  return only_graphs ? saved_model : NULL;
}

/* By its name: the weights of OpenVINO have no head. */
static const char *
onnx_foreign_weights (const char *path)
{
  g_autofree char *network = NULL;

  if (path == NULL || !g_str_has_suffix (path, ".bin"))
    return NULL;
  network = g_strdup_printf ("%.*s.xml", (int) (strlen (path) - strlen (".bin")), path);
  return g_file_test (network, G_FILE_TEST_IS_REGULAR) ? openvino : NULL;
}

/**
 * vn_onnx_recognise:
 * @data: a file that is no model
 * @path: (nullable): where it is
 *
 * Returns: (nullable): what it is instead and what to do, for “… is not an ONNX file: it is %s”
 */
const char *
vn_onnx_recognise (const guint8 *data,
                   gsize         size,
                   const char   *path)
{
  const char *what = NULL;

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (magics) && what == NULL; i++)
    if (size >= magics[i].offset + magics[i].size && memcmp (data + magics[i].offset, magics[i].magic, magics[i].size) == 0)
      what = magics[i].what;
  if (what == NULL && size >= 4 && memcmp (data, "PK\003\004", 4) == 0)
    what = onnx_foreign_zip (data, size);
  if (what == NULL)
    what = onnx_foreign_json (data, size);
  if (what == NULL && size > 0 && data[0] == '<')
    what = onnx_foreign_holds (data, MIN (size, HEAD), "<net") ? openvino : N_("a text file");
  if (what == NULL)
    what = onnx_foreign_message (data, size);
  if (what == NULL)
    what = onnx_foreign_weights (path);
  return what != NULL ? _(what) : NULL;
}

/**
 * vn_onnx_recognise_folder:
 *
 * Returns: (nullable): as vn_onnx_recognise(), if a folder is a model of another tool
 */
const char *
vn_onnx_recognise_folder (const char *path)
{
  g_autofree char *graph = NULL, *manifest = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return NULL;
  graph = g_build_filename (path, "saved_model.pb", NULL);
  manifest = g_build_filename (path, "Manifest.json", NULL);
  if (g_file_test (graph, G_FILE_TEST_EXISTS))
    return _(saved_model);
  return g_file_test (manifest, G_FILE_TEST_EXISTS) && strstr (path, ".mlpackage") != NULL ? _(core_ml) : NULL;
}
