/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the sizes come from that a network leaves open. */
#include "open-models.h"
#include "vn-error.h"
#include "vn-model-data.h"

#include <glib/gstdio.h>

typedef struct
{
  char       *path;
  GPtrArray  *files;
  VnModel    *model;
  GHashTable *given, *shapes;
  VnNotes    *notes;
  VnDataset  *dataset;
} Fixture;

static void
setup (Fixture       *self,
       gconstpointer  make)
{
  self->path = g_dir_make_tmp ("vn-open-XXXXXX", NULL);
  g_assert_nonnull (self->path);
  self->files = g_ptr_array_new_with_free_func (g_free);
  self->model = ((VnModel *(*) (void)) make) ();
  self->given = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->notes = vn_notes_new ();
}

static void
teardown (Fixture       *self,
          gconstpointer  make)
{
  for (guint i = 0; i < self->files->len; i++)
    g_unlink (g_ptr_array_index (self->files, i));
  g_rmdir (self->path);
  g_ptr_array_unref (self->files);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_hash_table_unref (self->given);
  vn_notes_unref (self->notes);
  vn_model_unref (self->model);
  g_free (self->path);
}

static const char *
add_file (Fixture    *self,
          const char *name)
{
  char *path = g_build_filename (self->path, name, NULL);

  g_ptr_array_add (self->files, path);
  return path;
}

static void
put_words (Fixture    *self,
           const char *name,
           VnShape     shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
  g_autoptr(GError) error = NULL;

  vn_npy_write (add_file (self, name), tensor, &error);
  g_assert_no_error (error);
}

static void
put_picture (Fixture    *self,
             const char *name,
             guint       width,
             guint       height)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_printf (text, "P2\n%u %u\n255\n", width, height);
  for (guint i = 0; i < width * height; i++)
    g_string_append_printf (text, "%u\n", i % 251);
  g_assert_true (g_file_set_contents (add_file (self, name), text->str, -1, NULL));
}

static void
give (Fixture    *self,
      const char *name,
      VnShape     shape)
{
  g_hash_table_insert (self->given, g_strdup (name), g_memdup2 (&shape, sizeof shape));
}

static gboolean
open_data (Fixture     *self,
           const char  *path,
           GError     **error)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new (path != NULL ? path : self->path);

  self->dataset = vn_model_open_data (self->model, data, self->given, &self->shapes, self->notes, error);
  return self->dataset != NULL;
}

static void
assert_shape (const VnShape *shape,
              const char    *expected)
{
  g_autofree char *text = vn_shape_to_string (shape, "x");

  g_assert_cmpstr (text, ==, expected);
}

/* What is planned with, and what sample @i has. */
static void
assert_sizes (Fixture    *self,
              const char *name,
              const char *planned,
              guint       i,
              const char *loaded)
{
  VnTensor *tensors[1] = { NULL };
  g_autoptr(GError) error = NULL;

  assert_shape (g_hash_table_lookup (self->shapes, name), planned);
  vn_dataset_load (self->dataset, i, tensors, &error);
  g_assert_no_error (error);
  assert_shape (&tensors[0]->shape, loaded);
  vn_tensor_unref (tensors[0]);
}

static guint
count_notes (Fixture    *self,
             const char *id)
{
  guint n = 0;

  for (guint i = 0; i < vn_notes_get_n (self->notes); i++)
    n += g_str_equal (vn_notes_get (self->notes, i)->code, id);
  return n;
}

static void
test_tensors (Fixture       *self,
              gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_words (self, "1.npy", VN_SHAPE (1, 5, 4));
  put_words (self, "2.npy", VN_SHAPE (1, 9, 4));
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "words", "1x5x4", 0, "1x5x4");
  assert_sizes (self, "words", "1x5x4", 1, "1x9x4");
  g_assert_cmpuint (count_notes (self, "size-from-sample"), ==, 1);
}

static void
test_given (Fixture       *self,
            gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_words (self, "1.npy", VN_SHAPE (1, 5, 4));
  give (self, "words", VN_SHAPE (1, 5, -1));
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "words", "1x5x?", 0, "1x5x4");
  g_assert_cmpuint (count_notes (self, "size-from-sample"), ==, 0);
}

static void
test_wrong_tensor (Fixture       *self,
                   gconstpointer  make)
{
  VnTensor *tensors[1] = { NULL };
  g_autoptr(GError) error = NULL;

  put_words (self, "1.npy", VN_SHAPE (1, 5, 3));
  if (open_data (self, NULL, &error))
    g_assert_false (vn_dataset_load (self->dataset, 0, tensors, &error));
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "1.npy"));
}

static void
test_picture (Fixture       *self,
              gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 70, 90);
  put_picture (self, "2.pgm", 33, 21);
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "image", "1x3x90x70", 0, "1x3x90x70");
  assert_sizes (self, "image", "1x3x90x70", 1, "1x3x90x70");
  g_assert_cmpuint (count_notes (self, "size-rounded"), ==, 0);
}

/* The size in the metadata comes before that of the first picture, if the network takes it; what is given before both. */
static void
test_metadata (Fixture       *self,
               gconstpointer  make)
{
  static const char * const sizes[] = { "[64, 96]", "[63, 96]" };     /* odd ones are not taken */
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 70, 90);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      const char * const pairs[] = { "stride", "32", "task", "detect", "names", "['a']", "imgsz", sizes[i] };

      g_ptr_array_set_size (self->model->metadata, 0);
      for (guint k = 0; k < G_N_ELEMENTS (pairs); k++)
        g_ptr_array_add (self->model->metadata, g_strdup (pairs[k]));
      g_clear_pointer (&self->dataset, vn_dataset_unref);
      g_clear_pointer (&self->shapes, g_hash_table_unref);
      open_data (self, NULL, &error);
      g_assert_no_error (error);
      assert_sizes (self, "image", i == 0 ? "1x3x64x96" : "1x3x90x70", 0, i == 0 ? "1x3x64x96" : "1x3x90x70");
      g_assert_cmpuint (count_notes (self, "data-size"), ==, 1);
      g_assert_cmpuint (count_notes (self, "size-from-sample"), ==, i);
    }
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  give (self, "image", VN_SHAPE (1, 3, 32, 32));
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "image", "1x3x32x32", 0, "1x3x32x32");
}

/* A network that only takes lines of text of one height. */
static VnModel *
make_reader (void)
{
  VnModel *model = vn_model_new (8, 11);
  VnGraph *graph = model->graph;
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, -1, -1));
  VnValue *low = vn_graph_add_value (graph, "low", VN_DTYPE_F32, NULL);
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, NULL);
  VnNode *pool = vn_graph_add_node (graph, NULL, "", "MaxPool", &in, 1, &low, 1), *squeeze;

  vn_node_set_ints (pool, "kernel_shape", (const gint64[]) { 48, 8 }, 2);
  vn_node_set_ints (pool, "strides", (const gint64[]) { 48, 8 }, 2);
  squeeze = vn_graph_add_node (graph, NULL, "", "Squeeze", &low, 1, &out, 1);
  vn_node_set_ints (squeeze, "axes", (const gint64[]) { 2 }, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

static void
test_text (Fixture       *self,
           gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 300, 200);
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "image", "1x3x48x320", 0, "1x3x48x320");
  g_assert_cmpuint (count_notes (self, "data-size"), ==, 1);
  g_assert_cmpuint (count_notes (self, "size-from-sample"), ==, 0);
}

static void
test_picture_rounded (Fixture       *self,
                      gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 70, 99);
  put_picture (self, "2.pgm", 33, 21);
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "image", "1x3x96x64", 0, "1x3x96x64");
  assert_sizes (self, "image", "1x3x96x64", 1, "1x3x96x64");
  g_assert_cmpuint (count_notes (self, "size-rounded"), ==, 1);
}

/* Smaller than what sizes are rounded to: nothing is left to try. */
static void
test_picture_refused (Fixture       *self,
                      gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 31, 20);
  g_assert_false (open_data (self, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_null (self->shapes);
}

/* What the user says goes before what the picture is. */
static void
test_picture_given (Fixture       *self,
                    gconstpointer  make)
{
  g_autoptr(GError) error = NULL;

  put_picture (self, "1.pgm", 70, 90);
  give (self, "image", VN_SHAPE (1, 3, 48, 50));
  open_data (self, NULL, &error);
  g_assert_no_error (error);
  assert_sizes (self, "image", "1x3x48x50", 0, "1x3x48x50");
}

int
main (int   argc,
      char *argv[])
{
  static const struct
  {
    const char *path;
    VnModel    *(*make) (void);
    void        (*run) (Fixture *self, gconstpointer make);
  } tests[] = {
    { "/open-sizes/tensors", open_model_words, test_tensors },
    { "/open-sizes/given", open_model_words, test_given },
    { "/open-sizes/wrong-tensor", open_model_words, test_wrong_tensor },
    { "/open-sizes/picture", open_model_pictures, test_picture },
    { "/open-sizes/picture-rounded", open_model_pictures, test_picture_rounded },
    { "/open-sizes/picture-refused", open_model_pictures, test_picture_refused },
    { "/open-sizes/picture-given", open_model_pictures, test_picture_given },
    { "/open-sizes/metadata", open_model_pictures, test_metadata },
    { "/open-sizes/text", make_reader, test_text },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, (gconstpointer) tests[i].make, setup, tests[i].run, teardown);
  return g_test_run ();
}
