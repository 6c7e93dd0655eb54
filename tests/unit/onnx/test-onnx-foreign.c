/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of other tools: each is refused by what it is, with the way from it to ONNX; damaged models are not taken for them. */
#include "vn-error.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <string.h>

#define BYTES(text) text, sizeof text - 1
#define ZIP "PK\3\4" "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/* @word: of what it is; @way: of what to do. The bytes are how each tool's files begin, or all of a small one. */
static const struct
{
  const char *name, *data;
  gsize       size;
  const char *word, *way;
} files[] = {
  { "model.pt", BYTES (ZIP "\x10\0\0\0archive/data.pkl\x80\2}q\0."), "PyTorch", "torch.onnx" },
  { "legacy.pth", BYTES ("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\2M\xe9\3."), "PyTorch file", "torch.onnx.export" },
  { "model.pkl", BYTES ("\x80\4\x95\x10\0\0\0\0\0\0\0}\x94."), "pickle", "skl2onnx" },
  { "model.pt2", BYTES (ZIP "\x14\0\0\0model/archive_formatpt2"), "PyTorch", "torch.onnx" },
  { "model.keras", BYTES (ZIP "\r\0\0\0metadata.json{}PK\1\2config.jsonPK\1\2model.weights.h5PK\5\6"), "Keras",
    "tf2onnx.convert --keras" },
  { "model.h5", BYTES ("\x89HDF\r\n\x1a\n\0\0\0\0"), "Keras", "tf2onnx.convert --keras" },
  { "model.tflite", BYTES ("\x1c\0\0\0TFL3\x14\0\x20\0"), "TensorFlow Lite", "--tflite" },
  { "model.ort", BYTES ("\x1c\0\0\0ORTM\0\0\0\0"), ".ort", ".onnx file" },
  { "model.pte", BYTES ("\x1c\0\0\0" "ET12\0\0\0\0"), "ExecuTorch", "torch.onnx.export" },
  { "model.gguf", BYTES ("GGUF\3\0\0\0\0\0\0\0"), "GGUF", "Optimum" },
  { "model.safetensors", BYTES ("\x12\0\0\0\0\0\0\0{\"__metadata__\":{}}"), "safetensors", "Optimum" },
  { "model.engine", BYTES ("ftrt\0\0\0\0\x80\0\0\0"), "TensorRT", ".onnx file" },
  { "model.plan", BYTES ("ptrt\0\0\0\0\x80\0\0\0"), "TensorRT", ".onnx file" },
  { "yolo.engine", BYTES ("\x0d\0\0\0{\"stride\":32}ftrt\0\0\0\0"), "TensorRT", ".onnx file" },
  { "model.xml", BYTES ("<?xml version=\"1.0\"?>\n<net name=\"a\" version=\"11\"></net>"), "OpenVINO", "converted from" },
  { "page.html", BYTES ("<!DOCTYPE html><html></html>"), "a text file", "a text file" },
  { "model.bin", BYTES ("\0\0\0\0\x3f\x80\0\0"), "OpenVINO", "converted from" },    /* model.xml is beside it */
  /* SavedModel { saved_model_schema_version: 1, meta_graphs { meta_info_def {} graph_def {} } } */
  { "saved_model.pb", BYTES ("\x08\1\x12\4\x0a\0\x12\0"), "SavedModel", "tf2onnx.convert --saved-model" },
  /* GraphDef { node { name: "x" op: "Placeholder" } } */
  { "frozen.pb", BYTES ("\x0a\x10\x0a\1x\x12\x0bPlaceholder"), "TensorFlow graph", "--graphdef" },
  /* Model { specificationVersion: 4, description { input { name: "x" } }, neuralNetwork {} } */
  { "model.mlmodel", BYTES ("\x08\4\x12\5\x0a\3\x0a\1x\xa2\x1f\0"), "Core ML", "converted from" },
  /* Model { specificationVersion: 8, description { … }, isUpdatable, mlProgram {} } */
  { "program.mlmodel", BYTES ("\x08\x08\x12\5\x0a\3\x0a\1x\x50\1\xb2\x1f\0"), "Core ML", "converted from" },
  { "archive.zip", BYTES (ZIP "\n\0\0\0model.onnx"), "an ONNX file", "unpack" },
  { "other.zip", BYTES (ZIP "\1\0\0\0a"), "zip archive", "unpack" },
};

/* Models, and what else is none of a tool: told as what they are. */
static const struct
{
  const char *data;
  gsize       size;
  const char *word;
} others[] = {
  { BYTES ("\x08\7\x12\7pytorch"), "no graph" },
  { BYTES ("\x08\7\x12\7pytorch\x1a\5" "1.8.0:\x20\x0a"), "damaged" },
  { BYTES ("\x08\7\x12\x40pyt"), "damaged" },
  { BYTES ("\x12\0\0\0\0\0\0\0x\"__metadata__\":{}}"), "is not an ONNX file" },
  { BYTES ("\xff\0\0\0\0\0\0\0{\"__metadata__\":{}}"), "is not an ONNX file" },    /* longer than the file */
};

static char *
read_refused (const char *folder,
              const char *name,
              const char *data,
              gsize       size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  if (data != NULL)
    g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  model = vn_onnx_read_file (path, &error);
  g_assert_null (model);
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  g_assert_nonnull (strstr (error->message, path));
  g_test_message ("%s", error->message);
  return g_strdup (error->message);
}

static void
test_files (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-foreign-XXXXXX", NULL);
  g_autofree char *folders = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *said = read_refused (folder, files[i].name, files[i].data, files[i].size);

      g_assert_nonnull (strstr (said, "is not an ONNX file: it is"));
      g_assert_nonnull (strstr (said, files[i].word));
      g_assert_nonnull (strstr (said, files[i].way));
    }
  folders = read_refused (folder, ".", NULL, 0);     /* saved_model.pb is in it */
  g_assert_nonnull (strstr (folders, "--saved-model"));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i].name, NULL);

      g_unlink (path);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_package (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-XXXXXX.mlpackage", NULL);
  g_autofree char *manifest = g_build_filename (folder, "Manifest.json", NULL);
  g_autofree char *said = NULL;

  g_assert_true (g_file_set_contents (manifest, "{}", 2, NULL));
  said = read_refused (folder, "", NULL, 0);
  g_assert_nonnull (strstr (said, "Core ML"));
  g_unlink (manifest);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_others (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-foreign-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *said = read_refused (folder, "model.onnx", others[i].data, others[i].size);

      g_assert_nonnull (strstr (said, others[i].word));
      g_assert_null (strstr (said, "it is "));
    }
  g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/foreign/files", test_files);
  g_test_add_func ("/onnx/foreign/package", test_package);
  g_test_add_func ("/onnx/foreign/others", test_others);
  return g_test_run ();
}
