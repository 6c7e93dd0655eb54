/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which samples are found where. */

#include "folder-fixture.h"

#include "vn-error.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- folders ---- */

static void
test_flat (Folder        *folder,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) some = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();

  folder_put_picture (folder, "img10.ppm");
  folder_put_picture (folder, "img2.ppm");
  folder_put_picture (folder, "img02.ppm");
  folder_put_picture (folder, "IMG1.PNM");
  folder_put_picture (folder, ".hidden.ppm");
  folder_put_text (folder, "README.md", "no sample");
  folder_put_npy (folder, "a.npy", VN_SHAPE (1), 0);
  dataset = folder_open (folder, NULL, &picture_input, 1, 0, notes, &error);
  g_assert_no_error (error);
  dataset_check_names (dataset, "IMG1.PNM img02.ppm img2.ppm img10.ppm");
  g_assert_true (vn_dataset_is_image (dataset));
  g_assert_cmpint (vn_dataset_get_label (dataset, 0), ==, -1);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpfloat (dataset_load_first (dataset, 3, 1, 0), ==, 10);

  some = folder_open (folder, NULL, &picture_input, 1, 2, NULL, &error);
  dataset_check_names (some, "IMG1.PNM img2.ppm");
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

  folder_put_picture (folder, "a/1.ppm");
  folder_put_picture (folder, "a/2.ppm");
  folder_put_picture (folder, "c/1.ppm");
  folder_put_picture (folder, ".cache/1.ppm");
  g_assert_cmpint (g_mkdir (empty, 0755), ==, 0);
  g_assert_cmpint (symlink (target, link), ==, 0);
  dataset = folder_open (folder, NULL, &picture_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  dataset_check_names (dataset, "a/1.ppm a/2.ppm c/1.ppm d/1.ppm d/2.ppm");
  g_assert_cmpuint (vn_dataset_get_n_classes (dataset), ==, 4);
  g_assert_cmpstr (vn_dataset_get_class (dataset, 2), ==, "c");
  g_assert_cmpint (vn_dataset_get_label (dataset, 1), ==, 0);
  g_assert_cmpint (vn_dataset_get_label (dataset, 2), ==, 2);
  g_assert_cmpint (vn_dataset_get_label (dataset, 4), ==, 3);
  some = folder_open (folder, NULL, &picture_input, 1, 2, NULL, &error);
  dataset_check_names (some, "a/1.ppm c/1.ppm");
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
    { NULL, ".npz" },
    { "missing", "missing" },
    { "notes.md", "notes.md" },
    { "program", "program" },
    { "cut.npy", "cut.npy" },
  };

  folder_put_text (folder, "notes.md", "# nothing here\n\n");
  folder_put (folder, "program", "\x7f" "ELF\0\0\0", 7);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;

      if (i == 4)
        folder_put_text (folder, "cut.npy", "\x93NUMPY");
      dataset = folder_open (folder, cases[i].path, &picture_input, 1, 0, NULL, &error);
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

  folder_put_picture (folder, "0.ppm");
  for (guint i = 1; i < 5000; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u.ppm", folder->path, i);

      g_assert_cmpint (symlink (first, name), ==, 0);
    }
  start = g_get_monotonic_time ();
  dataset = folder_open (folder, NULL, &picture_input, 1, 100, NULL, &error);
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

  folder_put_picture (folder, "pictures/a.ppm");
  folder_put_picture (folder, "pictures/b c 3");
  folder_put_text (folder, "list.txt", "\xef\xbb\xbf# comment\r\n\r\npictures/a.ppm\r\npictures/a.ppm 7\r\npictures/b c 3\r\n"
                                "pictures/a.ppm,12\r\npictures/missing.ppm");
  dataset = folder_open (folder, "list.txt", &picture_input, 1, 0, NULL, &error);
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
      folder_put_npy (folder, a->str, VN_SHAPE (3), (float) i);
      folder_put_npy (folder, b->str, VN_SHAPE (2), 100 + (float) i);
    }
}

static void
check_two (VnDataset *dataset,
           guint      n)
{
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, n);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpfloat (dataset_load_first (dataset, i, 2, 0), ==, i);
      g_assert_cmpfloat (dataset_load_first (dataset, i, 2, 1), ==, 100 + i);
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
  folder_put_text (folder, "f/notes.txt", "not a list of an input");
  folder_put_text (folder, "l/ids_0.txt", "../f/ids_0/0.npy\n../f/ids_0/1.npy\n../f/ids_0/2.npy\n../f/ids_0/3.npy\n"
                                   "../f/ids_0/4.npy\n../f/ids_0/5.npy\n../f/ids_0/6.npy\n../f/ids_0/7.npy\n"
                                   "../f/ids_0/8.npy\n../f/ids_0/9.npy\n../f/ids_0/10.npy\n../f/ids_0/11.npy\n");
  folder_put_text (folder, "l/mask.txt", "../f/mask/0.npy\n../f/mask/1.npy\n../f/mask/2.npy\n../f/mask/3.npy\n"
                                  "../f/mask/4.npy\n../f/mask/5.npy\n../f/mask/6.npy\n../f/mask/7.npy\n"
                                  "../f/mask/8.npy\n../f/mask/9.npy\n../f/mask/10.npy\n../f/mask/11.npy\n");
  folder_put_text (folder, "l/both.txt", "../f/ids_0/0.npy\t../f/mask/0.npy\n../f/ids_0/1.npy, ../f/mask/1.npy\n"
                                  "../f/ids_0/2.npy ../f/mask/2.npy\n");
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(VnDataset) dataset = folder_open (folder, paths[i], two_inputs, 2, 0, NULL, &error);

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
    { "pictures", "needs a subfolder" },
    { "group", "has no file" },
    { "mask=/tmp", "There are no samples for" },
    { "lines.txt", "line 2" },
  };

  fill_two (folder, "few/ids_0/#.npy", "few/mask/#.npy", 3);
  folder_put_npy (folder, "few/mask/3.npy", VN_SHAPE (2), 0);
  folder_put_npy (folder, "half/mask/3.npy", VN_SHAPE (2), 0);
  folder_put_picture (folder, "pictures/1.ppm");
  fill_two (folder, "group/ids_0_#.npy", "group/mask_#.npy", 3);
  folder_put_npy (folder, "group/mask_9.npy", VN_SHAPE (2), 0);
  folder_put_text (folder, "lines.txt", "a.npy b.npy\nc.npy\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = folder_open (folder, cases[i][0], two_inputs, 2, 0, NULL, &error);

      g_test_message ("%s: %s", cases[i][0], error != NULL ? error->message : "opened");
      g_assert_null (dataset);
      g_assert_nonnull (strstr (error->message, cases[i][1]));
    }
}

/* The calibration samples of a BERT as XSlim ships them: found by name in one folder, and in step through lists that
 * name files relative to themselves. The values are those numpy reads. */
static void
test_bert (Folder        *folder,
           gconstpointer  data)
{
  static const char * const stems[] = { "unique_ids_raw_output", "segment_ids", "input_mask", "input_ids" };
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *samples = g_build_filename (shared != NULL ? shared : "", "interop", "xslim", "bert_quant_dataset", NULL);
  g_autoptr(GString) places = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  VnInputSpec inputs[4];

  if (!g_file_test (samples, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("VN_SHARED has no interop/xslim");
      return;
    }
  for (guint k = 0; k < 4; k++)
    {
      g_autofree char *list = g_strdup_printf ("lists/%u.txt", k);
      g_autofree char *text = g_strdup_printf ("../link/%s_0.npy\n../link/%s_1.npy\n\n../link/%s_2.npy\n", stems[k], stems[k],
                                               stems[k]);

      inputs[k] = (VnInputSpec) { (char *) stems[k], VN_DTYPE_S64, { k == 0 ? 1 : 2, { -1, 256 } } };
      folder_put_text (folder, list, text);
      g_string_append_printf (places, "%s%s=%s/lists/%u.txt", k > 0 ? ";" : "", stems[k], folder->path, k);
    }
  for (guint by_list = 0; by_list < 2; by_list++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (by_list ? places->str : samples);
      g_autofree char *link = g_build_filename (folder->path, "link", NULL);
      g_autoptr(VnDataset) dataset = NULL;

      if (by_list)
        g_assert_cmpint (symlink (samples, link), ==, 0);
      dataset = vn_dataset_open (spec, inputs, 4, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 3);
      for (guint i = 0; i < 3; i++)
        {
          VnTensor *tensors[4] = { NULL };

          g_assert_true (vn_dataset_load (dataset, i, tensors, &error));
          g_assert_cmpint (tensors[3]->dtype, ==, VN_DTYPE_S64);
          g_assert_true (vn_shape_equal (&tensors[3]->shape, &VN_SHAPE (1, 256)));
          g_assert_cmpint (vn_tensor_get_s64 (tensors[3], 0), ==, 101);      /* [CLS] */
          g_assert_cmpint (vn_tensor_get_s64 (tensors[2], 0), ==, 1);
          g_assert_cmpint (vn_tensor_get_s64 (tensors[1], 0), ==, 0);
          if (i == 0)
            g_assert_cmpint (vn_tensor_get_s64 (tensors[3], 4), ==, 5661);
          for (guint k = 0; k < 4; k++)
            vn_tensor_unref (tensors[k]);
        }
    }

  /* A line less in one list. */
  {
    g_autoptr(VnDataSpec) spec = vn_data_spec_new (places->str);
    g_autoptr(VnDataset) dataset = NULL;

    folder_put_text (folder, "lists/2.txt", "../link/input_mask_0.npy\n");
    dataset = vn_dataset_open (spec, inputs, 4, NULL, &error);
    g_assert_null (dataset);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, "lists/0.txt"));
    g_assert_nonnull (strstr (error->message, "lists/2.txt"));
  }
}

/* Tokens as .pb (TensorProto), .raw and .npy; all hold 5, 6, 7. */
static void
test_token_files (Folder        *folder,
                  gconstpointer  data)
{
  const guint8 proto[] = { 0x08, 1, 0x08, 3, 0x10, 7, 0x4a, 24, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0,
                           0, 0 };
  const gint64 wide[] = { 5, 6, 7 };
  const gint32 narrow[] = { 5, 6, 7 };
  static const struct
  {
    const char *path;
    VnDType     raw_type;
    gboolean    ok;
  } cases[] = {
    { "pb", VN_DTYPE_UNDEFINED, TRUE }, { "wide", VN_DTYPE_UNDEFINED, TRUE }, { "wide", VN_DTYPE_S64, TRUE },
    { "narrow", VN_DTYPE_S32, TRUE }, { "narrow", VN_DTYPE_UNDEFINED, FALSE }, { "wide", VN_DTYPE_S32, FALSE },
    { "sets", VN_DTYPE_UNDEFINED, TRUE }, { "alone", VN_DTYPE_UNDEFINED, TRUE },
  };
  const VnInputSpec tokens = { (char *) "ids", VN_DTYPE_S64, { 2, { 1, 3 } } };

  folder_put (folder, "pb/a.pb", proto, sizeof proto);
  folder_put (folder, "sets/test_data_set_0/input_0.pb", proto, sizeof proto);
  folder_put (folder, "alone/input_0.pb", proto, sizeof proto);
  folder_put (folder, "alone/output_0.pb", proto, sizeof proto);
  folder_put (folder, "wide/a.raw", wide, sizeof wide);
  folder_put (folder, "narrow/a.bin", narrow, sizeof narrow);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (folder->path, cases[i].path, NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      spec->raw_type = cases[i].raw_type;
      dataset = vn_dataset_open (spec, &tokens, 1, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 1);
      vn_dataset_load (dataset, 0, &tensor, &error);
      g_test_message ("%s: %s", cases[i].path, error != NULL ? error->message : "read");
      g_assert_cmpint (tensor != NULL, ==, cases[i].ok);
      for (guint k = 0; tensor != NULL && k < 3; k++)
        g_assert_cmpint (vn_tensor_get_s64 (tensor, k), ==, 5 + k);
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
  dataset = folder_open (folder, NULL, two_inputs, 2, 0, NULL, &error);
  g_assert_no_error (error);
  check_two (dataset, 3);

  wrong = folder_open (folder, NULL, other, 2, 0, NULL, &error);
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

/* ---- split ---- */

/* A list is found, and names files, as seen from where the program runs. */
static void
test_relative_list (Folder        *folder,
                    gconstpointer  data)
{
  static const char * const paths[] = { "list.txt", "./list.txt", "v=list.txt", "sub/../list.txt" };
  g_autofree char *before = g_get_current_dir ();

  folder_put_npy (folder, "sub/a.npy", VN_SHAPE (1, 3), 7);
  folder_put_text (folder, "list.txt", "sub/a.npy\n");
  g_assert_cmpint (g_chdir (folder->path), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (paths[i]);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);

      g_assert_no_error (error);
      g_assert_true (g_path_is_absolute (vn_dataset_get_path (dataset, 0)));
      g_assert_cmpfloat (dataset_load_first (dataset, 0, 1, 0), ==, 7);
    }
  g_assert_cmpint (g_chdir (before), ==, 0);
}

/* Names of files are any bytes: names of samples and messages are text. */
static void
test_strange_names (Folder        *folder,
                    gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  VnTensor *tensors[1] = { NULL };

  folder_put_text (folder, "a\xff.npy", "no array");
  folder_put_text (folder, "b\n.npy", "no array");
  dataset = folder_open (folder, NULL, &vector_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 2);
  g_assert_cmpstr (vn_dataset_get_name (dataset, 0), ==, "a\xef\xbf\xbd.npy");
  g_assert_false (vn_dataset_load (dataset, 0, tensors, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

/* A list that names itself, a folder, a device, or nothing that is there: each sample says so, nothing waits. */
static void
test_odd_lists (Folder        *folder,
                gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;

  folder_put_text (folder, "empty.txt", "");
  g_assert_null (folder_open (folder, "empty.txt", &picture_input, 1, 0, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);
  folder_put_text (folder, "list.txt", "list.txt\n.\n/dev/zero\n/dev/zero.npy\ngone.ppm\n");
  dataset = folder_open (folder, "list.txt", &picture_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    {
      g_autoptr(GError) reason = NULL;
      VnTensor *tensors[1] = { NULL };

      g_assert_false (vn_dataset_load (dataset, i, tensors, &reason));
      g_assert_nonnull (reason);
      g_test_message ("%s", reason->message);
    }
}

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

/* ---- kept samples ---- */

/* What is kept is there when its file is gone, also for who shares it; what there is no room for, or of another input, is not. */
static void
test_keep (Folder        *self,
           gconstpointer  data)
{
  static const struct { gsize n_bytes; guint n_kept; } tests[] = { { 0, 0 }, { 11, 0 }, { 12, 1 }, { 24, 2 }, { 1000, 3 } };
  VnInputSpec longer = vector_input;
  guint n_found = 0;

  longer.limit = 7;
  for (guint t = 0; t < G_N_ELEMENTS (tests); t++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL, same = NULL, other = NULL;
      g_autofree char *folder = g_strdup_printf ("keep%u", t);
      VnTensor *tensor;

      for (guint i = 0; i < 3; i++)
        {
          g_autofree char *name = g_strdup_printf ("%s/%u.npy", folder, i);

          folder_put_npy (self, name, VN_SHAPE (1, 3), (float) i);
        }
      dataset = folder_open (self, folder, &vector_input, 1, 0, NULL, &error);
      same = folder_open (self, folder, &vector_input, 1, 0, NULL, &error);
      other = folder_open (self, folder, &longer, 1, 0, NULL, &error);
      g_assert_no_error (error);
      vn_dataset_keep (dataset, tests[t].n_bytes);
      vn_dataset_share_kept (same, dataset);
      vn_dataset_share_kept (other, dataset);
      for (guint i = 0; i < 3; i++)
        g_assert_cmpfloat (dataset_load_first (dataset, i, 1, 0), ==, i);
      for (guint i = 0; i < 3; i++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%s/%u.npy", self->path, folder, i);

          g_assert_cmpint (g_unlink (path), ==, 0);
          g_assert_cmpint (vn_dataset_load (same, i, &tensor, NULL), ==, i < tests[t].n_kept);
          if (i < tests[t].n_kept)
            {
              g_assert_cmpfloat (vn_tensor_get_double (tensor, 0), ==, i);
              vn_tensor_unref (tensor);
              n_found++;
            }
          g_assert_false (vn_dataset_load (other, i, &tensor, NULL));
        }
    }
  g_assert_cmpuint (n_found, ==, 6);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  FOLDER_TEST ("/sources/flat", test_flat);
  FOLDER_TEST ("/sources/classes", test_classes);
  FOLDER_TEST ("/sources/nothing", test_nothing);
  FOLDER_TEST ("/sources/many", test_many);
  FOLDER_TEST ("/sources/list", test_list);
  FOLDER_TEST ("/sources/inputs", test_inputs);
  FOLDER_TEST ("/sources/inputs-refused", test_inputs_refused);
  FOLDER_TEST ("/sources/npz", test_npz);
  FOLDER_TEST ("/sources/bert", test_bert);
  FOLDER_TEST ("/sources/token-files", test_token_files);
  FOLDER_TEST ("/sources/relative-list", test_relative_list);
  FOLDER_TEST ("/sources/strange-names", test_strange_names);
  FOLDER_TEST ("/sources/odd-lists", test_odd_lists);
  FOLDER_TEST ("/sources/keep", test_keep);
  g_test_add_func ("/sources/split", test_split);

  return g_test_run ();
}
