/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures that are read for an input, and small ones that are made. */
#include "picture-fixture.h"

char *
picture_shared_file (const char *name)
{
  const char *shared = g_getenv ("VN_SHARED");

  if (shared == NULL || *shared == '\0')
    return NULL;
  return g_build_filename (shared, "images", name, NULL);
}

VnDataset *
open_picture (const char         *path,
              const VnPreprocess *preprocess,
              const VnShape      *shape,
              VnDType             dtype,
              GError            **error)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
  VnInputSpec input = { .name = (char *) "x", .dtype = dtype, .shape = *shape };

  spec->preprocess = *preprocess;
  return vn_dataset_open (spec, &input, 1, NULL, error);
}

VnTensor *
load_picture (const char         *path,
              const VnPreprocess *preprocess,
              const VnShape      *shape,
              VnDType             dtype,
              GError            **error)
{
  g_autoptr(VnDataset) dataset = open_picture (path, preprocess, shape, dtype, error);
  VnTensor *tensor = NULL;

  if (dataset == NULL || !vn_dataset_load (dataset, 0, &tensor, error))
    return NULL;
  return tensor;
}

/* A PPM of the given pixels. */
char *
write_ppm (const char   *name,
           guint         width,
           guint         height,
           const guint8 *rgb)
{
  char *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_printf (text, "P6\n%u %u\n255\n", width, height);
  g_string_append_len (text, (const char *) rgb, (gssize) width * height * 3);
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
  return path;
}
