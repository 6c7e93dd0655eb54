/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models with weights beside them that take the place of others, and models that change while they are in use. */
#include "model-folder.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N 5000

/* y = x + w, all of w is @value */
static VnModel *
make_model (float value)
{
  VnModel *model = vn_model_new (8, 17);
  VnShape shape = VN_SHAPE (N);
  g_autoptr(VnTensor) w = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
  VnValue *add[2], *y;

  for (guint i = 0; i < N; i++)
    ((float *) w->data)[i] = value;
  add[0] = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
  add[1] = vn_graph_add_initializer (model->graph, "w", w);
  y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &shape);
  vn_graph_add_node (model->graph, "add", "", "Add", add, 2, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  return model;
}

static void
write_model (const char               *path,
             float                     value,
             const VnOnnxWriteOptions *options)
{
  g_autoptr(VnModel) model = make_model (value);
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_onnx_write_file (model, path, options, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_weights (const char *path,
                float       value)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
  const VnTensor *w;

  g_assert_no_error (error);
  w = vn_graph_find_value (model->graph, "w")->initializer;
  for (guint i = 0; i < N; i++)
    {
      float here;

      memcpy (&here, (const char *) w->data + i * sizeof here, sizeof here);    /* in the file it is not aligned */
      g_assert_cmpfloat (here, ==, value);
    }
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

static char *
list_folder (ModelFolder *self)
{
  g_autoptr(GDir) dir = g_dir_open (self->folder, 0, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new ();
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, (gpointer) g_intern_string (name));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **) names->pdata);
}

#define assert_folder(self, expected) G_STMT_START { \
  g_autofree char *there = list_folder (self); \
  g_assert_cmpstr (there, ==, expected); } G_STMT_END

/* The names stay, and the bytes are those of a first export. */
static void
test_again (ModelFolder   *self,
            gconstpointer  data)
{
  VnOnnxWriteOptions options = { 1000 };
  g_autofree char *first = NULL, *second = NULL;
  gsize n, n_second;

  write_model (self->path, 1, &options);
  assert_folder (self, "m.onnx m.onnx.data");
  g_assert_true (g_file_get_contents (self->path, &first, &n, NULL));
  write_model (self->path, 2, &options);
  assert_weights (self->path, 2);
  write_model (self->path, 1, &options);
  assert_weights (self->path, 1);
  assert_folder (self, "m.onnx m.onnx.data");
  g_assert_true (g_file_get_contents (self->path, &second, &n_second, NULL));
  g_assert_cmpmem (first, n, second, n_second);
}

/* Weights that only the replaced model had go with it if they are called after it; others may be of other models, too. */
static void
test_old_weights (ModelFolder   *self,
                  gconstpointer  data)
{
  static const struct { VnOnnxWriteOptions before, after; const char *there; } cases[] = {
    { { 1000 }, { 0 }, "m.onnx" },
    { { 1000, .external_each = TRUE }, { 1000 }, "m.onnx m.onnx.data" },
    { { 1000 }, { 1000, .external_each = TRUE }, "m.onnx m.onnx.w" },
    { { 1000, "weights" }, { 1000 }, "m.onnx m.onnx.data weights" },
    { { 1000, "m.onnx.data.new-00000001" }, { 1000 }, "m.onnx m.onnx.data" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%u", i);
      model_folder_tear_down (self, NULL);
      model_folder_set_up (self, NULL);
      write_model (self->path, 1, &cases[i].before);
      write_model (self->path, 2, &cases[i].after);
      assert_weights (self->path, 2);
      assert_folder (self, cases[i].there);
    }
}

/* What no model names stays, and so does what is read. */
static void
test_kept (ModelFolder   *self,
           gconstpointer  data)
{
  g_autoptr(VnFileSet) files = vn_file_set_new ();
  VnOnnxWriteOptions outside = { 1000 }, inside = { .files = files };
  g_autofree char *notes = g_build_filename (self->folder, "m.onnx.txt", NULL);

  write_model (self->path, 1, &outside);
  g_assert_true (g_file_set_contents (notes, "mine", -1, NULL));
  vn_file_set_reads (files, self->data, "the weights of another network");
  write_model (self->path, 2, &inside);
  assert_folder (self, "m.onnx m.onnx.data m.onnx.txt");

  /* Where there was something else, and no model. */
  g_assert_true (g_file_set_contents (self->path, "no model", -1, NULL));
  write_model (self->path, 3, &outside);
  assert_weights (self->path, 3);
  assert_folder (self, "m.onnx m.onnx.data m.onnx.txt");
}

/* The name of the weights leads to a folder: nothing has changed. */
static void
test_refused (ModelFolder   *self,
              gconstpointer  data)
{
  VnOnnxWriteOptions options = { 1000 }, blocked = { 1000, "blocked" };
  g_autofree char *folder = g_build_filename (self->folder, "blocked", NULL);
  g_autoptr(VnModel) model = make_model (2);
  g_autoptr(GError) error = NULL;

  write_model (self->path, 1, &options);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_false (vn_onnx_write_file (model, self->path, &blocked, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  assert_weights (self->path, 1);
  assert_folder (self, "blocked m.onnx m.onnx.data");
}

/* ---- models that change ---- */

static void
write_into (const char *path,
            gsize       at,
            const char *text)
{
  int fd = g_open (path, O_WRONLY, 0);

  g_assert_cmpint (pwrite (fd, text, strlen (text), (off_t) at), ==, (gssize) strlen (text));
  close (fd);
}

/* Nothing is made of a model whose file was written into, cut off, or whose weights were: neither appears, and what was there
 * stays. */
static void
test_changed (ModelFolder   *self,
              gconstpointer  data)
{
  g_autofree char *out = g_build_filename (self->folder, "out.onnx", NULL);

  for (guint i = 0; i < 4; i++)
    {
      VnOnnxWriteOptions options = { i % 2 == 0 ? 1000 : 0 };
      const char *file = i % 2 == 0 ? self->data : self->path;
      g_autoptr(VnModel) model = NULL;
      g_autoptr(VnModel) copy = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%u", i);
      write_model (out, 7, NULL);
      write_model (self->path, 1, &options);
      model = vn_onnx_read_file (self->path, &error);
      g_assert_no_error (error);
      copy = vn_model_copy (model);
      g_assert_true (vn_model_check_files (copy, &error));
      if (i < 2)
        write_into (file, 1000, "other");
      else
        g_assert_cmpint (truncate (file, 4096), ==, 0);
      g_assert_false (vn_onnx_write_file (copy, out, NULL, NULL, &error));
      g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, file));
      assert_weights (out, 7);
      g_assert_false (vn_model_is_current (model));
    }
}

static void
test_replaced (ModelFolder   *self,
               gconstpointer  data)
{
  VnOnnxWriteOptions options = { 1000 };
  g_autofree char *out = g_build_filename (self->folder, "out.onnx", NULL);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  write_model (self->path, 1, &options);
  model = vn_onnx_read_file (self->path, &error);
  g_assert_true (vn_model_is_current (model));
  write_model (self->path, 2, &options);
  g_assert_false (vn_model_is_current (model));
  g_assert_true (vn_onnx_write_file (model, out, NULL, NULL, &error));
  assert_weights (out, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  MODEL_FOLDER_TEST ("/onnx/replace/again", test_again);
  MODEL_FOLDER_TEST ("/onnx/replace/old-weights", test_old_weights);
  MODEL_FOLDER_TEST ("/onnx/replace/kept", test_kept);
  MODEL_FOLDER_TEST ("/onnx/replace/refused", test_refused);
  MODEL_FOLDER_TEST ("/onnx/changed/written", test_changed);
  MODEL_FOLDER_TEST ("/onnx/changed/replaced", test_replaced);
  return g_test_run ();
}
