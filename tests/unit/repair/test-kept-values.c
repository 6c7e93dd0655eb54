/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that are kept for later come back bit by bit, from memory and from a file, whose places are used again. */
#include "kept-values.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define SAMPLES 3
#define PLENTY ((gsize) 1 << 20)

static const gsize bounds[] = { 0, 500, PLENTY };

static VnTensor *
make_value (VnDType dtype,
            gint64  n,
            guint8  first)
{
  VnTensor *tensor = vn_tensor_new (dtype, &VN_SHAPE (1, n), NULL);

  for (gsize i = 0; i < tensor->n_bytes; i++)
    ((guint8 *) tensor->data)[i] = (guint8) (first + 7 * i);
  return tensor;
}

static const struct { const char *name; VnDType dtype; gint64 n; } values[] = {
  { "floats", VN_DTYPE_F32, 100 }, { "indices", VN_DTYPE_S64, 9 }, { "levels", VN_DTYPE_U8, 33 }, { "truths", VN_DTYPE_BOOL, 1 },
  { "nothing", VN_DTYPE_F32, 0 },
};

static void
put_all (VnKeptValues *kept,
         guint8        first)
{
  g_autoptr(GError) error = NULL;

  for (guint v = 0; v < G_N_ELEMENTS (values); v++)
    for (guint s = 0; s < SAMPLES; s++)
      {
        g_autoptr(VnTensor) tensor = make_value (values[v].dtype, values[v].n + s, (guint8) (first + s));

        g_assert_true (vn_kept_values_put (kept, values[v].name, s, tensor, &error));
        g_assert_no_error (error);
      }
}

static guint
check_all (VnKeptValues *kept,
           guint8        first)
{
  guint n = 0;

  for (guint v = 0; v < G_N_ELEMENTS (values); v++)
    for (guint s = 0; s < SAMPLES; s++, n++)
      {
        g_autoptr(GError) error = NULL;
        g_autoptr(VnTensor) wanted = make_value (values[v].dtype, values[v].n + s, (guint8) (first + s));
        g_autoptr(VnTensor) tensor = vn_kept_values_get (kept, values[v].name, s, &error);

        g_assert_no_error (error);
        g_assert_true (vn_tensor_equal (tensor, wanted));
      }
  return n;
}

/* Bytes in memory: all, some, none. What is dropped and put again takes no more of the file. */
static void
test_bounds (gconstpointer data)
{
  const gsize most = GPOINTER_TO_SIZE (data);
  g_autoptr(VnKeptValues) kept = vn_kept_values_new (SAMPLES, most);
  gsize size;
  VnShape shape;
  VnDType dtype;

  put_all (kept, 1);
  g_assert_cmpuint (check_all (kept, 1), ==, G_N_ELEMENTS (values) * SAMPLES);
  size = vn_kept_values_get_file_size (kept);
  g_assert_cmpint (size > 0, ==, most < PLENTY);
  g_assert_true (vn_kept_values_find_type (kept, "indices", &dtype, &shape));
  g_assert_cmpint (dtype, ==, VN_DTYPE_S64);
  g_assert_cmpint (shape.dims[1], ==, 9);
  for (guint round = 2; round < 5; round++)
    {
      for (guint v = 0; v < G_N_ELEMENTS (values); v++)
        vn_kept_values_drop (kept, values[v].name);
      g_assert_false (vn_kept_values_has (kept, "floats"));
      g_assert_null (vn_kept_values_get (kept, "floats", 0, NULL));
      put_all (kept, (guint8) round);
      check_all (kept, (guint8) round);
      if (most == 0)
        g_assert_cmpuint (vn_kept_values_get_file_size (kept), ==, size);
    }
}

/* No folder for the file: what the user reads names it. Runs last: the folder of caches is read once. */
static void
test_no_room (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnKeptValues) kept = vn_kept_values_new (SAMPLES, 0);
  g_autoptr(VnTensor) tensor = make_value (VN_DTYPE_F32, 10, 0);

  g_assert_false (vn_kept_values_put (kept, "floats", 0, tensor, &error));
  g_assert_true (error != NULL && error->domain == G_IO_ERROR);
  g_assert_nonnull (strstr (error->message, "/dev/null/vernier"));
  g_assert_nonnull (strstr (error->message, "XDG_CACHE_HOME"));
}

int
main (int    argc,
      char **argv)
{
  const gboolean is_child = argc > 1 && g_str_equal (argv[1], "--no-room");
  g_autofree char *folder = is_child ? g_strdup ("/dev/null") : g_dir_make_tmp ("kept-XXXXXX", NULL), *inner = NULL;
  int status;

  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  if (is_child)
    {
      test_no_room ();
      return 0;
    }
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kept-values/bounds/%zu", bounds[i]);

      g_test_add_data_func (path, GSIZE_TO_POINTER (bounds[i]), test_bounds);
    }
  status = g_test_run ();
  if (status == 0)
    {
      const char * const again[] = { argv[0], "--no-room", NULL };

      g_assert_true (g_spawn_sync (NULL, (char **) again, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
    }
  inner = g_build_filename (folder, "vernier", NULL);
  g_assert_cmpint (g_rmdir (inner), ==, 0);     /* files without names leave nothing */
  g_rmdir (folder);
  return status;
}
