/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples as tensors one behind another: what a program writes is what is loaded, and whatever else comes has an error. */
#include "vn-dataset.h"
#include "vn-error.h"
#include "vn-tensor-message.h"

#include "folder-fixture.h"

#include <string.h>

static void
append_message (GString       *stream,
                char           kind,
                guint8         dtype,
                guint          rank,
                const gint64  *dims,
                gconstpointer  payload,
                gsize          n_bytes)
{
  const guint8 head[8] = { 'V', 'N', 'S', '1', (guint8) kind, dtype, (guint8) rank, 0 };
  const guint64 size = GUINT64_TO_LE (n_bytes);

  g_string_append_len (stream, (const char *) head, sizeof head);
  g_string_append_len (stream, (const char *) &size, sizeof size);
  for (guint i = 0; i < rank; i++)
    {
      const gint64 dim = GINT64_TO_LE (dims[i]);

      g_string_append_len (stream, (const char *) &dim, sizeof dim);
    }
  g_string_append_len (stream, payload, (gssize) n_bytes);
}

static void
append_floats (GString *stream,
               gint64   n,
               float    first)
{
  g_autofree float *values = g_new (float, n);

  for (gint64 i = 0; i < n; i++)
    values[i] = first + (float) i;
  append_message (stream, 'T', VN_DTYPE_F32, 2, (const gint64[]) { 1, n }, values, (gsize) n * sizeof *values);
}

static const VnInputSpec two_inputs[] = {
  { (char *) "v", VN_DTYPE_F32, { 2, { 1, 3 } } },
  { (char *) "w", VN_DTYPE_F32, { 2, { 1, VN_DIM_UNKNOWN } } },
};

/* As many tensors a sample as inputs, in any length that an input takes. */
static void
test_order (Folder        *folder,
            gconstpointer  data)
{
  static const struct { const char *names; gsize n_names; gboolean swapped; } cases[] = {
    { NULL, 0, FALSE }, { "v\0w", 4, FALSE }, { "w\0v", 4, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GString) stream = g_string_new (NULL);
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(GError) error = NULL;

      if (cases[i].names != NULL)
        append_message (stream, 'N', 0, 0, NULL, cases[i].names, cases[i].n_names);
      for (guint k = 0; k < 3; k++)
        {
          append_floats (stream, cases[i].swapped ? 2 + k : 3, cases[i].swapped ? 20 + k : 10 + k);
          append_floats (stream, cases[i].swapped ? 3 : 2 + k, cases[i].swapped ? 10 + k : 20 + k);
        }
      folder_put (folder, "s", stream->str, (gssize) stream->len);
      dataset = folder_open (folder, "s", two_inputs, 2, 0, NULL, &error);
      g_assert_no_error (error);
      dataset_check_names (dataset, "sample 0 sample 1 sample 2");
      for (guint k = 0; k < 3; k++)
        {
          VnTensor *tensors[2] = { NULL };

          g_assert_true (vn_dataset_load (dataset, 2 - k, tensors, NULL));
          g_assert_cmpfloat (vn_tensor_get_double (tensors[0], 2), ==, 10 + (2 - k) + 2);
          g_assert_cmpfloat (vn_tensor_get_double (tensors[1], 0), ==, 20 + (2 - k));
          g_assert_cmpint (tensors[1]->shape.dims[1], ==, 2 + (2 - k));
          vn_tensor_unref (tensors[0]);
          vn_tensor_unref (tensors[1]);
        }
    }
}

/* An input without a tensor is filled where that is possible. */
static void
test_filled (Folder        *folder,
             gconstpointer  data)
{
  static const VnInputSpec inputs[] = {
    { (char *) "input_ids", VN_DTYPE_S64, { 2, { 1, 4 } } },
    { (char *) "attention_mask", VN_DTYPE_S64, { 2, { 1, 4 } } },
  };
  const gint64 ids[4] = { 5, 6, 7, 8 };

  for (guint filled = 0; filled < 2; filled++)
    {
      g_autoptr(GString) stream = g_string_new (NULL);
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(GError) error = NULL;

      append_message (stream, 'N', 0, 0, NULL, inputs[1 - filled].name, strlen (inputs[1 - filled].name) + 1);
      append_message (stream, 'T', VN_DTYPE_S64, 2, (const gint64[]) { 1, 4 }, ids, sizeof ids);
      folder_put (folder, "s", stream->str, (gssize) stream->len);
      dataset = folder_open (folder, "s", inputs, 2, 0, NULL, &error);
      if (filled == 0)
        {
          g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpint (vn_dataset_get_fill (dataset, 1), ==, VN_FILL_ONES);
      g_assert_cmpfloat (dataset_load_first (dataset, 0, 2, 0), ==, 5);
      g_assert_cmpfloat (dataset_load_first (dataset, 0, 2, 1), ==, 1);
    }
}

/* What no sample can be read from: cut anywhere, and each number of the head changed. */
static void
test_damaged (Folder        *folder,
              gconstpointer  data)
{
  static const struct { guint at; guint8 value; } cases[] = {
    { 3, '2' }, { 4, 'E' }, { 5, 0 }, { 5, 8 }, { 5, 7 }, { 5, 22 }, { 6, 1 }, { 6, 255 }, { 7, 1 }, { 8, 11 }, { 15, 0x7f },
    { 15, 0xff }, { 23, 0x80 }, { 31, 0x7f },
  };
  g_autoptr(GString) good = g_string_new (NULL);
  guint n_good = 0;

  append_floats (good, 3, 1);
  append_floats (good, 3, 2);
  for (guint i = 0; i < G_N_ELEMENTS (cases) + good->len; i++)
    {
      const gsize cut = i < G_N_ELEMENTS (cases) ? good->len : i - G_N_ELEMENTS (cases);
      g_autofree char *bytes = g_memdup2 (good->str, good->len);
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(GError) error = NULL;

      if (i < G_N_ELEMENTS (cases))
        bytes[cases[i].at] = (char) cases[i].value;
      if (cut < 4 || memcmp (bytes, VN_TENSOR_MESSAGE_MAGIC, 4) != 0)     /* then it is a list of files */
        continue;
      folder_put (folder, "s", bytes, (gssize) cut);
      dataset = folder_open (folder, "s", &vector_input, 1, 0, NULL, &error);
      n_good += dataset != NULL;
      if (dataset == NULL)
        g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
    }
  g_assert_cmpuint (n_good, ==, 1);      /* cut behind the first */
}

/* Names that fit no input, and tensors that fit no sample. */
static void
test_unfit (Folder        *folder,
            gconstpointer  data)
{
  static const struct { const char *names; gsize n_names; guint n_tensors; int code; } cases[] = {
    { "v\0u", 4, 2, VN_ERROR_MISSING_DATA }, { "v\0v", 4, 2, VN_ERROR_MALFORMED }, { "v\0w", 3, 2, VN_ERROR_MALFORMED },
    { "v", 2, 1, VN_ERROR_MISSING_DATA },    { "v\0w", 4, 3, VN_ERROR_MISSING_DATA }, { "v\0w", 4, 0, VN_ERROR_MISSING_DATA },
    { NULL, 0, 3, VN_ERROR_MISSING_DATA },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GString) stream = g_string_new (NULL);
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(GError) error = NULL;

      if (cases[i].names != NULL)
        append_message (stream, 'N', 0, 0, NULL, cases[i].names, cases[i].n_names);
      for (guint k = 0; k < cases[i].n_tensors; k++)
        append_floats (stream, 3, 1);
      folder_put (folder, "s", stream->str, (gssize) stream->len);
      dataset = folder_open (folder, "s", two_inputs, 2, 0, NULL, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "accepted");
      g_assert_error (error, VN_ERROR, cases[i].code);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  FOLDER_TEST ("/stream/order", test_order);
  FOLDER_TEST ("/stream/filled", test_filled);
  FOLDER_TEST ("/stream/damaged", test_damaged);
  FOLDER_TEST ("/stream/unfit", test_unfit);
  return g_test_run ();
}
