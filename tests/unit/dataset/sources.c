/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which samples are found where, and how tensors become inputs. */

#include "vn-dataset.h"
#include "vn-error.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a temporary folder ---- */

typedef struct
{
  char *path;
} Folder;

static void
remove_tree (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      if (g_file_test (inner, G_FILE_TEST_IS_DIR) && !g_file_test (inner, G_FILE_TEST_IS_SYMLINK))
        remove_tree (inner);
      else
        g_unlink (inner);
    }
  g_rmdir (path);
}

static void
setup (Folder        *self,
       gconstpointer  data)
{
  self->path = g_dir_make_tmp ("vn-sources-XXXXXX", NULL);
  g_assert_nonnull (self->path);
}

static void
teardown (Folder        *self,
          gconstpointer  data)
{
  remove_tree (self->path);
  g_free (self->path);
}

static void
put (const Folder *self,
     const char   *name,
     const void   *data,
     gssize        size)
{
  g_autofree char *path = g_build_filename (self->path, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);

  g_mkdir_with_parents (folder, 0755);
  g_assert_true (g_file_set_contents (path, data, size, NULL));
}

static void
put_text (const Folder *self,
          const char   *name,
          const char   *text)
{
  put (self, name, text, -1);
}

static void
put_npy (const Folder *self,
         const char   *name,
         VnShape       shape,
         float         first)
{
  g_autofree char *path = g_build_filename (self->path, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = first + (float) i;
  g_mkdir_with_parents (folder, 0755);
  vn_npy_write (path, tensor, &error);
  g_assert_no_error (error);
}

static void
put_picture (const Folder *self,
             const char   *name)
{
  put_text (self, name, "P3\n1 1\n255\n10 20 30\n");
}

static VnDataset *
open_path (const Folder       *self,
           const char         *name,
           const VnInputSpec  *inputs,
           guint               n_inputs,
           guint               max_samples,
           VnNotes            *notes,
           GError            **error)
{
  g_autofree char *path = name != NULL && strchr (name, '=') != NULL ? g_strdup (name)
                                                                    : g_build_filename (self->path, name, NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);

  spec->max_samples = max_samples;
  return vn_dataset_open (spec, inputs, n_inputs, notes, error);
}

static const VnInputSpec picture_input = { (char *) "image", VN_DTYPE_F32, { 4, { 1, 3, 1, 1 } } };
static const VnInputSpec vector_input = { (char *) "v", VN_DTYPE_F32, { 2, { 1, 3 } } };

/* Names of all samples, joined by blanks. */
static char *
join_names (VnDataset *dataset)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? " " : "", vn_dataset_get_name (dataset, i));
  return g_string_free (names, FALSE);
}

static void
check_names (VnDataset  *dataset,
             const char *expected)
{
  g_autofree char *names = join_names (dataset);

  g_test_message ("%s, expected %s", names, expected);
  g_assert_cmpstr (names, ==, expected);
}

static double
load_first (VnDataset *dataset,
            guint      i,
            guint      n_inputs,
            guint      input)
{
  g_autoptr(GError) error = NULL;
  VnTensor *tensors[8] = { NULL };
  double value;

  g_assert_true (vn_dataset_load (dataset, i, tensors, &error));
  g_assert_no_error (error);
  value = vn_tensor_get_double (tensors[input], 0);
  for (guint k = 0; k < n_inputs; k++)
    vn_tensor_unref (tensors[k]);
  return value;
}

/* ---- folders ---- */

static void
test_flat (Folder        *folder,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) some = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();

  put_picture (folder, "img10.ppm");
  put_picture (folder, "img2.ppm");
  put_picture (folder, "img02.ppm");
  put_picture (folder, "IMG1.PNM");
  put_picture (folder, ".hidden.ppm");
  put_text (folder, "README.md", "no sample");
  put_npy (folder, "a.npy", VN_SHAPE (1), 0);
  dataset = open_path (folder, NULL, &picture_input, 1, 0, notes, &error);
  g_assert_no_error (error);
  check_names (dataset, "IMG1.PNM img02.ppm img2.ppm img10.ppm");
  g_assert_true (vn_dataset_is_image (dataset));
  g_assert_cmpint (vn_dataset_get_label (dataset, 0), ==, -1);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpfloat (load_first (dataset, 3, 1, 0), ==, 10);

  some = open_path (folder, NULL, &picture_input, 1, 2, NULL, &error);
  check_names (some, "IMG1.PNM img2.ppm");
}

static void
test_classes (Folder        *folder,
              gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) some = NULL;
  g_autofree char *empty = g_build_filename (folder->path, "b-empty", NULL);
  g_autofree char *link = g_build_filename (folder->path, "d", NULL);
  g_autofree char *target = g_build_filename (folder->path, "a", NULL);

  put_picture (folder, "a/1.ppm");
  put_picture (folder, "a/2.ppm");
  put_picture (folder, "c/1.ppm");
  put_picture (folder, ".cache/1.ppm");
  g_assert_cmpint (g_mkdir (empty, 0755), ==, 0);
  g_assert_cmpint (symlink (target, link), ==, 0);
  dataset = open_path (folder, NULL, &picture_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  check_names (dataset, "a/1.ppm a/2.ppm c/1.ppm d/1.ppm d/2.ppm");
  g_assert_cmpuint (vn_dataset_get_n_classes (dataset), ==, 4);
  g_assert_cmpstr (vn_dataset_get_class (dataset, 2), ==, "c");
  g_assert_cmpint (vn_dataset_get_label (dataset, 1), ==, 0);
  g_assert_cmpint (vn_dataset_get_label (dataset, 2), ==, 2);
  g_assert_cmpint (vn_dataset_get_label (dataset, 4), ==, 3);
  some = open_path (folder, NULL, &picture_input, 1, 2, NULL, &error);
  check_names (some, "a/1.ppm c/1.ppm");
}

static void
test_nothing (Folder        *folder,
              gconstpointer  data)
{
  static const struct
  {
    const char *path;
    const char *said;
  } cases[] = {
    { NULL, "looked for" },
    { "missing", "no file or folder" },
    { "notes.md", "names no files" },
    { "program", "neither a picture" },
    { "cut.npy", "cut.npy" },
  };

  put_text (folder, "notes.md", "# nothing here\n\n");
  put (folder, "program", "\x7f" "ELF\0\0\0", 7);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;

      if (i == 4)
        put_text (folder, "cut.npy", "\x93NUMPY");
      dataset = open_path (folder, cases[i].path, &picture_input, 1, 0, NULL, &error);
      g_test_message ("%s: %s", cases[i].path, error != NULL ? error->message : "opened");
      g_assert_null (dataset);
      g_assert_nonnull (strstr (error->message, cases[i].said));
    }
}

static void
test_many (Folder        *folder,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autofree char *first = g_build_filename (folder->path, "0.ppm", NULL);
  gint64 start;

  put_picture (folder, "0.ppm");
  for (guint i = 1; i < 5000; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u.ppm", folder->path, i);

      g_assert_cmpint (symlink (first, name), ==, 0);
    }
  start = g_get_monotonic_time ();
  dataset = open_path (folder, NULL, &picture_input, 1, 100, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("5000 files in %.1f ms", 1e-3 * (double) (g_get_monotonic_time () - start));
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 100);
  g_assert_cmpstr (vn_dataset_get_name (dataset, 99), ==, "4950.ppm");
}

/* ---- lists ---- */

static void
test_list (Folder        *folder,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  const int labels[] = { -1, 7, -1, 12, -1 };

  put_picture (folder, "pictures/a.ppm");
  put_picture (folder, "pictures/b c 3");
  put_text (folder, "list.txt", "\xef\xbb\xbf# comment\r\n\r\npictures/a.ppm\r\npictures/a.ppm 7\r\npictures/b c 3\r\n"
                                "pictures/a.ppm,12\r\npictures/missing.ppm");
  dataset = open_path (folder, "list.txt", &picture_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 5);
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr(VnTensor) tensor = NULL;
      gboolean ok = vn_dataset_load (dataset, i, &tensor, &error);

      g_test_message ("%s, class %d: %s", vn_dataset_get_name (dataset, i), vn_dataset_get_label (dataset, i),
                      ok ? "read" : error->message);
      g_assert_cmpint (vn_dataset_get_label (dataset, i), ==, labels[i]);
      g_assert_cmpint (ok, ==, i < 4);
    }
  g_assert_nonnull (strstr (error->message, "missing.ppm"));
}

/* ---- tensors ---- */

static void
test_shapes (Folder        *folder,
             gconstpointer  data)
{
  static const struct
  {
    VnShape file, input;
    VnShape expected;      /* rank 0: refused */
  } cases[] = {
    { { 4, { 1, 3, 2, 2 } }, { 4, { 1, 3, 2, 2 } }, { 4, { 1, 3, 2, 2 } } },
    { { 3, { 3, 2, 2 } }, { 4, { 1, 3, 2, 2 } }, { 4, { 1, 3, 2, 2 } } },
    { { 3, { 3, 2, 2 } }, { 4, { -1, 3, -1, -1 } }, { 4, { 1, 3, 2, 2 } } },
    { { 4, { 5, 3, 2, 2 } }, { 4, { -1, 3, -1, -1 } }, { 4, { 5, 3, 2, 2 } } },
    { { 2, { 1, 80 } }, { 3, { -1, -1, 80 } }, { 3, { 1, 1, 80 } } },
    { { 1, { 80 } }, { 2, { 1, 80 } }, { 2, { 1, 80 } } },
    { { 3, { 1, 80, 1 } }, { 1, { 80 } }, { 1, { 80 } } },
    { { 3, { 2, 2, 3 } }, { 4, { 1, 3, 2, 2 } }, { 0 } },
    { { 1, { 12 } }, { 2, { 3, 4 } }, { 0 } },
    { { 2, { 3, 4 } }, { 1, { -1 } }, { 0 } },
    { { 1, { 4 } }, { -1 }, { 1, { 4 } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnInputSpec input = { (char *) "v", VN_DTYPE_F32, cases[i].input };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      g_autofree char *text = NULL;

      put_npy (folder, "t/x.npy", cases[i].file, 5);
      dataset = open_path (folder, "t", &input, 1, 0, NULL, &error);
      g_assert_no_error (error);
      if (vn_dataset_load (dataset, 0, &tensor, &error))
        text = vn_shape_to_string (&tensor->shape, "x");
      g_test_message ("case %u: %s", i, text != NULL ? text : error->message);
      g_assert_cmpint (tensor != NULL, ==, cases[i].expected.rank > 0);
      if (tensor != NULL)
        g_assert_true (vn_shape_equal (&tensor->shape, &cases[i].expected));
      else
        g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
    }
}

static void
test_types (Folder        *folder,
            gconstpointer  data)
{
  static const struct
  {
    VnDType  dtype;
    gboolean ok;
  } cases[] = {
    { VN_DTYPE_F32, TRUE }, { VN_DTYPE_F16, TRUE }, { VN_DTYPE_F64, TRUE }, { VN_DTYPE_U8, FALSE }, { VN_DTYPE_S64, FALSE },
  };

  put_npy (folder, "x.npy", VN_SHAPE (1, 3), 5);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnInputSpec input = { (char *) "v", cases[i].dtype, { 2, { 1, 3 } } };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = open_path (folder, NULL, &input, 1, 0, NULL, &error);
      g_autoptr(VnTensor) tensor = NULL;
      gboolean ok = vn_dataset_load (dataset, 0, &tensor, &error);

      g_test_message ("%s: %s", vn_dtype_get_name (cases[i].dtype), ok ? "read" : error->message);
      g_assert_cmpint (ok, ==, cases[i].ok);
      if (ok)
        g_assert_cmpfloat (vn_tensor_get_double (tensor, 2), ==, 7);
    }
}

static void
test_raw (Folder        *folder,
          gconstpointer  data)
{
  static const struct
  {
    VnDType dtype;
    VnShape shape;
    gsize   size;
    double  second;     /* 0: refused */
  } cases[] = {
    { VN_DTYPE_F32, { 2, { 1, 3 } }, 12, 2 },
    { VN_DTYPE_F32, { 2, { -1, 3 } }, 12, 2 },
    { VN_DTYPE_F32, { 3, { -1, -1, 3 } }, 12, 2 },
    { VN_DTYPE_F32, { 2, { 1, 3 } }, 11, 0 },
    { VN_DTYPE_F64, { 2, { 1, 3 } }, 12, 2 },
    { VN_DTYPE_F16, { 2, { 1, 6 } }, 12, 1.875 },
    { VN_DTYPE_U8, { 1, { 12 } }, 12, 0 },
    { VN_DTYPE_F32, { 2, { 1, 4 } }, 12, 0 },
  };
  const float values[] = { 1, 2, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnInputSpec input = { (char *) "v", cases[i].dtype, cases[i].shape };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      gboolean ok;

      put (folder, "r/x.raw", values, (gssize) cases[i].size);
      dataset = open_path (folder, "r", &input, 1, 0, NULL, &error);
      ok = vn_dataset_load (dataset, 0, &tensor, &error);
      g_test_message ("case %u: %s, %g", i, ok ? "read" : error->message, ok ? vn_tensor_get_double (tensor, 1) : 0);
      g_assert_cmpint (ok, ==, cases[i].second != 0 || cases[i].dtype == VN_DTYPE_U8);
      if (ok)
        g_assert_cmpfloat (vn_tensor_get_double (tensor, 1), ==, cases[i].second);
    }
}

static void
test_stack (Folder        *folder,
            gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) single = NULL;

  put_npy (folder, "stack.npy", VN_SHAPE (10, 3), 0);
  put_npy (folder, "one.npy", VN_SHAPE (3), 4);
  dataset = open_path (folder, "stack.npy", &vector_input, 1, 5, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 5);
  g_assert_cmpstr (vn_dataset_get_name (dataset, 1), ==, "stack.npy #2");
  g_assert_cmpfloat (load_first (dataset, 1, 1, 0), ==, 6);
  g_assert_cmpint (vn_dataset_get_label (dataset, 1), ==, -1);
  single = open_path (folder, "one.npy", &vector_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (single), ==, 1);
  g_assert_cmpfloat (load_first (single, 0, 1, 0), ==, 4);
}

/* ---- several inputs ---- */

static const VnInputSpec two_inputs[] = {
  { (char *) "ids:0", VN_DTYPE_F32, { 2, { 1, 3 } } },
  { (char *) "mask", VN_DTYPE_F32, { 1, { 2 } } },
};

static void
fill_two (const Folder *folder,
          const char   *pattern_a,
          const char   *pattern_b,
          guint         n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *digit = g_strdup_printf ("%u", i);
      g_autoptr(GString) a = g_string_new (pattern_a);
      g_autoptr(GString) b = g_string_new (pattern_b);

      g_string_replace (a, "#", digit, 0);
      g_string_replace (b, "#", digit, 0);
      put_npy (folder, a->str, VN_SHAPE (3), (float) i);
      put_npy (folder, b->str, VN_SHAPE (2), 100 + (float) i);
    }
}

static void
check_two (VnDataset *dataset,
           guint      n)
{
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, n);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpfloat (load_first (dataset, i, 2, 0), ==, i);
      g_assert_cmpfloat (load_first (dataset, i, 2, 1), ==, 100 + i);
    }
}

static void
test_inputs (Folder        *folder,
             gconstpointer  data)
{
  static const char * const patterns[][2] = {
    { "f/ids_0/#.npy", "f/mask/#.npy" },
    { "g/ids_0_#.npy", "g/mask_#.npy" },
    { "s/test_data_set_#/input_0.npy", "s/test_data_set_#/input_1.npy" },
    { "t/sample#/ids_0.npy", "t/sample#/mask.npy" },
  };
  g_autoptr(GError) error = NULL;
  g_autofree char *named = g_strdup_printf ("mask=%s/f/mask;ids:0=%s/l/ids_0.txt", folder->path, folder->path);
  const char *paths[] = { "f", "g", "s", "t", "l", "l/both.txt", named };

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    fill_two (folder, patterns[i][0], patterns[i][1], 12);
  put_text (folder, "f/notes.txt", "not a list of an input");
  put_text (folder, "l/ids_0.txt", "../f/ids_0/0.npy\n../f/ids_0/1.npy\n../f/ids_0/2.npy\n../f/ids_0/3.npy\n"
                                   "../f/ids_0/4.npy\n../f/ids_0/5.npy\n../f/ids_0/6.npy\n../f/ids_0/7.npy\n"
                                   "../f/ids_0/8.npy\n../f/ids_0/9.npy\n../f/ids_0/10.npy\n../f/ids_0/11.npy\n");
  put_text (folder, "l/mask.txt", "../f/mask/0.npy\n../f/mask/1.npy\n../f/mask/2.npy\n../f/mask/3.npy\n"
                                  "../f/mask/4.npy\n../f/mask/5.npy\n../f/mask/6.npy\n../f/mask/7.npy\n"
                                  "../f/mask/8.npy\n../f/mask/9.npy\n../f/mask/10.npy\n../f/mask/11.npy\n");
  put_text (folder, "l/both.txt", "../f/ids_0/0.npy\t../f/mask/0.npy\n../f/ids_0/1.npy, ../f/mask/1.npy\n"
                                  "../f/ids_0/2.npy ../f/mask/2.npy\n");
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(VnDataset) dataset = open_path (folder, paths[i], two_inputs, 2, 0, NULL, &error);

      g_test_message ("%s: %s", paths[i], error != NULL ? error->message : "opened");
      g_assert_no_error (error);
      check_two (dataset, i == 5 ? 3 : 12);
    }
}

static void
test_inputs_refused (Folder        *folder,
                     gconstpointer  data)
{
  static const char * const cases[][2] = {
    { "few", "3 samples" },
    { "half", "neither a folder" },
    { "pictures", "needs a sub-folder" },
    { "group", "has no file" },
    { "mask=/tmp", "No samples are given" },
    { "lines.txt", "line 2" },
  };

  fill_two (folder, "few/ids_0/#.npy", "few/mask/#.npy", 3);
  put_npy (folder, "few/mask/3.npy", VN_SHAPE (2), 0);
  put_npy (folder, "half/mask/3.npy", VN_SHAPE (2), 0);
  put_picture (folder, "pictures/1.ppm");
  fill_two (folder, "group/ids_0_#.npy", "group/mask_#.npy", 3);
  put_npy (folder, "group/mask_9.npy", VN_SHAPE (2), 0);
  put_text (folder, "lines.txt", "a.npy b.npy\nc.npy\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = open_path (folder, cases[i][0], two_inputs, 2, 0, NULL, &error);

      g_test_message ("%s: %s", cases[i][0], error != NULL ? error->message : "opened");
      g_assert_null (dataset);
      g_assert_nonnull (strstr (error->message, cases[i][1]));
    }
}

static const char npz_script[] =
  "import sys, numpy as np\n"
  "d = sys.argv[1]\n"
  "for i in range(3):\n"
  "    f = (np.savez, np.savez_compressed)[i % 2]\n"
  "    f(f'{d}/{i}.npz', **{'ids:0': np.arange(3, dtype=np.float32)[None] + i, 'mask': np.full(2, 100 + i, np.float32)})\n";

static void
test_npz (Folder        *folder,
          gconstpointer  data)
{
  const char *python = g_getenv ("VN_ORACLE_PYTHON");
  const char *argv[] = { python, "-c", npz_script, folder->path, NULL };
  g_autofree char *first = g_build_filename (folder->path, "0.npz", NULL);
  g_autofree char *second = g_build_filename (folder->path, "1.npz", NULL);
  const VnInputSpec other[] = { { (char *) "other", VN_DTYPE_F32, { 2, { 1, 3 } } }, two_inputs[1] };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) wrong = NULL;
  int status;

  if (python == NULL || *python == '\0')
    {
      g_test_skip ("VN_ORACLE_PYTHON is not set");
      return;
    }
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, NULL, NULL, &status, &error));
  g_assert_cmpint (status, ==, 0);
  dataset = open_path (folder, NULL, two_inputs, 2, 0, NULL, &error);
  g_assert_no_error (error);
  check_two (dataset, 3);

  wrong = open_path (folder, NULL, other, 2, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (vn_dataset_load (wrong, 0, (VnTensor *[2]) { NULL }, &error));
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "ids:0"));

  for (guint which = 0; which < 2; which++)
    {
      g_autofree char *content = NULL;
      gsize size;
      guint n_read = 0;

      g_assert_true (g_file_get_contents (which == 0 ? first : second, &content, &size, NULL));
      for (gsize at = 0; at < size; at++)
        {
          VnTensor *tensors[2] = { NULL };

          content[at] ^= 0x55;
          g_assert_true (g_file_set_contents (which == 0 ? first : second, content, (gssize) size, NULL));
          content[at] ^= 0x55;
          if (!vn_dataset_load (dataset, which, tensors, NULL))
            continue;
          n_read++;
          vn_tensor_unref (tensors[0]);
          vn_tensor_unref (tensors[1]);
        }
      g_test_message ("%u of %" G_GSIZE_FORMAT " damaged archives could be read", n_read, size);
      g_assert_cmpuint (n_read, <, size);
    }
}

/* ---- random ---- */

static void
test_random (void)
{
  static const VnInputSpec inputs[] = {
    { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 20, 20 } } },
    { (char *) "ids", VN_DTYPE_S64, { 2, { -1, 50 } } },
    { (char *) "b", VN_DTYPE_U8, { 1, { 1000 } } },
    { (char *) "h", VN_DTYPE_F16, { 1, { 1000 } } },
  };
  static const double limits[][2] = { { 0, 1 }, { 0, 1 }, { 0, 255 }, { 0, 1 } };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) all = vn_dataset_open (spec, inputs, 4, NULL, &error);
  g_autoptr(VnDataset) few = NULL;
  g_autoptr(VnDataset) other = NULL;
  VnTensor *a[4], *b[4], *c[4], *d[4];

  spec->max_samples = 4;
  few = vn_dataset_open (spec, inputs, 4, NULL, &error);
  spec->seed = 1;
  other = vn_dataset_open (spec, inputs, 4, NULL, &error);
  g_assert_cmpuint (vn_dataset_get_n (all), ==, 32);
  g_assert_cmpuint (vn_dataset_get_n (few), ==, 4);
  g_assert_cmpstr (vn_dataset_get_name (few, 3), ==, "random 3");
  g_assert_null (vn_dataset_get_path (few, 3));
  g_assert_true (vn_dataset_load (few, 3, b, &error));
  g_assert_true (vn_dataset_load (all, 3, a, &error));
  g_assert_true (vn_dataset_load (all, 2, c, &error));
  g_assert_true (vn_dataset_load (other, 3, d, &error));
  for (guint k = 0; k < 4; k++)
    {
      double min = G_MAXDOUBLE;
      double max = -G_MAXDOUBLE;

      for (gsize i = 0; i < a[k]->n_elements; i++)
        {
          min = MIN (min, vn_tensor_get_double (a[k], i));
          max = MAX (max, vn_tensor_get_double (a[k], i));
        }
      g_test_message ("%s: %g .. %g", inputs[k].name, min, max);
      g_assert_cmpint (a[k]->dtype, ==, inputs[k].dtype);
      g_assert_cmpfloat (min, >=, limits[k][0]);
      g_assert_cmpfloat (max, <=, limits[k][1]);
      g_assert_cmpfloat (max - min, >, 0.9 * limits[k][1]);
      g_assert_true (vn_tensor_equal (a[k], b[k]));
      g_assert_false (vn_tensor_equal (a[k], c[k]));
      g_assert_false (vn_tensor_equal (a[k], d[k]));
      vn_tensor_unref (a[k]);
      vn_tensor_unref (b[k]);
      vn_tensor_unref (c[k]);
      vn_tensor_unref (d[k]);
    }
}

/* ---- split ---- */

static void
test_split (void)
{
  for (guint n = 0; n < 40; n++)
    for (guint n_held = 0; n_held < 45; n_held++)
      {
        g_autoptr(GArray) kept = NULL;
        g_autoptr(GArray) held = NULL;
        g_autofree guint *seen = g_new0 (guint, n + 1);

        vn_dataset_split (n, n_held, &kept, &held);
        g_assert_cmpuint (held->len, ==, MIN (n, n_held));
        g_assert_cmpuint (kept->len, ==, n - held->len);
        for (guint i = 0; i < kept->len; i++)
          seen[g_array_index (kept, guint, i)]++;
        for (guint i = 0; i < held->len; i++)
          {
            seen[g_array_index (held, guint, i)]++;
            if (i > 0)
              g_assert_cmpuint (g_array_index (held, guint, i) - g_array_index (held, guint, i - 1), >=, n / n_held);
          }
        for (guint i = 0; i < n; i++)
          g_assert_cmpuint (seen[i], ==, 1);
      }
}

#define ADD(name, func) g_test_add ("/sources/" name, Folder, NULL, setup, func, teardown)

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("flat", test_flat);
  ADD ("classes", test_classes);
  ADD ("nothing", test_nothing);
  ADD ("many", test_many);
  ADD ("list", test_list);
  ADD ("shapes", test_shapes);
  ADD ("types", test_types);
  ADD ("raw", test_raw);
  ADD ("stack", test_stack);
  ADD ("inputs", test_inputs);
  ADD ("inputs-refused", test_inputs_refused);
  ADD ("npz", test_npz);
  g_test_add_func ("/sources/random", test_random);
  g_test_add_func ("/sources/split", test_split);

  return g_test_run ();
}
