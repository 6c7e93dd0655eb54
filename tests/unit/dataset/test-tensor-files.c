/* SPDX-License-Identifier: GPL-3.0-or-later */

/* How tensors in files become inputs. */

#include "folder-fixture.h"

#include "vn-error.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

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

      folder_put_npy (folder, "t/x.npy", cases[i].file, 5);
      folder_put_npy (folder, "t/y.npy", cases[i].file, 5);   /* one alone may be a stack */
      dataset = folder_open (folder, "t", &input, 1, 0, NULL, &error);
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

  folder_put_npy (folder, "x.npy", VN_SHAPE (1, 3), 5);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnInputSpec input = { (char *) "v", cases[i].dtype, { 2, { 1, 3 } } };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = folder_open (folder, NULL, &input, 1, 0, NULL, &error);
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

      folder_put (folder, "r/x.raw", values, (gssize) cases[i].size);
      dataset = folder_open (folder, "r", &input, 1, 0, NULL, &error);
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

  folder_put_npy (folder, "stack.npy", VN_SHAPE (10, 3), 0);
  folder_put_npy (folder, "one.npy", VN_SHAPE (3), 4);
  dataset = folder_open (folder, "stack.npy", &vector_input, 1, 5, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 5);
  g_assert_cmpstr (vn_dataset_get_name (dataset, 1), ==, "stack.npy #2");
  g_assert_cmpfloat (dataset_load_first (dataset, 1, 1, 0), ==, 6);
  g_assert_cmpint (vn_dataset_get_label (dataset, 1), ==, -1);
  single = folder_open (folder, "one.npy", &vector_input, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (single), ==, 1);
  g_assert_cmpfloat (dataset_load_first (single, 0, 1, 0), ==, 4);
}

/* N×H×W for an input of one channel; a single one of these is no stack. */
static void
test_stack_of_planes (Folder        *folder,
                      gconstpointer  data)
{
  const VnInputSpec plane = { (char *) "plane", VN_DTYPE_F32, { 4, { 1, 1, 2, 3 } } };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnDataset) single = NULL;

  folder_put_npy (folder, "planes.npy", VN_SHAPE (4, 2, 3), 0);
  folder_put_npy (folder, "plane.npy", VN_SHAPE (2, 3), 9);
  dataset = folder_open (folder, "planes.npy", &plane, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 4);
  g_assert_cmpfloat (dataset_load_first (dataset, 3, 1, 0), ==, 18);
  single = folder_open (folder, "plane.npy", &plane, 1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (single), ==, 1);
  g_assert_cmpfloat (dataset_load_first (single, 0, 1, 0), ==, 9);
}

/* A text of token numbers, which are their own places, and how it is cut. */
static const struct
{
  gsize   n_tokens;
  VnShape input;
  VnDType file, dtype;
  guint   n;                /* samples */
  gint64  length;           /* of each */
} texts[] = {
  { 300, { 2, { 1, 100 } },   VN_DTYPE_S64, VN_DTYPE_S64, 3,  100 },
  { 350, { 2, { -1, 100 } },  VN_DTYPE_S64, VN_DTYPE_S64, 3,  100 },    /* what is left is no sample */
  { 350, { 2, { -1, 100 } },  VN_DTYPE_S32, VN_DTYPE_S64, 3,  100 },
  { 200, { 2, { 1, 100 } },   VN_DTYPE_S64, VN_DTYPE_S32, 2,  100 },
  { 100, { 2, { 1, 100 } },   VN_DTYPE_S64, VN_DTYPE_S64, 1,  100 },
  { 300, { 2, { 1, -1 } },    VN_DTYPE_S64, VN_DTYPE_S64, 1,  300 },    /* one sample of any length */
  { 5000, { 2, { -1, -1 } },  VN_DTYPE_S64, VN_DTYPE_S64, 39, 128 },
  { 5000, { 2, { 1, 100 } },  VN_DTYPE_S32, VN_DTYPE_S64, 50, 100 },
};

#define LONG 4096             /* shorter ones without a header are one sample */

static void
put_text (const Folder *folder,
          const char   *name,
          VnDType       dtype,
          gsize         n)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new ();

  if (g_str_has_suffix (name, ".npy"))
    {
      g_autofree char *header = g_strdup_printf ("{'descr': '<i%u', 'fortran_order': False, 'shape': (%u,), }",
                                                 vn_dtype_get_bits (dtype) / 8, (guint) n);
      g_autofree char *padded = g_strdup_printf ("%-117s\n", header);

      g_byte_array_append (bytes, (const guint8 *) "\x93NUMPY\x01\x00\x76\x00", 10);
      g_byte_array_append (bytes, (const guint8 *) padded, 118);
    }
  for (gsize i = 0; i < n; i++)
    {
      const gint64 value = GINT64_TO_LE ((gint64) i);

      g_byte_array_append (bytes, (const guint8 *) &value, vn_dtype_get_bits (dtype) / 8);
    }
  folder_put (folder, name, bytes->data, bytes->len);
}

static void
test_texts (Folder        *folder,
            gconstpointer  data)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (texts); i++)
    {
      const VnInputSpec input = { (char *) "ids", texts[i / 2].dtype, texts[i / 2].input };
      const char *name = i % 2 == 0 ? "text.npy" : "text.bin";
      g_autofree char *path = g_build_filename (folder->path, name, NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;

      if (i % 2 != 0 && texts[i / 2].n_tokens <= LONG)
        continue;
      g_test_message ("%s of %" G_GSIZE_FORMAT " tokens", name, texts[i / 2].n_tokens);
      put_text (folder, name, texts[i / 2].file, texts[i / 2].n_tokens);
      spec->raw_type = texts[i / 2].file;
      dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, texts[i / 2].n);
      for (guint s = 0; s < texts[i / 2].n; s++)
        {
          g_autoptr(VnTensor) tensor = NULL;

          g_assert_true (vn_dataset_load (dataset, s, &tensor, &error));
          g_assert_no_error (error);
          g_assert_true (vn_shape_equal (&tensor->shape, &VN_SHAPE (1, texts[i / 2].length)));
          for (gint64 k = 0; k < texts[i / 2].length; k++)
            g_assert_cmpint (vn_tensor_get_s64 (tensor, (gsize) k), ==, s * texts[i / 2].length + k);
        }
    }
}

/* Where the size of the embedding is known, a file without a header tells by its numbers what type it is of. */
static void
test_text_types (Folder        *folder,
                 gconstpointer  data)
{
  static const VnDType files[] = { VN_DTYPE_S64, VN_DTYPE_S32, VN_DTYPE_U16 }, inputs[] = { VN_DTYPE_S64, VN_DTYPE_S32 };
  static const struct { gsize n; gint64 length; } sizes[] = { { 200, 200 }, { 5000, -1 } };
  g_autofree char *path = g_build_filename (folder->path, "text.bin", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);

  for (guint i = 0; i < G_N_ELEMENTS (files) * G_N_ELEMENTS (inputs) * G_N_ELEMENTS (sizes); i++)
    {
      const VnDType file = files[i / (G_N_ELEMENTS (inputs) * G_N_ELEMENTS (sizes))];
      const guint size = i % G_N_ELEMENTS (sizes);
      const VnInputSpec input = { (char *) "ids", inputs[i / G_N_ELEMENTS (sizes) % G_N_ELEMENTS (inputs)],
                                  VN_SHAPE (1, sizes[size].length), (gint64) sizes[size].n };
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s for %s, %" G_GSIZE_FORMAT " tokens", vn_dtype_get_name (file), vn_dtype_get_name (input.dtype),
                      sizes[size].n);
      put_text (folder, "text.bin", file, sizes[size].n);
      dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (vn_dataset_load (dataset, vn_dataset_get_n (dataset) - 1, &tensor, &error));
      g_assert_no_error (error);
      g_assert_cmpint (tensor->dtype, ==, input.dtype);
      for (gint64 k = 0; k < (gint64) tensor->n_elements; k++)
        g_assert_cmpint (vn_tensor_get_s64 (tensor, (gsize) k), ==,
                         ((gint64) vn_dataset_get_n (dataset) - 1) * (gint64) tensor->n_elements + k);
    }
}

/* A TensorProto of float32: dims, data_type, raw_data. */
static void
put_pb (Folder        *folder,
        const char    *name,
        const VnShape *shape,
        float          first)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new ();
  gsize n = 1;

  for (int i = 0; i < shape->rank; i++)
    {
      g_byte_array_append (bytes, (guint8[]) { 0x08, (guint8) shape->dims[i] }, 2);
      n *= (gsize) shape->dims[i];
    }
  g_assert_cmpuint (n * 4, <, 0x80);
  g_byte_array_append (bytes, (guint8[]) { 0x10, 1, 0x4a, (guint8) (n * 4) }, 4);
  for (gsize i = 0; i < n; i++)
    {
      float value = first + (float) i;

      g_byte_array_append (bytes, (const guint8 *) &value, sizeof value);
    }
  folder_put (folder, name, bytes->data, (gssize) bytes->len);
}

/* A tensor alone in a folder is what it is when it is named itself, whether the batch is open or not. */
static void
test_stack_in_folder (Folder        *folder,
                      gconstpointer  data)
{
  const VnInputSpec inputs[] = { vector_input, { (char *) "open", VN_DTYPE_F32, { 2, { VN_DIM_UNKNOWN, 3 } } } };

  put_pb (folder, "pb/data.pb", &VN_SHAPE (4, 3), 0);
  put_pb (folder, "one/data.pb", &VN_SHAPE (3), 7);
  folder_put_npy (folder, "npy/data.npy", VN_SHAPE (4, 3), 0);
  folder_put_npy (folder, "both/data.npy", VN_SHAPE (4, 3), 0);
  folder_put_npy (folder, "both/more.npy", VN_SHAPE (4, 3), 0);
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) pb = folder_open (folder, "pb", &inputs[i], 1, 0, NULL, &error);
      g_autoptr(VnDataset) npy = folder_open (folder, "npy", &inputs[i], 1, 0, NULL, &error);
      g_autoptr(VnDataset) one = folder_open (folder, "one", &inputs[i], 1, 0, NULL, &error);
      g_autoptr(VnDataset) both = folder_open (folder, "both", &inputs[i], 1, 0, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (pb), ==, 4);
      g_assert_cmpstr (vn_dataset_get_name (pb, 3), ==, "data.pb #3");
      g_assert_cmpfloat (dataset_load_first (pb, 3, 1, 0), ==, 9);
      g_assert_cmpuint (vn_dataset_get_n (npy), ==, 4);
      g_assert_cmpfloat (dataset_load_first (npy, 3, 1, 0), ==, 9);
      g_assert_cmpuint (vn_dataset_get_n (one), ==, 1);
      g_assert_cmpfloat (dataset_load_first (one, 0, 1, 0), ==, 7);
      g_assert_cmpuint (vn_dataset_get_n (both), ==, 2);
    }
}

/* ---- packed arrays that say more than they hold ---- */

static void
append_number (GByteArray *to,
               guint64     number,
               guint       n_bytes)
{
  for (guint i = 0; i < n_bytes; i++, number >>= 8)
    g_byte_array_append (to, &(guint8) { number & 255 }, 1);
}

/* The beginning of a deflated .npy of float32 zeros: what follows @n_zeros of them is missing. */
static GBytes *
deflate_npy (const char *shape,
             gsize       n_zeros)
{
  g_autoptr(GZlibCompressor) zlib = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 9);
  g_autofree char *header = g_strdup_printf ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n", shape);
  gsize length = strlen (header), size = 10 + length + 4 * n_zeros, room = size + 1024, n_in, n_out;
  g_autofree guint8 *array = g_malloc0 (size);
  guint8 *packed = g_malloc (room);

  memcpy (array, "\x93NUMPY\1\0", 8);
  array[8] = (guint8) length;
  memcpy (array + 10, header, length);
  g_assert_cmpint (g_converter_convert (G_CONVERTER (zlib), array, size, packed, room, G_CONVERTER_FLUSH, &n_in, &n_out, NULL),
                   !=,
                   G_CONVERTER_ERROR);
  g_assert_cmpuint (n_in, ==, size);
  return g_bytes_new_take (packed, n_out);
}

/* An archive of one array, which is said to have @size bytes when it is unpacked. */
static void
put_npz (const Folder *folder,
         const char   *name,
         GBytes       *packed,
         gsize         size)
{
  g_autoptr(GByteArray) file = g_byte_array_new ();
  gsize n_packed;
  const guint8 *data = g_bytes_get_data (packed, &n_packed);
  guint start;

  g_byte_array_append (file, (const guint8 *) "PK\3\4", 4);
  append_number (file, 0, 22);
  append_number (file, 5, 4);
  g_byte_array_append (file, (const guint8 *) "v.npy", 5);
  g_byte_array_append (file, data, (guint) n_packed);
  start = file->len;
  g_byte_array_append (file, (const guint8 *) "PK\1\2", 4);
  append_number (file, 0, 6);
  append_number (file, 8, 2);
  append_number (file, 0, 8);
  append_number (file, n_packed, 4);
  append_number (file, size, 4);
  append_number (file, 5, 4);
  append_number (file, 0, 14);
  g_byte_array_append (file, (const guint8 *) "v.npy", 5);
  g_byte_array_append (file, (const guint8 *) "PK\5\6", 4);
  append_number (file, 0, 6);
  append_number (file, 1, 2);
  append_number (file, file->len - start, 4);
  append_number (file, start, 4);
  append_number (file, 0, 2);
  folder_put (folder, name, file->data, (gssize) file->len);
}

/* What is missing in the archives would be noticed if more were unpacked than must be. */
static void
test_npz_bomb (Folder        *folder,
               gconstpointer  data)
{
  static const struct
  {
    const char *shape;
    gsize       n_zeros, size;
    VnShape     input;
    int         code;       /* of the error; -1: it is read */
  } cases[] = {
    { "(20000, 20000)", 2000, 1600000100, { 2, { 1, 3 } }, VN_ERROR_SHAPE },
    { "(1, 3)", 2000, 2000000000, { 2, { 1, 3 } }, -1 },
    { "(2, 3)", 2000, 2000000000, { 2, { 1, 3 } }, -1 },
    { "(1, 400000000)", 2000, 1600000100, { 2, { 1, VN_DIM_UNKNOWN } }, VN_ERROR_LIMIT },
    { "(1, 3)", 1, 100, { 2, { 1, 3 } }, VN_ERROR_MALFORMED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnInputSpec input = { (char *) "v", VN_DTYPE_F32, cases[i].input };
      g_autoptr(GBytes) packed = deflate_npy (cases[i].shape, cases[i].n_zeros);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      put_npz (folder, "bomb.npz", packed, cases[i].size);
      dataset = folder_open (folder, "bomb.npz", &input, 1, 0, NULL, &error);
      if (dataset != NULL)
        vn_dataset_load (dataset, 0, &tensor, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "read");
      if (cases[i].code < 0)
        g_assert_no_error (error);
      else
        g_assert_error (error, VN_ERROR, cases[i].code);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  FOLDER_TEST ("/tensors/shapes", test_shapes);
  FOLDER_TEST ("/tensors/types", test_types);
  FOLDER_TEST ("/tensors/raw", test_raw);
  FOLDER_TEST ("/tensors/texts", test_texts);
  FOLDER_TEST ("/tensors/text-types", test_text_types);
  FOLDER_TEST ("/tensors/stack", test_stack);
  FOLDER_TEST ("/tensors/stack-of-planes", test_stack_of_planes);
  FOLDER_TEST ("/tensors/stack-in-folder", test_stack_in_folder);
  FOLDER_TEST ("/tensors/npz-bomb", test_npz_bomb);

  return g_test_run ();
}
