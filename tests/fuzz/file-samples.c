/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors, pictures, lists of them, and of their classes. */
#include "file-kinds.h"

#include "vn-dataset-private.h"
#include "vn-evaluate.h"
#include "vn-onnx.h"
#include "vn-tokenizer.h"

#include <glib/gstdio.h>
#include <string.h>

#define MAX_SAMPLES 3

/* Inputs that a sample may have to fit. */
static const VnInputSpec inputs[] = {
  { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 5, 7 } }, 0 },
  { (char *) "ids", VN_DTYPE_S64, { 2, { 1, VN_DIM_UNKNOWN } }, 30 },
  { (char *) "y", VN_DTYPE_U8, { 4, { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, 3 } }, 0 },
  { (char *) "z", VN_DTYPE_F16, { VN_RANK_UNKNOWN, { 0 } }, 0 },
};

/* Every element can be looked at. */
static void
sum_up (const VnTensor *tensor)
{
  volatile double sum = 0;

  if (tensor->dtype == VN_DTYPE_STRING)
    return;
  for (gsize i = 0; i < tensor->n_elements; i++)
    sum += vn_tensor_get_double (tensor, i);
  (void) sum;
}

static void
fit (VnTensor *tensor)
{
  sum_up (tensor);
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) fitted = vn_tensor_fit (tensor, &inputs[i], &error);

      if (check (fitted != NULL, &error))
        sum_up (fitted);
    }
}

gboolean
try_npy (const guint8 *data,
         gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_npy_parse (bytes, &error);

  if (check (tensor != NULL, &error))
    fit (tensor);
  return tensor != NULL;
}

gboolean
try_tokenizer (const guint8 *data,
               gsize         size)
{
  static const char * const texts[] = {
    "", "a", "ab  abc <s> a\n\n b", "\xc3\xa4\xcc\x81\xcc\xa3 \xe4\xbb\x8a\xe5\xa4\xa9 \xf0\x9f\x91\x8d 123", "   <s><s>  x",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
  };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTokenizer) self = vn_tokenizer_parse ((const char *) data, (gssize) size, "file", &error);

  if (!check (self != NULL, &error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *text = g_memdup2 (texts[i], strlen (texts[i]));     /* nothing follows it */
      g_autoptr(GArray) tokens = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_autoptr(GError) reason = NULL;

      if (check (vn_tokenizer_encode (self, text != NULL ? text : "", strlen (texts[i]), tokens, &reason), &reason))
        for (guint k = 0; k < tokens->len; k++)
          g_assert_cmpuint (g_array_index (tokens, guint32, k), <=, 1u << 26);
    }
  return TRUE;
}

gboolean
try_npz (const guint8 *data,
         gsize         size)
{
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_npz_read (path, &inputs[i], &error);

      if (check (tensor != NULL, &error))
        fit (tensor);
      any |= tensor != NULL;
    }
  return any;
}

gboolean
try_wav (const guint8 *data,
         gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_wav_parse (bytes, &inputs[i], 0, 1, &error);

      if (check (tensor != NULL, &error))
        fit (tensor);
      any |= tensor != NULL;
    }
  return any;
}

gboolean
try_proto (const guint8 *data,
           gsize         size)
{
  static const VnType types[] = { { .kind = VN_TYPE_TENSOR }, { .kind = VN_TYPE_SEQUENCE }, { .kind = VN_TYPE_OPTIONAL } };
  const char *path = put_file (data, size);
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autoptr(VnTensor) tensor = vn_onnx_tensor_read_file (path, &name, &error);

  if (check (tensor != NULL, &error))
    fit (tensor);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr(GError) reason = NULL;
      g_autoptr(VnTensor) value = vn_onnx_value_read_file (path, &types[i], NULL, &reason);

      check (value != NULL, &reason);
    }
  return tensor != NULL;
}

gboolean
try_raw (const guint8 *data,
         gsize         size)
{
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_tensor_file_read (path, &inputs[i % G_N_ELEMENTS (inputs)],
                                                        i % 2 == 0 ? VN_DTYPE_UNDEFINED : VN_DTYPE_U8, &error);

      if (check (tensor != NULL, &error))
        fit (tensor);
      any |= tensor != NULL;
    }
  return any;
}

/* Samples of one input and of two. */
static gboolean
open_and_load (const char *path)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
  gboolean any = FALSE;

  for (guint n = 1; n <= 2; n++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, inputs, n, notes, &error);

      any |= check (dataset != NULL, &error);
      for (guint i = 0; dataset != NULL && i < MIN (vn_dataset_get_n (dataset), MAX_SAMPLES); i++)
        {
          g_autoptr(GError) reason = NULL;
          VnTensor *tensors[2] = { NULL };

          check (vn_dataset_load (dataset, i, tensors, &reason), &reason);
          g_clear_pointer (&tensors[0], vn_tensor_unref);
          g_clear_pointer (&tensors[1], vn_tensor_unref);
        }
    }
  return any;
}

gboolean
try_list (const guint8 *data,
          gsize         size)
{
  return open_and_load (put_file (data, size));
}

gboolean
try_stream (const guint8 *data,
            gsize         size)
{
  return open_and_load (put_file (data, size));
}

/* Folders of classes, or a list: opened once, as it is the other file that matters. */
static VnDataset *
open_samples (gboolean classes)
{
  static const char * const names[] = { "0/a.npy", "17/b.npy", "cat/c.npy" };
  g_autofree char *folder = make_folder (), *list = g_build_filename (folder, "list.txt", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (classes ? folder : list);
  g_autoptr(GError) error = NULL;
  VnDataset *dataset;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL), *inner = g_path_get_dirname (path);
      g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (1), (float[]) { 0 });

      g_mkdir (inner, 0700);
      require (vn_npy_write (path, tensor, NULL), "no sample can be written");
    }
  if (!classes)
    g_file_set_contents (list, "0/a.npy\n17/b.npy\ncat/c.npy\n", -1, NULL);
  dataset = vn_dataset_open (spec, &(VnInputSpec) { (char *) "x", VN_DTYPE_F32, { 1, { 1 } } }, 1, NULL, &error);
  if (dataset == NULL)
    g_error ("no samples: %s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL), *inner = g_path_get_dirname (path);

      g_unlink (path);
      g_rmdir (inner);
    }
  g_unlink (list);
  g_rmdir (folder);
  return dataset;
}

gboolean
try_labels (const guint8 *data,
            gsize         size)
{
  static VnDataset *datasets[2];
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnLabels) labels = NULL;

      if (datasets[i] == NULL)
        datasets[i] = open_samples (i == 0);
      labels = vn_labels_new (datasets[i], NULL, path, notes, &error);
      any |= check (labels != NULL, &error);
      for (guint k = 0; labels != NULL && k < vn_dataset_get_n (datasets[i]); k++)
        require (vn_labels_get (labels, k, 10) < 10 && vn_labels_get (labels, k, 1001) < 1001 &&
                 vn_labels_get_number (labels, k) >= -1,
                 "a class that no network has");
    }
  return any;
}

gboolean
try_picture (const guint8 *data,
             gsize         size)
{
  static const VnInputSpec specs[] = { { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 5, 7 } } },
                                       { (char *) "x", VN_DTYPE_U8, { 4, { 1, 9, 4, 1 } } } };
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    {
      VnPreprocess preprocess;
      VnPicturePlan plan;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      vn_preprocess_init (&preprocess);
      preprocess.fit = i == 0 ? VN_FIT_CROP : VN_FIT_LETTERBOX;
      require (vn_picture_plan_init (&plan, &specs[i], &preprocess, NULL), "no plan");
      tensor = vn_picture_plan_load (&plan, &preprocess, path, &error);
      if (check (tensor != NULL, &error))
        sum_up (tensor);
      any |= tensor != NULL;
    }
  return any;
}
