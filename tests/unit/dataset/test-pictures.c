/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What becomes of pictures: small ones that are made here, refused ones, and what is computed on several processors. */

#include "picture-fixture.h"

#include "vn-error.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const guint8 four[] = { 255, 0, 0,   0, 255, 0,   0, 0, 255,   255, 255, 255 };   /* 2 × 2 */

static void
test_values (void)
{
  static const struct
  {
    const char   *what;
    VnShape       shape;
    VnDType       dtype;
    VnLayout      layout;
    VnColorOrder  color;
    float         mean, std;
    double        expected[16];
    guint         n;
  } cases[] = {
    { "nchw", { 4, { 1, 3, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1,
      { 255, 0, 0, 255,  0, 255, 0, 255,  0, 0, 255, 255 }, 12 },
    { "bgr", { 4, { 1, 3, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_BGR, 0, 1,
      { 0, 0, 255, 255,  0, 255, 0, 255,  255, 0, 0, 255 }, 12 },
    { "nhwc", { 4, { 1, 2, 2, 3 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1,
      { 255, 0, 0,  0, 255, 0,  0, 0, 255,  255, 255, 255 }, 12 },
    { "no batch", { 3, { 3, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 255,
      { 1, 0, 0, 1,  0, 1, 0, 1,  0, 0, 1, 1 }, 12 },
    { "luma", { 4, { 1, 1, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1, { 76, 150, 29, 255 }, 4 },
    { "rank 2", { 2, { 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1, { 76, 150, 29, 255 }, 4 },
    { "scaled", { 4, { 1, 1, 2, 2 } }, VN_DTYPE_F64, VN_LAYOUT_AUTO, VN_COLOR_RGB, 127.5f, 127.5f,
      { 76 / 127.5 - 1, 150 / 127.5 - 1, 29 / 127.5 - 1, 1 }, 4 },
    { "half", { 4, { 1, 1, 2, 2 } }, VN_DTYPE_F16, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1, { 76, 150, 29, 255 }, 4 },
    { "uint8", { 4, { 1, 1, 2, 2 } }, VN_DTYPE_U8, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1, { 76, 150, 29, 255 }, 4 },
    { "int8 cut", { 4, { 1, 1, 2, 2 } }, VN_DTYPE_S8, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1, { 76, 127, 29, 127 }, 4 },
    { "open dims", { 4, { -1, -1, -1, -1 } }, VN_DTYPE_F32, VN_LAYOUT_NHWC, VN_COLOR_RGB, 0, 1,
      { 255, 0, 0,  0, 255, 0,  0, 0, 255,  255, 255, 255 }, 12 },
    { "batch of 2", { 4, { 2, 1, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1,
      { 76, 150, 29, 255, 76, 150, 29, 255 }, 8 },
    { "four channels", { 4, { 1, 4, 2, 2 } }, VN_DTYPE_F32, VN_LAYOUT_AUTO, VN_COLOR_RGB, 0, 1,
      { 255, 0, 0, 255,  0, 255, 0, 255,  0, 0, 255, 255,  0, 0, 0, 0 }, 16 },
  };
  g_autofree char *path = write_ppm ("vn-values.ppm", 2, 2, four);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      VnPreprocess preprocess;

      vn_preprocess_init (&preprocess);
      preprocess.layout = cases[i].layout;
      preprocess.color = cases[i].color;
      for (guint c = 0; c < 4; c++)
        {
          preprocess.mean[c] = cases[i].mean;
          preprocess.std[c] = cases[i].std;
        }
      tensor = load_picture (path, &preprocess, &cases[i].shape, cases[i].dtype, &error);
      g_test_message ("%s", cases[i].what);
      g_assert_no_error (error);
      g_assert_cmpint (tensor->dtype, ==, cases[i].dtype);
      g_assert_cmpuint (tensor->n_elements, ==, cases[i].n);
      for (guint k = 0; k < cases[i].n; k++)
        {
          g_test_message ("%u: %g, expected %g", k, vn_tensor_get_double (tensor, k), cases[i].expected[k]);
          g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (tensor, k), cases[i].expected[k], 1e-6);
        }
    }
  g_unlink (path);
}

static void
test_letterbox (void)
{
  static const double expected[] = { 7, 7, 7, 7,  76, 76, 150, 150,  76, 76, 150, 150,  7, 7, 7, 7 };
  const guint8 two[] = { 255, 0, 0,   0, 255, 0 };
  g_autofree char *path = write_ppm ("vn-letterbox.ppm", 2, 1, two);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = NULL;
  VnPreprocess preprocess;

  vn_preprocess_init (&preprocess);
  preprocess.fit = VN_FIT_LETTERBOX;
  preprocess.fill = 7;
  tensor = load_picture (path, &preprocess, &VN_SHAPE (1, 1, 4, 4), VN_DTYPE_F32, &error);
  g_assert_no_error (error);
  for (guint k = 0; k < 16; k++)
    {
      g_test_message ("%u: %g", k, vn_tensor_get_double (tensor, k));
      if (expected[k] == 7)
        g_assert_cmpfloat (vn_tensor_get_double (tensor, k), ==, 7);
      else
        g_assert_cmpfloat (vn_tensor_get_double (tensor, k), >=, 76);
    }
  g_unlink (path);
}

static void
test_refused (void)
{
  static const struct
  {
    VnShape  shape;
    VnDType  dtype;
    guint    width;
    float    std;
    int      code;
  } cases[] = {
    { { 2, { 1, 128 } }, VN_DTYPE_STRING, 0, 1, VN_ERROR_SHAPE },
    { { 1, { 128 } }, VN_DTYPE_F32, 0, 1, VN_ERROR_SHAPE },
    { { 4, { 1, 7, 5, 5 } }, VN_DTYPE_F32, 0, 1, VN_ERROR_SHAPE },
    { { 5, { 1, 3, 5, 5, 5 } }, VN_DTYPE_F32, 0, 1, VN_ERROR_SHAPE },
    { { 4, { 1, 3, 5, 5 } }, VN_DTYPE_F32, 6, 1, VN_ERROR_SETTING },
    { { 4, { 1, 3, 5, 5 } }, VN_DTYPE_F32, 0, 0, VN_ERROR_SETTING },
    { { 4, { 1, 3, 5, 5 } }, VN_DTYPE_BOOL, 0, 1, VN_ERROR_SHAPE },
  };
  g_autofree char *path = write_ppm ("vn-refused.ppm", 2, 2, four);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      VnPreprocess preprocess;

      vn_preprocess_init (&preprocess);
      preprocess.width = cases[i].width;
      preprocess.std[0] = cases[i].std;
      dataset = open_picture (path, &preprocess, &cases[i].shape, cases[i].dtype, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "opened");
      g_assert_null (dataset);
      g_assert_error (error, VN_ERROR, cases[i].code);
    }
  g_unlink (path);
}

/* Somebody has cancelled: a picture is not decoded to its end. */
static void
test_cancelled (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-cancelled.png", NULL);
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 64, 64);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  gdk_pixbuf_fill (pixbuf, 0);
  g_assert_true (gdk_pixbuf_save (pixbuf, path, "png", NULL, NULL));
  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  g_assert_null (vn_pixbuf_read (path, 0, &error));
  g_cancellable_pop_current (cancellable);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_unlink (path);
}

/* A JPEG that goes over its pixels again and again. */
static void
test_many_passes (void)
{
  static const char scan[] = "\xff\xda\0\x08\1\1\0\0\0\0\x12";
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-passes.jpg", NULL);
  g_autoptr(GString) data = g_string_new_len ("\xff\xd8\xff\xe0\0\2", 6);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 101; i++)
    g_string_append_len (data, scan, sizeof scan - 1);
  g_string_append_len (data, "\xff\xd9", 2);
  g_assert_true (g_file_set_contents (path, data->str, (gssize) data->len, NULL));
  g_assert_null (vn_pixbuf_read (path, 0, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_unlink (path);
}

/* A PNG that says it has 60000 × 60000 pixels. */
static const char large_png[] =
  "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\xea\x60\0\0\xea\x60\x08\x02\0\0\0\x0f\xb0\xe2\x15"
  "\0\0\0\x0cIDATxxxxxxxxxxxx\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82";
static const char large_ppm[] = "P6\n# a comment\n60000 60000\n255\n12345678901234567890";

static void
test_too_large (void)
{
  static const struct
  {
    const char *data;
    gsize       size;
  } cases[] = {
    { large_png, sizeof large_png - 1 },
    { large_ppm, sizeof large_ppm - 1 },
  };
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-large.png", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      VnPreprocess preprocess;

      g_assert_true (g_file_set_contents (path, cases[i].data, (gssize) cases[i].size, NULL));
      vn_preprocess_init (&preprocess);
      tensor = load_picture (path, &preprocess, &VN_SHAPE (1, 3, 8, 8), VN_DTYPE_F32, &error);
      g_test_message ("%s", error != NULL ? error->message : "read");
      g_assert_null (tensor);
      g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
    }
  g_unlink (path);
}

static void
append_16 (GString *text,
           guint    value,
           gboolean big)
{
  g_string_append_c (text, (char) (big ? value >> 8 : value & 0xff));
  g_string_append_c (text, (char) (big ? value & 0xff : value >> 8));
}

static void
append_32 (GString *text,
           guint    value,
           gboolean big)
{
  append_16 (text, big ? value >> 16 : value & 0xffff, big);
  append_16 (text, big ? value & 0xffff : value >> 16, big);
}

/* Eight pixels of 16 bits a channel, from black to @most. */
static void
append_pixels (GString *text,
               guint    most,
               guint    n_channels,
               gboolean big)
{
  for (guint i = 0; i < 8 * n_channels; i++)
    append_16 (text, most * (i / n_channels) / 7, big);
}

static GString *
make_tiff (guint    most,
           guint    n_channels,
           gboolean big)
{
  static const guint order[] = { 256, 257, 258, 259, 262, 273, 277, 278, 279 };
  const guint after = 8 + 2 + G_N_ELEMENTS (order) * 12 + 4;
  const guint values[] = { 8, 1, n_channels > 2 ? after : 16, 1, n_channels > 2 ? 2 : 1, after + 2 * n_channels, n_channels, 1,
                           16 * n_channels };
  GString *text = g_string_new (big ? "MM" : "II");

  append_16 (text, 42, big);
  append_32 (text, 8, big);
  append_16 (text, G_N_ELEMENTS (order), big);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      const gboolean is_place = order[i] == 273 || order[i] == 279 || (order[i] == 258 && n_channels > 2);

      append_16 (text, order[i], big);
      append_16 (text, is_place && order[i] != 258 ? 4 : 3, big);
      append_32 (text, order[i] == 258 ? n_channels : 1, big);
      if (is_place)
        append_32 (text, values[i], big);
      else
        append_16 (text, values[i], big);
      if (!is_place)
        append_16 (text, 0, big);
    }
  append_32 (text, 0, big);
  for (guint i = 0; i < n_channels; i++)
    append_16 (text, 16, big);
  append_pixels (text, most, n_channels, big);
  return text;
}

static GString *
make_pnm (guint most,
          guint n_channels,
          guint white)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "P%c\n# 16 bits\n8 1\n%u\n", n_channels == 3 ? '6' : '5', white);
  append_pixels (text, most, n_channels, TRUE);
  return text;
}

static void
check_bits (GString    *text,
            const char *what,
            gboolean    is_dim)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-bits.png", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = NULL;
  VnPreprocess preprocess;

  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
  vn_preprocess_init (&preprocess);
  tensor = load_picture (path, &preprocess, &VN_SHAPE (1, 3, 1, 8), VN_DTYPE_F32, &error);
  g_test_message ("%s: %s", what, error != NULL ? error->message : "read");
  if (is_dim)
    {
      g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "12-bit"));
    }
  else
    g_assert_no_error (error);
  g_unlink (path);
  g_string_free (text, TRUE);
}

/* Numbers of 12 bits in files of 16 are refused in words, whatever the file; not where it says that 4095 is white, or shows
 * more. */
static void
test_twelve_bits (void)
{
  for (guint n_channels = 1; n_channels <= 3; n_channels += 2)
    {
      for (guint big = 0; big < 2; big++)
        {
          check_bits (make_tiff (4095, n_channels, big), "TIFF up to 4095", TRUE);
          check_bits (make_tiff (65535, n_channels, big), "TIFF up to 65535", FALSE);
          check_bits (make_tiff (8191, n_channels, big), "TIFF up to 8191", FALSE);
        }
      check_bits (make_pnm (4095, n_channels, 65535), "PNM up to 4095 of 65535", TRUE);
      check_bits (make_pnm (65535, n_channels, 65535), "PNM up to 65535", FALSE);
      check_bits (make_pnm (4095, n_channels, 4095), "PNM up to 4095 of 4095", FALSE);
      check_bits (make_pnm (0, n_channels, 65535), "all black", FALSE);
    }
}

/* A vector drawing that calls itself a picture is not let through to its loader. */
static void
test_disguised (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-disguised.png", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = NULL;
  VnPreprocess preprocess;

  g_assert_true (g_file_set_contents (path, "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", -1, NULL));
  vn_preprocess_init (&preprocess);
  tensor = load_picture (path, &preprocess, &VN_SHAPE (1, 3, 8, 8), VN_DTYPE_F32, &error);
  g_test_message ("%s", error != NULL ? error->message : "read");
  g_assert_null (tensor);
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  g_unlink (path);
}

static void
test_preview (void)
{
  static const VnShape shapes[] = { { 4, { 1, 3, 2, 2 } }, { 4, { 1, 2, 2, 3 } } };
  g_autofree char *path = write_ppm ("vn-preview.ppm", 2, 2, four);

  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
    for (guint color = 0; color < 2; color++)
      {
        g_autoptr(GError) error = NULL;
        g_autoptr(VnDataset) dataset = NULL;
        g_autoptr(GdkPixbuf) seen = NULL;
        g_autoptr(GdkPixbuf) file = NULL;
        VnPreprocess preprocess;

        vn_preprocess_init (&preprocess);
        g_assert_true (vn_preprocess_set_preset (&preprocess, "minus-one-one", &error));
        preprocess.color = color;
        dataset = open_picture (path, &preprocess, &shapes[s], VN_DTYPE_F32, &error);
        g_assert_no_error (error);
        seen = vn_dataset_load_preview (dataset, 0, TRUE, 0, &error);
        g_assert_no_error (error);
        file = vn_dataset_load_preview (dataset, 0, FALSE, 1, &error);
        g_assert_no_error (error);
        g_assert_cmpint (gdk_pixbuf_get_width (file), ==, 1);
        for (guint y = 0; y < 2; y++)
          {
            const guint8 *row = gdk_pixbuf_read_pixels (seen) + y * (guint) gdk_pixbuf_get_rowstride (seen);

            g_assert_cmpmem (row, 6, four + 6 * y, 6);
          }
      }
  g_unlink (path);
}

static void
test_presets (void)
{
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);
  g_autoptr(GError) error = NULL;
  VnPreprocess preprocess = { 0 };

  g_assert_cmpuint (n, >=, 6);
  for (guint i = 0; i < n; i++)
    {
      preprocess.layout = VN_LAYOUT_NHWC;
      g_assert_true (vn_preprocess_set_preset (&preprocess, presets[i].id, &error));
      g_assert_no_error (error);
      g_assert_cmpint (preprocess.layout, ==, VN_LAYOUT_NHWC);
      for (guint c = 0; c < 3; c++)
        g_assert_cmpfloat (preprocess.std[c], >, 0);
      g_assert_true (vn_preprocess_find_preset (&preprocess) == &presets[i]);
      preprocess.mean[1] += 1;
      g_assert_null (vn_preprocess_find_preset (&preprocess));
    }
  g_assert_false (vn_preprocess_set_preset (&preprocess, "imagnet", &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* Only with -m perf: milliseconds per picture. */
static void
test_speed (void)
{
  g_autofree char *folder = picture_shared_file ("people");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  VnPreprocess preprocess;
  gint64 start;

  if (!g_test_perf () || folder == NULL)
    {
      g_test_skip ("run with -m perf and VN_SHARED");
      return;
    }
  vn_preprocess_init (&preprocess);
  dataset = open_picture (folder, &preprocess, &VN_SHAPE (1, 3, 240, 320), VN_DTYPE_F32, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      start = g_get_monotonic_time ();
      g_assert_true (vn_dataset_load (dataset, i, &tensor, &error));
      g_test_message ("%s: %.2f ms", vn_dataset_get_name (dataset, i), 1e-3 * (double) (g_get_monotonic_time () - start));
    }
}

/* ---- the instructions of lesser processors ---- */

static VnPicture
make_noise (guint width,
            guint height,
            guint channels)
{
  gsize size = (gsize) width * height * channels;
  VnPicture self = { width, height, channels, g_malloc0 (size + VN_PICTURE_MARGIN) };
  guint32 state = 12345;

  for (gsize i = 0; i < size; i++)
    {
      state = state * 1664525 + 1013904223;
      self.pixels[i] = (guint8) (state >> 24);
    }
  return self;
}

static void
test_levels (void)
{
  static const VnCrop windows[] = {
    { 224, 224, 0, 0, 224, 224 }, { 61, 50, 3, 2, 40, 45 }, { 200, 12, 1, 0, 199, 12 }, { 9, 200, 0, 7, 9, 150 },
    { 131, 77, 5, 5, 17, 17 },
  };

  for (guint channels = 1; channels <= 3; channels += 2)
    for (guint w = 0; w < G_N_ELEMENTS (windows); w++)
      {
        g_autoptr(GError) error = NULL;
        g_auto(VnPicture) picture = make_noise (131, 77, channels);
        g_auto(VnPicture) expected = { 0 };

        g_assert_true (vn_picture_resample_level (&picture, &windows[w], VN_LEVEL_GENERIC, &expected, &error));
        for (VnLevel level = vn_machine_get_best_level (); level < VN_LEVEL_GENERIC; level++)
          {
            g_auto(VnPicture) got = { 0 };

            g_test_message ("window %u, %u channels, level %u", w, channels, level);
            g_assert_true (vn_picture_resample_level (&picture, &windows[w], level, &got, &error));
            g_assert_cmpmem (got.pixels, (gsize) got.width * got.height * channels,
                             expected.pixels, (gsize) expected.width * expected.height * channels);
          }
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/pictures/values", test_values);
  g_test_add_func ("/pictures/letterbox", test_letterbox);
  g_test_add_func ("/pictures/refused", test_refused);
  g_test_add_func ("/pictures/too-large", test_too_large);
  g_test_add_func ("/pictures/cancelled", test_cancelled);
  g_test_add_func ("/pictures/many-passes", test_many_passes);
  g_test_add_func ("/pictures/disguised", test_disguised);
  g_test_add_func ("/pictures/twelve-bits", test_twelve_bits);
  g_test_add_func ("/pictures/preview", test_preview);
  g_test_add_func ("/pictures/presets", test_presets);
  g_test_add_func ("/pictures/levels", test_levels);
  g_test_add_func ("/pictures/speed", test_speed);

  return g_test_run ();
}
