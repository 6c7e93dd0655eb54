/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of pictures against Pillow, whole and damaged. */
#include "picture-fixture.h"

#include "vn-error.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const char script[] =
  "import sys, numpy as np\n"
  "from PIL import Image, ImageOps\n"
  "path, out, mode, w, h, resize, fit = sys.argv[1:8]\n"
  "w, h, resize = int(w), int(h), int(resize)\n"
  "im = ImageOps.exif_transpose(Image.open(path)).convert(mode)\n"
  "if fit == 'crop':\n"
  "    iw, ih = im.size\n"
  "    nw, nh = (resize, int(resize * ih / iw)) if iw <= ih else (int(resize * iw / ih), resize)\n"
  "    im = im.resize((nw, nh), Image.BILINEAR)\n"
  "    top, left = int(round((nh - h) / 2.0)), int(round((nw - w) / 2.0))\n"
  "    im = im.crop((left, top, left + w, top + h))\n"
  "else:\n"
  "    im = im.resize((w, h), Image.BILINEAR)\n"
  "a = np.asarray(im, np.float32)\n"
  "a = a[None] if a.ndim == 2 else a.transpose(2, 0, 1)\n"
  "np.save(out, np.ascontiguousarray(a[None]))\n";

static VnTensor *
pillow (const char *python,
        const char *path,
        const char *mode,
        guint       width,
        guint       height,
        guint       resize)
{
  g_autofree char *out = g_build_filename (g_get_tmp_dir (), "vn-pillow-XXXXXX.npy", NULL);
  g_autofree char *w = g_strdup_printf ("%u", width);
  g_autofree char *h = g_strdup_printf ("%u", height);
  g_autofree char *r = g_strdup_printf ("%u", resize);
  const char *argv[] = { python, "-c", script, path, out, mode, w, h, r, resize > 0 ? "crop" : "stretch", NULL };
  g_autoptr(GError) error = NULL;
  VnTensor *tensor;
  int status;
  int fd = g_mkstemp (out);

  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  argv[4] = out;
  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  tensor = vn_npy_read (out, &error);
  g_assert_no_error (error);
  g_unlink (out);
  return tensor;
}

static void
test_pillow (void)
{
  static const struct
  {
    const char *file;
    guint       width, height, resize, channels;
    double      most, mean;      /* allowed difference: anywhere, on average */
  } cases[] = {
    { "free/chelsea.png",             320, 240, 0,   3, 0, 0 },
    { "free/chelsea.png",             224, 224, 256, 3, 0, 0 },
    { "free/chelsea.png",             1000, 77, 0,   3, 0, 0 },
    { "free/chelsea.png",             450, 20, 0,    3, 0, 0 },
    { "free/chelsea.png",             440, 299, 0,   1, 0, 0 },
    { "free/chelsea.png",             900, 310, 0,   3, 0, 0 },
    { "free/chelsea.png",             20, 290, 0,    3, 0, 0 },
    { "free/astronaut.png",           512, 512, 0,   3, 0, 0 },
    { "free/astronaut.png",           512, 100, 0,   3, 0, 0 },
    { "free/astronaut.png",           33, 512,  0,   3, 0, 0 },
    { "free/coffee.png",              224, 224, 0,   1, 0, 0 },
    { "free/camera.png",              224, 224, 0,   3, 0, 0 },
    { "people/grace_hopper.bmp",      299, 299, 0,   3, 0, 0 },
    { "coco/000000000139.jpg",        320, 240, 0,   3, 4, 0.1 },
    { "people/ultraface_16.jpg",      320, 240, 0,   3, 4, 0.1 },
    { "formats/jpg_progressive_3.jpg", 224, 224, 256, 3, 4, 0.1 },
    { "formats/cat_gray.jpg",         224, 224, 0,   1, 4, 0.1 },
    { "exif/Landscape_6.jpg",         180, 120, 0,   3, 4, 0.1 },
  };
  const char *python = g_getenv ("VN_ORACLE_PYTHON");
  g_autofree char *folder = picture_shared_file ("coco");
  guint n_compared = 0;

  if (python == NULL || *python == '\0' || folder == NULL)
    {
      g_test_skip ("VN_ORACLE_PYTHON and VN_SHARED are not both set");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = picture_shared_file (cases[i].file);
      VnShape shape = VN_SHAPE (1, cases[i].channels, cases[i].height, cases[i].width);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) ours = NULL;
      g_autoptr(VnTensor) theirs = NULL;
      VnPreprocess preprocess;
      double most = 0;
      double sum = 0;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      vn_preprocess_init (&preprocess);
      preprocess.fit = cases[i].resize > 0 ? VN_FIT_CROP : VN_FIT_STRETCH;
      preprocess.resize = cases[i].resize;
      ours = load_picture (path, &preprocess, &shape, VN_DTYPE_F32, &error);
      g_assert_no_error (error);
      theirs = pillow (python, path, cases[i].channels == 1 ? "L" : "RGB", cases[i].width, cases[i].height, cases[i].resize);
      g_assert_true (vn_shape_equal (&ours->shape, &theirs->shape));
      for (gsize k = 0; k < ours->n_elements; k++)
        {
          double difference = fabs (vn_tensor_get_double (ours, k) - vn_tensor_get_double (theirs, k));

          most = MAX (most, difference);
          sum += difference;
        }
      g_test_message ("%s: at most %g, on average %g", cases[i].file, most, sum / (double) ours->n_elements);
      g_assert_cmpfloat (most, <=, cases[i].most);
      g_assert_cmpfloat (sum / (double) ours->n_elements, <=, cases[i].mean);
      n_compared++;
    }
  g_assert_cmpuint (n_compared, >, 5);
}

/* All orientations are the same upright picture, up to the losses of JPEG. */
static void
test_orientation (void)
{
  g_autoptr(VnTensor) upright = NULL;
  VnPreprocess preprocess;
  guint n_compared = 0;

  vn_preprocess_init (&preprocess);
  for (guint i = 0; i <= 8; i++)
    {
      g_autofree char *name = g_strdup_printf ("exif/Landscape_%u.jpg", i);
      g_autofree char *path = picture_shared_file (name);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;
      double sum = 0;

      if (path == NULL)
        {
          g_test_skip ("VN_SHARED is not set");
          return;
        }
      tensor = load_picture (path, &preprocess, &VN_SHAPE (1, 3, 120, 180), VN_DTYPE_F32, &error);
      g_assert_no_error (error);
      if (i == 0)
        {
          upright = g_steal_pointer (&tensor);
          continue;
        }
      for (gsize k = 0; k < tensor->n_elements; k++)
        sum += fabs (vn_tensor_get_double (tensor, k) - vn_tensor_get_double (upright, k));
      g_test_message ("%s: %g on average", name, sum / (double) tensor->n_elements);
      g_assert_cmpfloat (sum / (double) tensor->n_elements, <, 6);
      n_compared++;
    }
  g_assert_cmpuint (n_compared, ==, 8);
}

static void
test_formats (void)
{
  g_autofree char *folder = picture_shared_file ("formats");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  VnPreprocess preprocess;
  guint n_bad = 0;

  if (folder == NULL)
    {
      g_test_skip ("VN_SHARED is not set");
      return;
    }
  vn_preprocess_init (&preprocess);
  dataset = open_picture (folder, &preprocess, &VN_SHAPE (1, 3, 32, 32), VN_DTYPE_F32, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 12);
  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    {
      g_autoptr(VnTensor) tensor = NULL;
      gboolean ok = vn_dataset_load (dataset, i, &tensor, &error);

      g_test_message ("%s: %s", vn_dataset_get_name (dataset, i), ok ? "read" : error->message);
      g_assert_cmpint (ok, ==, !g_str_equal (vn_dataset_get_name (dataset, i), "truncated.jpg"));
      if (ok)
        continue;
      n_bad++;
      g_assert_nonnull (strstr (error->message, "truncated.jpg"));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_clear_error (&error);
    }
  g_assert_cmpuint (n_bad, ==, 1);
}

/* Every cut of @content is an error that names the file, never half a picture. */
static void
check_cuts (const char *what,
            const char *content,
            gsize       size)
{
  g_autofree char *cut = g_build_filename (g_get_tmp_dir (), "vn-cut-XXXXXX.jpg", NULL);
  VnPreprocess preprocess;

  vn_preprocess_init (&preprocess);
  g_close (g_mkstemp (cut), NULL);
  for (guint k = 0; k < 12; k++)
    {
      gsize part = k < 10 ? size * k / 10 : size - (k - 9) * 20;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (g_file_set_contents (cut, content, (gssize) part, NULL));
      tensor = load_picture (cut, &preprocess, &VN_SHAPE (1, 3, 32, 32), VN_DTYPE_F32, &error);
      g_test_message ("%s, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes: %s", what, part, size,
                      tensor != NULL ? "read" : error->message);
      g_assert_null (tensor);
      g_assert_nonnull (strstr (error->message, cut));
    }
  g_unlink (cut);
}

static void
test_truncated_saved (void)
{
  static const char * const types[] = { "jpeg", "png", "bmp", "tiff" };
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 61, 47);
  g_autoptr(GString) ppm = g_string_new ("P6\n61 47\n255\n");

  for (guint i = 0; i < gdk_pixbuf_get_byte_length (pixbuf); i++)
    gdk_pixbuf_get_pixels (pixbuf)[i] = (guint8) (i * i >> 3);
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *content = NULL;
      gsize size;

      g_assert_true (gdk_pixbuf_save_to_buffer (pixbuf, &content, &size, types[t], &error, NULL));
      check_cuts (types[t], content, size);
    }
  g_string_append_len (ppm, (const char *) gdk_pixbuf_read_pixels (pixbuf), 61 * 47 * 3);
  check_cuts ("ppm", ppm->str, ppm->len);
}

/* More colours than the file has bytes, for which decoders ask for memory. */
static void
test_palette (void)
{
  static const guint8 header[70] = { 'B', 'M', [10] = 54, [14] = 40, [18] = 2, [22] = 2, [26] = 1, [28] = 8, [47] = 0xfa, 0xff,
                                     0xff };
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-test-palette.bmp", NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (path, (const char *) header, sizeof header, NULL));
  g_assert_null (vn_pixbuf_read (path, 0, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  g_assert_nonnull (strstr (error->message, "truncated"));
  g_unlink (path);
}

static void
test_truncated (void)
{
  static const char * const files[] = {
    "formats/jpg_progressive_cat.jpg", "coco/000000000139.jpg", "free/coins.png", "formats/png_interlaced_basi2c08.png",
    "people/grace_hopper.bmp",
  };
  guint n_cut = 0;

  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      g_autofree char *path = picture_shared_file (files[f]);
      g_autofree char *content = NULL;
      gsize size;

      if (path == NULL || !g_file_get_contents (path, &content, &size, NULL))
        continue;
      check_cuts (files[f], content, size);
      n_cut++;
    }
  if (n_cut == 0)
    g_test_skip ("VN_SHARED is not set");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/picture-files/pillow", test_pillow);
  g_test_add_func ("/picture-files/orientation", test_orientation);
  g_test_add_func ("/picture-files/formats", test_formats);
  g_test_add_func ("/picture-files/truncated", test_truncated);
  g_test_add_func ("/picture-files/palette", test_palette);
  g_test_add_func ("/picture-files/truncated-saved", test_truncated_saved);

  return g_test_run ();
}
