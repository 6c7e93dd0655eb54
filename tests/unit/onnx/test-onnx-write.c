/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model-folder.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static guint
count_files (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* y = x + w with a large w, z = y * s with a scalar s */
static VnModel *
make_model (gint64 n)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (n);
  g_autoptr(VnTensor) w = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
  g_autoptr(VnTensor) s = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, (float[]) { 0.5f });
  VnValue *add[2], *mul[2], *y, *z;

  for (gint64 i = 0; i < n; i++)
    ((float *) w->data)[i] = (float) i;
  add[0] = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &shape);
  add[1] = vn_graph_add_initializer (graph, "w", w);
  y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, &shape);
  vn_graph_add_node (graph, "add", "", "Add", add, 2, &y, 1);
  mul[0] = y;
  mul[1] = vn_graph_add_initializer (graph, "s", s);
  z = vn_graph_add_value (graph, "z", VN_DTYPE_F32, &shape);
  vn_graph_add_node (graph, "mul", "", "Mul", mul, 2, &z, 1);
  vn_graph_set_output (graph, 0, z);
  return model;
}

static void
assert_same (const VnModel *a,
             const VnModel *b)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) x = vn_onnx_write_bytes (a, &error);
  g_autoptr(GBytes) y = vn_onnx_write_bytes (b, &error);

  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (x, y));
}

static void
test_inside (ModelFolder   *self,
             gconstpointer  data)
{
  g_autoptr(VnModel) model = make_model (5000);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) again = NULL;

  g_assert_true (vn_onnx_write_file (model, self->path, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count_files (self->folder), ==, 1);
  again = vn_onnx_read_file (self->path, &error);
  g_assert_no_error (error);
  assert_same (model, again);
  g_assert_cmpuint (again->file_size, >, 20000);
}

/* External data stay external, in a file named after the model; and move back inside through write_bytes. */
static void
test_external (ModelFolder   *self,
               gconstpointer  data)
{
  g_autoptr(VnModel) model = make_model (5000);
  g_autoptr(VnModel) again = NULL;
  g_autoptr(VnModel) third = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *other = g_build_filename (self->folder, "other.onnx", NULL);
  g_autofree char *other_data = g_build_filename (self->folder, "other.onnx.data", NULL);
  VnOnnxWriteOptions options = { 1000, NULL };
  GStatBuf info;

  g_assert_true (vn_onnx_write_file (model, self->path, &options, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_stat (self->path, &info), ==, 0);
  g_assert_cmpint (info.st_size, <, 1000);
  g_assert_cmpint (g_stat (self->data, &info), ==, 0);
  g_assert_cmpint (info.st_size, ==, 20000);
  again = vn_onnx_read_file (self->path, &error);
  g_assert_no_error (error);
  assert_same (model, again);

  g_assert_true (vn_onnx_write_file (again, other, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_stat (other_data, &info), ==, 0);
  third = vn_onnx_read_file (other, &error);
  g_assert_no_error (error);
  assert_same (model, third);

  /* Over itself: the map of the old file stays readable. */
  g_assert_true (vn_onnx_write_file (again, self->path, NULL, NULL, &error));
  g_assert_no_error (error);
  assert_same (model, again);
  g_assert_cmpuint (count_files (self->folder), ==, 4);
}

/* A file for each tensor; names of tensors that are no names of files, or the same but for that, lead nowhere else. */
static void
test_external_each (ModelFolder   *self,
                    gconstpointer  data)
{
  static const char * const names[] = { "../a", ".._a", "/etc/passwd", "m.onnx" };
  g_autoptr(VnModel) model = make_model (5000);
  g_autoptr(VnModel) again = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *blocked = g_build_filename (self->folder, "m.onnx.m.onnx", NULL);
  VnOnnxWriteOptions options = { .external_threshold = 4, .external_each = TRUE };
  guint n = model->graph->initializers->len;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { i });

      vn_graph_add_initializer (model->graph, names[i], tensor);
    }
  g_assert_true (vn_onnx_write_file (model, self->path, &options, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count_files (self->folder), ==, 1 + n + G_N_ELEMENTS (names));
  again = vn_onnx_read_file (self->path, &error);
  g_assert_no_error (error);
  assert_same (model, again);

  /* The last file cannot take its place: everything stays as it was. */
  g_assert_cmpint (g_unlink (blocked), ==, 0);
  g_assert_cmpint (g_mkdir (blocked, 0777), ==, 0);
  g_assert_false (vn_onnx_write_file (again, self->path, &options, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpuint (count_files (self->folder), ==, 1 + n + G_N_ELEMENTS (names));
  g_assert_cmpint (g_rmdir (blocked), ==, 0);
}

/* What a link leads to may lie anywhere on the machine: only what lies beside the model is read, or beside what that is a link
 * to. */
static void
test_external_link (ModelFolder   *self,
                    gconstpointer  data)
{
  static const struct
  {
    const char *model, *data;      /* where the files are, seen from the folder; there are links to them in “in” */
    gboolean    is_read;
  } cases[] = {
    { "in/m.onnx", "in/w", TRUE }, { "in/m.onnx", "in/below/w", TRUE }, { "in/m.onnx", "out/w", FALSE },
    { "out/m.onnx", "out/w", TRUE }, { "out/m.onnx", "in2/w", FALSE }, { "out/m.onnx", "in/w", TRUE },
  };
  static const char * const folders[] = { "in", "in/below", "out", "in2" };
  g_autoptr(VnModel) model = make_model (5000);
  g_autofree char *written = g_build_filename (self->folder, "w", NULL);
  g_autofree char *link = g_build_filename (self->folder, "in", "m.onnx", NULL),
  *data_link = g_build_filename (self->folder, "in", "w", NULL);
  const VnOnnxWriteOptions options = { 1000, "w" };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *folder = g_build_filename (self->folder, folders[i], NULL);

      g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *place = g_build_filename (self->folder, cases[i].model, NULL),
      *data_place = g_build_filename (self->folder, cases[i].data, NULL);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) again = NULL;

      g_test_message ("%s and %s", cases[i].model, cases[i].data);
      g_assert_true (vn_onnx_write_file (model, self->path, &options, NULL, NULL));
      g_assert_cmpint (g_rename (self->path, place), ==, 0);
      g_assert_cmpint (g_rename (written, data_place), ==, 0);
      if (!g_str_equal (place, link))
        g_assert_cmpint (symlink (place, link), ==, 0);
      if (!g_str_equal (data_place, data_link))
        g_assert_cmpint (symlink (data_place, data_link), ==, 0);
      again = vn_onnx_read_file (link, &error);
      if (cases[i].is_read)
        g_assert_no_error (error);
      else
        g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_unlink (link);
      g_unlink (data_link);
      g_unlink (place);
      g_unlink (data_place);
    }
  for (guint i = G_N_ELEMENTS (folders); i-- > 0;)
    {
      g_autofree char *folder = g_build_filename (self->folder, folders[i], NULL);

      g_assert_cmpint (g_rmdir (folder), ==, 0);
    }
}

static void
test_name (ModelFolder   *self,
           gconstpointer  data)
{
  static const char * const wrong[] = { "", "a/b", "..", "m.onnx", "/tmp/x" };
  g_autoptr(VnModel) model = make_model (5000);
  g_autoptr(GError) error = NULL;
  g_autofree char *file = g_build_filename (self->folder, "weights.bin", NULL);
  VnOnnxWriteOptions options = { 1000, "weights.bin" };

  g_assert_true (vn_onnx_write_file (model, self->path, &options, NULL, &error));
  g_assert_true (g_file_test (file, G_FILE_TEST_IS_REGULAR));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      options.external_name = wrong[i];
      g_test_message ("“%s”", wrong[i]);
      g_assert_false (vn_onnx_write_file (model, self->path, &options, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_clear_error (&error);
    }
}

/* Whatever goes wrong, no file is left behind, and an older data file stays as it was. */
static void
test_failures (ModelFolder   *self,
               gconstpointer  data)
{
  g_autoptr(VnModel) model = make_model (5000);
  g_autoptr(GCancellable) cancelled = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autofree char *nowhere = g_build_filename (self->folder, "none", "m.onnx", NULL);
  g_autofree char *kept = NULL;
  VnOnnxWriteOptions options = { 1000, NULL };

  g_assert_false (vn_onnx_write_file (model, nowhere, &options, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);

  g_cancellable_cancel (cancelled);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (vn_onnx_write_file (model, self->path, i == 0 ? &options : NULL, cancelled, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_assert_cmpuint (count_files (self->folder), ==, 0);
    }

  /* The model's own name is taken by a folder: its rename fails after the data file got its name. */
  g_assert_cmpint (g_mkdir (self->path, 0755), ==, 0);
  g_assert_true (g_file_set_contents (self->data, "old", -1, NULL));
  g_assert_false (vn_onnx_write_file (model, self->path, &options, NULL, &error));
  g_assert_nonnull (error);
  g_assert_true (g_file_get_contents (self->data, &kept, NULL, NULL));
  g_assert_cmpstr (kept, ==, "old");
  g_assert_cmpuint (count_files (self->folder), ==, 2);
  g_assert_cmpint (g_remove (self->data), ==, 0);
  g_clear_error (&error);
  g_assert_false (vn_onnx_write_file (model, self->path, &options, NULL, &error));
  g_assert_cmpuint (count_files (self->folder), ==, 1);
}

/* Every beginning of a model is refused in words, or is a smaller model. */
static void
test_prefixes (ModelFolder   *self,
               gconstpointer  data)
{
  g_autoptr(VnModel) model = make_model (40);
  g_autoptr(GBytes) whole = vn_onnx_write_bytes (model, NULL);
  guint refused = 0;

  for (gsize n = 0; n < g_bytes_get_size (whole); n++)
    {
      g_autoptr(GBytes) part = g_bytes_new_from_bytes (whole, 0, n);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) read = vn_onnx_read_bytes (part, "part.onnx", &error);

      g_assert_true ((read == NULL) == (error != NULL));
      if (error != NULL)
        g_assert_nonnull (strstr (error->message, "part.onnx"));
      refused += error != NULL;
    }
  g_assert_cmpuint (refused, >, 200);
}

static void
test_files (ModelFolder   *self,
            gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (vn_onnx_read_file (self->path, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_assert_nonnull (strstr (error->message, self->path));
  g_clear_error (&error);
  g_assert_null (vn_onnx_read_file (self->folder, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  g_clear_error (&error);
  g_assert_null (vn_onnx_tensor_read_file (self->folder, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
}

/* TensorProto {dims: [2], data_type: INT32, int32_data: [1, -1], name: "t"}; a wrong count; no tensor at all */
static void
test_tensor (ModelFolder   *self,
             gconstpointer  data)
{
  static const struct {
    const char *bytes;
    gsize       size;
    gboolean    good;
  } cases[] = {
    { "\x08\x02\x10\x06\x2a\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x42\x01t", 20, TRUE },
    { "\x08\x03\x10\x06\x2a\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x42\x01t", 20, FALSE },
    { "\x08\x02\x10\x06\x4a\x08\1\0\0\0\2\0\0\0\x42\x01t", 17, TRUE },
    { "\x08\x02\x10\x06\x4a\x07\1\0\0\0\2\0\0\x42\x01t", 16, FALSE },
    { "nothing of that kind", 20, FALSE },
    { "", 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      g_autofree char *name = NULL;

      g_assert_true (g_file_set_contents (self->path, cases[i].bytes, (gssize) cases[i].size, NULL));
      tensor = vn_onnx_tensor_read_file (self->path, &name, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "read");
      g_assert_true ((tensor != NULL) == cases[i].good);
      g_assert_true ((error == NULL) == cases[i].good);
      if (tensor == NULL)
        continue;
      g_assert_cmpstr (name, ==, "t");
      g_assert_cmpint (vn_tensor_get_s64 (tensor, 0), ==, 1);
      g_assert_cmpint (vn_tensor_get_s64 (tensor, 1), ==, i == 0 ? -1 : 2);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  MODEL_FOLDER_TEST ("/onnx/write/inside", test_inside);
  MODEL_FOLDER_TEST ("/onnx/write/external", test_external);
  MODEL_FOLDER_TEST ("/onnx/write/external-each", test_external_each);
  MODEL_FOLDER_TEST ("/onnx/write/external-link", test_external_link);
  MODEL_FOLDER_TEST ("/onnx/write/name", test_name);
  MODEL_FOLDER_TEST ("/onnx/write/failures", test_failures);
  MODEL_FOLDER_TEST ("/onnx/read/prefixes", test_prefixes);
  MODEL_FOLDER_TEST ("/onnx/read/files", test_files);
  MODEL_FOLDER_TEST ("/onnx/read/tensor", test_tensor);
  return g_test_run ();
}
