/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-checked.h"
#include "vn-error.h"
#include "vn-half.h"
#include "vn-tensor.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
test_half (void)
{
  static const struct { guint16 half; float value; } cases[] = {
    { 0x0000, 0.f }, { 0x3c00, 1.f }, { 0xc000, -2.f }, { 0x7bff, 65504.f }, { 0x0001, 0x1p-24f },
    { 0x03ff, 0x3ffp-24f }, { 0x0400, 0x1p-14f }, { 0x7c00, INFINITY }, { 0xfc00, -INFINITY }, { 0x3555, 0x1.554p-2f },
  };
  static const struct { float value; guint16 half; } rounding[] = {
    { 1.f + 0x1p-11f, 0x3c00 },              /* tie: to even */
    { 1.f + 0x3p-11f, 0x3c02 },              /* tie: to even, upwards */
    { 1.f + 0x1.1p-11f, 0x3c01 },
    { 65519.f, 0x7bff }, { 65520.f, 0x7c00 }, { 1e30f, 0x7c00 },
    { 0x1p-25f, 0x0000 }, { 0x1.8p-25f, 0x0001 }, { 0x1.8p-24f, 0x0002 }, { -0x1p-30f, 0x8000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%04x: %g", cases[i].half, vn_half_to_float (cases[i].half));
      g_assert_cmpfloat (vn_half_to_float (cases[i].half), ==, cases[i].value);
      g_assert_cmphex (vn_half_from_float (cases[i].value), ==, cases[i].half);
    }
  for (guint i = 0; i < G_N_ELEMENTS (rounding); i++)
    {
      g_test_message ("%a -> %04x", rounding[i].value, vn_half_from_float (rounding[i].value));
      g_assert_cmphex (vn_half_from_float (rounding[i].value), ==, rounding[i].half);
    }
  g_assert_true (isnan (vn_half_to_float (vn_half_from_float (NAN))));
}

static void
test_half_every_value (void)
{
  for (guint i = 0; i < 0x10000; i++)
    {
      float value = vn_half_to_float (i);

      if (!isnan (value))
        g_assert_cmphex (vn_half_from_float (value), ==, i);
      if (!isnan (vn_bfloat_to_float (i)))
        g_assert_cmphex (vn_bfloat_from_float (vn_bfloat_to_float (i)), ==, i);
    }
  g_assert_cmphex (vn_bfloat_from_float (1.f + 0x1p-8f), ==, 0x3f80);
  g_assert_cmphex (vn_bfloat_from_float (1.f + 0x3p-8f), ==, 0x3f82);
  g_assert_true (isnan (vn_bfloat_to_float (vn_bfloat_from_float (NAN))));
}

static void
test_dtype (void)
{
  gint64 min, max;

  for (guint i = 1; i < VN_N_DTYPES; i++)
    {
      if (g_str_equal (vn_dtype_get_name (i), "undefined"))
        continue;
      g_assert_cmpint (vn_dtype_from_name (vn_dtype_get_name (i)), ==, i);
      g_assert_true (vn_dtype_is_valid (i) == !vn_dtype_is_block (i));
    }
  g_assert_false (vn_dtype_is_valid (VN_DTYPE_S2 + 1));
  g_assert_false (vn_dtype_is_valid (VN_DTYPE_BFP16));
  g_assert_false (vn_dtype_is_valid (G_MAXINT64));
  g_assert_cmpint (vn_dtype_from_name ("e4m3"), ==, VN_DTYPE_F8E4M3);
  g_assert_cmpint (vn_dtype_from_name ("u8"), ==, VN_DTYPE_U8);
  g_assert_cmpint (vn_dtype_from_name ("fp16"), ==, VN_DTYPE_F16);
  g_assert_cmpint (vn_dtype_from_name ("f8"), ==, VN_DTYPE_UNDEFINED);
  g_assert_cmpint (vn_dtype_from_name ("nonsense"), ==, VN_DTYPE_UNDEFINED);
  g_assert_true (vn_dtype_integer_range (VN_DTYPE_S4, &min, &max));
  g_assert_cmpint (min, ==, -8);
  g_assert_cmpint (max, ==, 7);
  g_assert_true (vn_dtype_integer_range (VN_DTYPE_U16, &min, &max));
  g_assert_cmpint (max, ==, 65535);
  g_assert_true (vn_dtype_integer_range (VN_DTYPE_S64, &min, &max));
  g_assert_cmpint (min, ==, G_MININT64);
  g_assert_false (vn_dtype_integer_range (VN_DTYPE_F32, &min, &max));
}

static void
test_broadcast (void)
{
  static const struct { VnShape a, b; gboolean fits; VnShape out; } cases[] = {
    { { 2, { 3, 4 } }, { 1, { 4 } }, TRUE, { 2, { 3, 4 } } },
    { { 2, { 3, 1 } }, { 2, { 1, 5 } }, TRUE, { 2, { 3, 5 } } },
    { { 0 }, { 3, { 2, 3, 4 } }, TRUE, { 3, { 2, 3, 4 } } },
    { { 2, { 3, 4 } }, { 1, { 3 } }, FALSE, { 0 } },
    { { 2, { VN_DIM_UNKNOWN, 4 } }, { 2, { 7, 1 } }, TRUE, { 2, { 7, 4 } } },
    { { 1, { VN_DIM_UNKNOWN } }, { 1, { 1 } }, TRUE, { 1, { VN_DIM_UNKNOWN } } },
    { { 2, { 0, 4 } }, { 1, { 1 } }, TRUE, { 2, { 0, 4 } } },
    { { VN_RANK_UNKNOWN }, { 1, { 3 } }, TRUE, { VN_RANK_UNKNOWN } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnShape out;

      g_test_message ("case %u", i);
      g_assert_cmpint (vn_shape_broadcast (&cases[i].a, &cases[i].b, &out), ==, cases[i].fits);
      if (cases[i].fits)
        g_assert_true (vn_shape_equal (&out, &cases[i].out));
    }
}

static void
test_sizes (void)
{
  VnShape huge = VN_SHAPE (G_MAXINT64 / 2, 8);
  VnShape odd = VN_SHAPE (3);
  g_autoptr(GError) error = NULL;
  gsize n, bytes;

  g_assert_false (vn_tensor_size_in_bytes (VN_DTYPE_F32, &huge, &n, &bytes));
  g_assert_null (vn_tensor_new (VN_DTYPE_F32, &huge, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_assert_true (vn_tensor_size_in_bytes (VN_DTYPE_U4, &odd, &n, &bytes));
  g_assert_cmpuint (bytes, ==, 2);
  g_assert_true (vn_tensor_size_in_bytes (VN_DTYPE_F32, &VN_SHAPE_SCALAR, &n, &bytes));
  g_assert_cmpuint (bytes, ==, 4);
}

static void
test_views (void)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("x\x01\x00\x02\x00", 5);
  g_autoptr(GBytes) tail = g_bytes_new_from_bytes (bytes, 1, 4);
  VnShape two = VN_SHAPE (2), three = VN_SHAPE (3);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) view = vn_tensor_new_view (VN_DTYPE_S16, &two, tail, &error);
  g_autoptr(VnTensor) aligned = NULL;

  g_assert_no_error (error);
  g_assert_cmpint (vn_tensor_get_s64 (view, 1), ==, 2);
  aligned = vn_tensor_get_aligned (view, &error);
  g_assert_true (vn_tensor_equal (view, aligned));
  g_assert_cmpuint ((guintptr) aligned->data % 2, ==, 0);
  g_assert_null (vn_tensor_new_view (VN_DTYPE_S16, &three, tail, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
}

static void
test_convert (void)
{
  static const float values[] = { -1.5f, 0.f, 300.f, NAN };
  g_autoptr(VnTensor) f32 = vn_tensor_new_f32 (&VN_SHAPE (4), values);
  g_autoptr(VnTensor) s64 = vn_tensor_convert (f32, VN_DTYPE_S64, NULL);
  g_autoptr(VnTensor) boolean = vn_tensor_convert (f32, VN_DTYPE_BOOL, NULL);
  g_autoptr(VnTensor) half = vn_tensor_convert (f32, VN_DTYPE_F16, NULL);
  g_autoptr(VnTensor) back = vn_tensor_convert (half, VN_DTYPE_F32, NULL);
  g_autoptr(VnTensor) narrow = vn_tensor_convert (s64, VN_DTYPE_S8, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (vn_tensor_get_s64 (s64, 0), ==, -1);
  g_assert_cmpint (vn_tensor_get_s64 (s64, 2), ==, 300);
  g_assert_cmpint (vn_tensor_get_s64 (boolean, 0), ==, 1);
  g_assert_cmpint (vn_tensor_get_s64 (boolean, 1), ==, 0);
  g_assert_cmpfloat (vn_tensor_get_double (back, 2), ==, 300.0);
  g_assert_true (isnan (vn_tensor_get_double (back, 3)));
  g_assert_cmpint (vn_tensor_get_s64 (narrow, 2), ==, 44);
  g_assert_null (vn_tensor_convert (f32, VN_DTYPE_STRING, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
}

static void
test_packed (void)
{
  g_autoptr(VnTensor) s4 = vn_tensor_new (VN_DTYPE_S4, &VN_SHAPE (3), NULL);

  ((guint8 *) s4->data)[0] = 0x8f;
  ((guint8 *) s4->data)[1] = 0x07;
  g_assert_cmpint (vn_tensor_get_s64 (s4, 0), ==, -1);
  g_assert_cmpint (vn_tensor_get_s64 (s4, 1), ==, -8);
  g_assert_cmpint (vn_tensor_get_s64 (s4, 2), ==, 7);
}

static void
test_npy_round_trip (void)
{
  static const VnDType dtypes[] = { VN_DTYPE_F32, VN_DTYPE_F64, VN_DTYPE_F16, VN_DTYPE_U8, VN_DTYPE_S64, VN_DTYPE_BOOL };
  g_autofree char *folder = g_dir_make_tmp ("vernier-npy-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "x.npy", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_tensor_new (dtypes[i], &VN_SHAPE (2, 1, 3), NULL);
      g_autoptr(VnTensor) back = NULL;

      memset (tensor->data, 1, tensor->n_bytes);
      g_assert_true (vn_npy_write (path, tensor, &error));
      back = vn_npy_read (path, &error);
      g_assert_no_error (error);
      g_assert_true (vn_tensor_equal (tensor, back));
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* The format has no bfloat16. */
static void
test_npy_bfloat (void)
{
  static const guint16 halves[] = { 0x3f80, 0xc2f7, 0x0001 };
  static const float wide[] = { 1, -123.5f, 0x1p-133f };
  g_autofree char *folder = g_dir_make_tmp ("vernier-npy-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "x.npy", NULL);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_BF16, &VN_SHAPE (3), NULL), back = NULL;
  g_autoptr(GError) error = NULL;

  memcpy (tensor->data, halves, sizeof halves);
  g_assert_true (vn_npy_write (path, tensor, &error));
  back = vn_npy_read (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (back->dtype, ==, VN_DTYPE_F32);
  g_assert_cmpmem (back->data, back->n_bytes, wide, sizeof wide);
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_npy_hostile (void)
{
#define HEADER(text) "\x93NUMPY\x01\x00" text
  static const struct { const char *name; const char *data; gsize size; } cases[] = {
    { "empty", "", 0 },
    { "magic only", "\x93NUMPY", 6 },
    { "header longer than the file", HEADER ("\xff\xff{}"), 12 },
    { "no shape", HEADER ("\x12\x00{'descr': '<f4', }"), 28 },
    { "data cut short", HEADER ("\x3c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4, 5), }  xxxx"), 74 },
    { "overflowing shape", HEADER ("\x4c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387900, 9), }"), 86 },
    { "no order", HEADER ("\x24\x00{'descr': '<f4', 'shape': (1, 1), }  abcd"), 50 },
    { "object", HEADER ("\x38\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), 66 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GBytes) bytes = g_bytes_new_static (cases[i].data, cases[i].size);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_npy_parse (bytes, &error);

      g_test_message ("%s: %s", cases[i].name, error != NULL ? error->message : "accepted");
      g_assert_null (tensor);
      g_assert_nonnull (error);
    }
}

/* 2×3 numbers from 1 on, as numpy.save writes them in each order of bytes and of axes. */
static void
test_npy_orders (void)
{
  static const struct { const char *name; const char *header; gboolean swapped, reversed; } cases[] = {
    { "C", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", FALSE, FALSE },
    { "Fortran", "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", FALSE, TRUE },
    { "big-endian", "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", TRUE, FALSE },
    { "both", "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", TRUE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      static const gint16 c_order[] = { 1, 2, 3, 4, 5, 6 }, fortran_order[] = { 1, 4, 2, 5, 3, 6 };
      const gint16 *numbers = cases[i].reversed ? fortran_order : c_order;
      gsize length = strlen (cases[i].header);
      g_autoptr(GByteArray) file = g_byte_array_new ();
      const guint8 head[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8) length, 0 };
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      g_byte_array_append (file, head, sizeof head);
      g_byte_array_append (file, (const guint8 *) cases[i].header, (guint) length);
      for (guint k = 0; k < 6; k++)
        {
          guint16 word = cases[i].swapped ? GUINT16_TO_BE ((guint16) numbers[k]) : GUINT16_TO_LE ((guint16) numbers[k]);

          g_byte_array_append (file, (const guint8 *) &word, sizeof word);
        }
      bytes = g_bytes_new (file->data, file->len);
      tensor = vn_npy_parse (bytes, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < 6; k++)
        g_assert_cmpint (vn_tensor_get_s64 (tensor, k), ==, (gint64) k + 1);
    }
}

/* The half byte behind an odd number of elements is 0, whatever was in that memory before. */
static void
test_padding (void)
{
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(VnTensor) tensor = NULL;
      guint8 *used = g_malloc (200);

      memset (used, 0xff, 200);
      g_free (used);
      tensor = vn_tensor_new (VN_DTYPE_U4, &VN_SHAPE (2 * i + 1), NULL);
      g_assert_cmpuint (((const guint8 *) tensor->data)[tensor->n_bytes - 1], ==, 0);
    }
}

static void
test_reshaped_holds_nothing_on_failure (void)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (4), (const float[]) { 1, 2, 3, 4 });
  g_autoptr(VnTensor) square = vn_tensor_new_reshaped (tensor, &VN_SHAPE (2, 2), NULL);
  g_autoptr(GError) error = NULL;

  g_assert_nonnull (square);
  g_assert_true (g_atomic_ref_count_compare (&tensor->ref, 2));
  g_assert_null (vn_tensor_new_reshaped (tensor, &VN_SHAPE (3), &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_clear_error (&error);
  tensor->dtype = VN_DTYPE_UNDEFINED;   /* as many elements, and nothing that could be wrapped */
  g_assert_null (vn_tensor_new_reshaped (tensor, &VN_SHAPE (2, 2), &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  tensor->dtype = VN_DTYPE_F32;
  g_assert_true (g_atomic_ref_count_compare (&tensor->ref, 2));
}

/* More than one thread looks at, with numbers of each kind at places that are known. */
static void
test_not_finite (void)
{
  static const gint64 sizes[] = { 0, 1, 1000, 3000001 };
  static const VnDType types[] = { VN_DTYPE_F32, VN_DTYPE_F16, VN_DTYPE_F64 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (types); i++)
    {
      g_autoptr(VnTensor) floats = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (sizes[i % G_N_ELEMENTS (sizes)]), NULL), tensor = NULL;
      gsize wanted_nan = 0, wanted_infinite = 0;
      VnTensorFacts facts;

      for (gsize k = 0; k < floats->n_elements; k++)
        {
          ((float *) floats->data)[k] = k % 997 == 3 ? NAN : k % 1013 == 5 ? -INFINITY : k % 7 == 0 ? 0 : -1.5f;
          wanted_nan += k % 997 == 3;
          wanted_infinite += k % 997 != 3 && k % 1013 == 5;
        }
      tensor = vn_tensor_convert (floats, types[i / G_N_ELEMENTS (sizes)], NULL);
      vn_tensor_get_facts (tensor, &facts);
      g_assert_cmpuint (facts.n_nan, ==, wanted_nan);
      g_assert_cmpuint (facts.n_infinite, ==, wanted_infinite);
    }
}

/* Facts of a view, which are kept, of a copy of it, and of a view that no load instruction may read from; a digest tells one
 * bit. */
static void
test_facts (void)
{
  static const gint64 sizes[] = { 1, 5, 4096, 4099, 262144, 700001 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint skip = 0; skip < 2; skip++)
      {
        const VnShape shape = VN_SHAPE (sizes[i]);
        const gsize n = (gsize) sizes[i];
        g_autofree guint8 *data = g_malloc0 (n * sizeof (float) + 1);
        g_autofree float *numbers = g_new (float, n);
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(VnTensor) view = NULL, copy = NULL;
        VnTensorFacts facts, again, copied;

        for (gsize k = 0; k < n; k++)
          numbers[k] = k % 3 == 0 ? -0.f : (float) (gint64) (k * 7919 % 1000) / 500 - 1;
        numbers[n / 2] = 12;
        numbers[n - 1] = n > 5 ? -INFINITY : -13;
        if (n > 4096)
          numbers[4096] = NAN;
        memcpy (data + skip, numbers, n * sizeof (float));
        bytes = g_bytes_new_static (data + skip, n * sizeof (float));
        view = vn_tensor_new_view (VN_DTYPE_F32, &shape, bytes, NULL);
        copy = vn_tensor_new_copy (VN_DTYPE_F32, &shape, numbers, NULL);
        vn_tensor_get_facts (view, &facts);
        vn_tensor_get_facts (view, &again);
        vn_tensor_get_facts (copy, &copied);
        g_assert_cmpmem (&facts, sizeof facts, &again, sizeof again);
        g_assert_cmpmem (&facts, sizeof facts, &copied, sizeof copied);
        g_assert_cmpuint (facts.n_nan, ==, n > 4096);
        g_assert_cmpuint (facts.n_infinite, ==, n > 5);
        g_assert_cmpfloat (facts.max, ==, n > 1 ? 12 : -13);
        g_assert_cmpfloat (facts.min, ==, n > 5 ? -1 : -13);

        ((guint8 *) copy->data)[n * sizeof (float) / 3] ^= 1;
        vn_tensor_get_facts (copy, &copied);
        g_assert_cmpuint (vn_digest_get (&copied.digest), !=, vn_digest_get (&facts.digest));
      }
}

/* Of zeros of both signs and of nothing that is finite there is no negative zero, and no infinite end. */
static void
test_facts_of_few (void)
{
  static const float rows[][3] = { { -0.f, 0, -0.f }, { NAN, NAN, NAN }, { INFINITY, -INFINITY, NAN } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (3), rows[i]);
      VnTensorFacts facts;

      vn_tensor_get_facts (tensor, &facts);
      g_assert_true (facts.min == 0 && !signbit (facts.min));
      g_assert_true (facts.max == 0 && !signbit (facts.max));
    }
}

#define CONSTANT_BYTES ((gsize) 8 << 20)

/* Anonymous memory of this process, in bytes */
static gsize
get_anonymous (void)
{
  g_autofree char *text = NULL;
  const char *line;

  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  line = strstr (text, "RssAnon:");
  g_assert_nonnull (line);
  return (gsize) g_ascii_strtoull (line + strlen ("RssAnon:"), NULL, 10) << 10;
}

static void
make_constants (VnTensor **tensors,
                guint      n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GError) error = NULL;

      tensors[i] = vn_tensor_new_constant (VN_DTYPE_U8, &VN_SHAPE ((gint64) CONSTANT_BYTES), &error);
      g_assert_no_error (error);
      g_assert_cmpuint ((guintptr) tensors[i]->data % 64, ==, 0);
      memset (tensors[i]->data, (int) i + 1, CONSTANT_BYTES);
    }
}

/* Of 160 MB of weights no more than 96 are in anonymous memory, when they are made a second time, too; and where no file can be
 * made they all are. */
static void
test_constants (void)
{
  VnTensor *tensors[20];
  gsize before = get_anonymous ();

  for (guint round = 0; round < 2; round++)
    {
      make_constants (tensors, G_N_ELEMENTS (tensors));
      g_assert_cmpuint (get_anonymous () - before, <, 12 * CONSTANT_BYTES);
      for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
        for (gsize k = 0; k < CONSTANT_BYTES; k += 4095)
          g_assert_cmpuint (((guint8 *) tensors[i]->data)[k], ==, i + 1);
      vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
    }
}

static void
test_constants_without_files (void)
{
  VnTensor *tensors[8];

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }
  g_setenv ("XDG_CACHE_HOME", "/proc/none", TRUE);
  make_constants (tensors, G_N_ELEMENTS (tensors));
  vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/half", test_half);
  g_test_add_func ("/tensor/half-every-value", test_half_every_value);
  g_test_add_func ("/tensor/dtype", test_dtype);
  g_test_add_func ("/tensor/broadcast", test_broadcast);
  g_test_add_func ("/tensor/sizes", test_sizes);
  g_test_add_func ("/tensor/views", test_views);
  g_test_add_func ("/tensor/convert", test_convert);
  g_test_add_func ("/tensor/packed", test_packed);
  g_test_add_func ("/tensor/padding", test_padding);
  g_test_add_func ("/tensor/not-finite", test_not_finite);
  g_test_add_func ("/tensor/facts", test_facts);
  g_test_add_func ("/tensor/facts-of-few", test_facts_of_few);
  g_test_add_func ("/tensor/constants", test_constants);
  g_test_add_func ("/tensor/constants-without-files", test_constants_without_files);
  g_test_add_func ("/tensor/npy-round-trip", test_npy_round_trip);
  g_test_add_func ("/tensor/npy-bfloat", test_npy_bfloat);
  g_test_add_func ("/tensor/npy-hostile", test_npy_hostile);
  g_test_add_func ("/tensor/npy-orders", test_npy_orders);
  g_test_add_func ("/tensor/reshaped-failure", test_reshaped_holds_nothing_on_failure);
  return g_test_run ();
}
