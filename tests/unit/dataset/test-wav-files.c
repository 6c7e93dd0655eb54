/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sounds: every width and both kinds of numbers, channels mixed, what is cut to the length of an input, and damaged files. */
#include "vn-dataset-private.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N 40u
#define RATE 16000u

static void
put (GByteArray *out,
     guint64     value,
     guint       n)
{
  const guint64 little = GUINT64_TO_LE (value);

  g_byte_array_append (out, (const guint8 *) &little, n);
}

static double
wave (guint i,
      guint channel)
{
  return (channel == 0 ? 0.5 : -0.25) * ((int) (i % 8) - 4) / 4;
}

static void
put_value (GByteArray *out,
           guint       format,
           guint       bits,
           double      value)
{
  if (format == 3 && bits == 32)
    {
      float small = (float) value;
      guint32 word;

      memcpy (&word, &small, sizeof word);
      put (out, word, 4);
    }
  else if (format == 3)
    {
      guint64 word;

      memcpy (&word, &value, sizeof word);
      put (out, word, 8);
    }
  else if (bits == 8)
    put (out, (guint64) (gint64) (128 + value * 128), 1);
  else
    put (out, (guint64) (gint64) (value * pow (2, bits - 1)), bits / 8);
}

/* @said: of the values, in bytes; 0: as many as there are */
static GBytes *
make_wav (guint   format,
          guint   bits,
          guint   channels,
          guint   n,
          guint32 said,
          guint   odd)      /* bytes of a chunk before the values */
{
  GByteArray *out = g_byte_array_new ();
  const gboolean extensible = bits == 24;

  g_byte_array_append (out, (const guint8 *) "RIFF\0\0\0\0WAVEfmt ", 16);
  put (out, extensible ? 40 : 16, 4);
  put (out, extensible ? 0xfffe : format, 2);
  put (out, channels, 2);
  put (out, RATE, 4);
  put (out, RATE * channels * bits / 8, 4);
  put (out, channels * bits / 8, 2);
  put (out, bits, 2);
  if (extensible)
    {
      put (out, 22, 2);
      put (out, bits, 2);
      put (out, 3, 4);
      put (out, format, 8);
      put (out, 0, 8);
    }
  if (odd > 0)
    {
      g_byte_array_append (out, (const guint8 *) "LIST", 4);
      put (out, odd, 4);
      for (guint i = 0; i < odd + odd % 2; i++)
        put (out, 'x', 1);
    }
  g_byte_array_append (out, (const guint8 *) "data", 4);
  put (out, said > 0 ? said : n * channels * bits / 8, 4);
  for (guint i = 0; i < n; i++)
    for (guint c = 0; c < channels; c++)
      put_value (out, format, bits, wave (i, c));
  return g_byte_array_free_to_bytes (out);
}

static const struct { guint format, bits; double epsilon; } kinds[] = {
  { 1, 8, 0.01 }, { 1, 16, 1e-4 }, { 1, 24, 1e-6 }, { 1, 32, 1e-7 }, { 3, 32, 1e-7 }, { 3, 64, 1e-7 },
};

static void
test_kinds (void)
{
  const VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = { 2, { 1, VN_DIM_UNKNOWN } } };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint channels = 1; channels <= 2; channels++)
      {
        g_autoptr(GBytes) bytes = make_wav (kinds[k].format, kinds[k].bits, channels, N, k == 1 ? G_MAXUINT32 : 0, k);
        g_autoptr(GError) error = NULL;
        g_autoptr(VnTensor) tensor = vn_wav_parse (bytes, &input, 0, 1, &error);

        g_assert_no_error (error);
        g_assert_cmpuint (tensor->n_elements, ==, N);
        for (guint i = 0; i < N; i++)
          g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (tensor, i),
                                          channels == 1 ? wave (i, 0) : (wave (i, 0) + wave (i, 1)) / 2, kinds[k].epsilon);
      }
}

static void
test_lengths (void)
{
  static const struct { VnShape shape; gsize n; } cases[] = {
    { { 2, { 1, 16 } }, 16 }, { { 2, { 1, 100 } }, 100 }, { { 3, { VN_DIM_UNKNOWN, 16, 1 } }, 16 }, { { 1, { 8 } }, 8 },
    { { 1, { VN_DIM_UNKNOWN } }, N }, { { 3, { 1, 1, VN_DIM_UNKNOWN } }, N }, { { 2, { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN } }, N },
  };
  g_autoptr(GBytes) bytes = make_wav (1, 16, 1, N, 0, 0);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = cases[i].shape };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_wav_parse (bytes, &input, 0, 1, &error);
      g_autoptr(VnTensor) fitted = NULL;

      g_assert_no_error (error);
      g_assert_cmpuint (tensor->n_elements, ==, cases[i].n);
      fitted = vn_tensor_fit (tensor, &input, &error);
      g_assert_no_error (error);
      g_assert_cmpint (fitted->shape.rank, ==, cases[i].shape.rank);
      if (cases[i].n > N)      /* silence behind it */
        g_assert_cmpfloat (vn_tensor_get_double (tensor, N), ==, 0);
    }
}

/* Any part of a file, and every field with a value that is not right: an error, or a sound, never more than there is. */
static void
test_damaged (void)
{
  const VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = { 2, { 1, VN_DIM_UNKNOWN } } };
  g_autoptr(GBytes) whole = make_wav (1, 24, 2, N, 0, 3);
  gsize size;
  const guint8 *data = g_bytes_get_data (whole, &size);
  guint n_refused = 0;

  for (gsize n = 0; n < size; n++)
    {
      g_autoptr(GBytes) part = g_bytes_new (data, n);      /* a copy, so that reading beyond is seen */
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_wav_parse (part, &input, 0, 1, &error);

      g_assert_true ((tensor == NULL) == (error != NULL));
      n_refused += tensor == NULL;
    }
  g_assert_cmpuint (n_refused, ==, size);
  for (gsize at = 0; at < size - N * 6; at++)
    for (guint value = 0; value < 256; value += 51)
      {
        g_autofree guint8 *copy = g_memdup2 (data, size);
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(VnTensor) tensor = NULL;

        copy[at] = (guint8) value;
        bytes = g_bytes_new (copy, size);
        tensor = vn_wav_parse (bytes, &input, 0, 1, &error);
        g_assert_true ((tensor == NULL) == (error != NULL));
        if (tensor != NULL)
          g_assert_cmpuint (tensor->n_elements, <=, size);
      }
}

/* How many samples a file becomes, by what the network takes and whether it keeps a state; each is a part of the sound. */
static const struct { gint64 length; gboolean has_state; guint n; gint64 size; } cuts[] = {
  { 3, FALSE, VN_WAV_FRAMES, 3 }, { N / 4, FALSE, 4, N / 4 }, { N / 3, FALSE, 3, N / 3 }, { N, FALSE, 1, N },
  { 2 * N, FALSE, 1, 2 * N }, { VN_DIM_UNKNOWN, FALSE, 1, N }, { VN_DIM_UNKNOWN, TRUE, 1, 512 },   /* of 16 kHz */
};

static void
test_cut (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-cut.wav", NULL);
  g_autoptr(GBytes) bytes = make_wav (3, 32, 1, N, 0, 0);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);

  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++)
    {
      const VnInputSpec inputs[] = {
        { .name = (char *) "waveform", .dtype = VN_DTYPE_F32, .shape = { 2, { 1, cuts[i].length } } },
        { .name = (char *) "state", .dtype = VN_DTYPE_F32, .shape = { 2, { 1, 4 } } },
      };
      const guint n_inputs = cuts[i].has_state ? 2 : 1;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, inputs, n_inputs, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, cuts[i].n);
      for (guint k = 0; k < cuts[i].n; k++)
        {
          VnTensor *tensors[2] = { NULL, NULL };
          gsize at = 0;

          g_assert_true (vn_dataset_load (dataset, k, tensors, &error));
          g_assert_cmpint (tensors[0]->shape.dims[1], ==, cuts[i].size);
          while (at < N && fabsf (((float *) tensors[0]->data)[0] - (float) wave (at, 0)) > 1e-6f)
            at++;
          for (gint64 m = 0; m < cuts[i].size; m++)
            g_assert_cmpfloat_with_epsilon (((float *) tensors[0]->data)[m],
                                            at + (gsize) m < N ? (float) wave ((guint) (at + (gsize) m), 0) : 0, 1e-6);
          if (n_inputs > 1)
            g_assert_cmpfloat (((float *) tensors[1]->data)[0], ==, 0);
          vn_tensor_clear_all (tensors, n_inputs);
        }
    }
  g_unlink (path);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wav-files/kinds", test_kinds);
  g_test_add_func ("/wav-files/lengths", test_lengths);
  g_test_add_func ("/wav-files/damaged", test_damaged);
  g_test_add_func ("/wav-files/cut", test_cut);
  return g_test_run ();
}
