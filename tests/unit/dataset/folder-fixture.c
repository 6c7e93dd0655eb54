/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "folder-fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

const VnInputSpec picture_input = { (char *) "image", VN_DTYPE_F32, { 4, { 1, 3, 1, 1 } } };
const VnInputSpec vector_input = { (char *) "v", VN_DTYPE_F32, { 2, { 1, 3 } } };

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

void
folder_setup (Folder        *self,
              gconstpointer  data)
{
  self->path = g_dir_make_tmp ("vn-sources-XXXXXX", NULL);
  g_assert_nonnull (self->path);
}

void
folder_teardown (Folder        *self,
                 gconstpointer  data)
{
  remove_tree (self->path);
  g_free (self->path);
}

void
folder_put (const Folder *self,
            const char   *name,
            const void   *data,
            gssize        size)
{
  g_autofree char *path = g_build_filename (self->path, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);

  g_mkdir_with_parents (folder, 0755);
  g_assert_true (g_file_set_contents (path, data, size, NULL));
}

void
folder_put_text (const Folder *self,
                 const char   *name,
                 const char   *text)
{
  folder_put (self, name, text, -1);
}

void
folder_put_npy (const Folder *self,
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

void
folder_put_picture (const Folder *self,
                    const char   *name)
{
  folder_put_text (self, name, "P3\n1 1\n255\n10 20 30\n");
}

VnDataset *
folder_open (const Folder       *self,
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

/* Names of all samples, joined by blanks. */
static char *
join_names (VnDataset *dataset)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? " " : "", vn_dataset_get_name (dataset, i));
  return g_string_free (names, FALSE);
}

void
dataset_check_names (VnDataset  *dataset,
                     const char *expected)
{
  g_autofree char *names = join_names (dataset);

  g_test_message ("%s, expected %s", names, expected);
  g_assert_cmpstr (names, ==, expected);
}

double
dataset_load_first (VnDataset *dataset,
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
