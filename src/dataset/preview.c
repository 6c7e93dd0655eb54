/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Samples as pictures for the window: as they are, or as the network sees them. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

/* Tensors that were prepared elsewhere: show the range they have. */
static void
preview_stretch_range (const VnTensor *tensor,
                       float          *mean,
                       float          *std)
{
  double min = INFINITY;
  double max = -INFINITY;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      if (!isfinite (value))
        continue;
      min = MIN (min, value);
      max = MAX (max, value);
    }
  for (guint c = 0; c < 4; c++)
    {
      std[c] = max > min ? (float) (255 / (max - min)) : 1;
      mean[c] = max > min ? (float) (-min * std[c]) : 0;
    }
}

static GdkPixbuf *
preview_tensor (VnDataset  *self,
                guint       input,
                VnTensor   *tensor,
                GError    **error)
{
  const VnPreprocess *preprocess = vn_data_spec_get_preprocess (self->spec, self->inputs[input].name);
  VnPicturePlan plan = self->pictures[input];
  VnInputSpec loaded = self->inputs[input];
  float mean[4], std[4];

  if (plan.channels > 0)
    return vn_picture_plan_unload (&plan, tensor, preprocess->mean, preprocess->std, preprocess->color, error);

  loaded.shape = tensor->shape;
  loaded.dtype = tensor->dtype;
  if (!vn_picture_plan_init (&plan, &loaded, &(VnPreprocess) { .std = { 1, 1, 1, 1 } }, error))
    return NULL;
  preview_stretch_range (tensor, mean, std);
  return vn_picture_plan_unload (&plan, tensor, mean, std, preprocess->color, error);
}

static GdkPixbuf *
preview_network (VnDataset  *self,
                 guint       i,
                 guint       input,
                 GError    **error)
{
  g_autofree VnTensor **tensors = g_new0 (VnTensor *, self->n_inputs);
  GdkPixbuf *pixbuf;

  if (!vn_dataset_load (self, i, tensors, error))
    return NULL;
  pixbuf = preview_tensor (self, input, tensors[input], error);
  for (guint k = 0; k < self->n_inputs; k++)
    vn_tensor_unref (tensors[k]);
  return pixbuf;
}

static GdkPixbuf *
preview_limit_size (GdkPixbuf *pixbuf,      /* taken */
                    guint      max_size)
{
  const int width = gdk_pixbuf_get_width (pixbuf);
  const int height = gdk_pixbuf_get_height (pixbuf);
  const int most = MAX (width, height);
  GdkPixbuf *scaled;

  if (max_size == 0 || most <= (int) MIN (max_size, G_MAXINT))
    return pixbuf;
  scaled = gdk_pixbuf_scale_simple (pixbuf, MAX (1, (int) ((gint64) width * max_size / most)),
                                    MAX (1, (int) ((gint64) height * max_size / most)), GDK_INTERP_BILINEAR);
  g_object_unref (pixbuf);
  return scaled;
}

/**
 * vn_dataset_load_preview:
 * @i: 0 .. vn_dataset_get_n() - 1
 * @as_network: %TRUE: the main input's tensor mapped back to pixels (tensors that do not come from pictures: their
 *   own range, stretched to 0 .. 255); %FALSE: the file as it is, upright
 * @max_size: longest side wanted; 0: as large as it is
 *
 * Any thread.
 *
 * Returns: (transfer full) (nullable): the picture; %VN_ERROR_SHAPE or %VN_ERROR_UNSUPPORTED if the sample is not
 *   like a picture
 */
GdkPixbuf *
vn_dataset_load_preview (VnDataset  *self,
                         guint       i,
                         gboolean    as_network,
                         guint       max_size,
                         GError    **error)
{
  GdkPixbuf *pixbuf;

  g_return_val_if_fail (self != NULL && i < self->samples->len, NULL);

  if (!as_network && !self->is_image)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is not an image"), vn_dataset_get_name (self, i));
      return NULL;
    }
  pixbuf = as_network ? preview_network (self, i, self->main_input, error)
                      : vn_pixbuf_read (vn_dataset_get_path (self, i), max_size, error);
  if (pixbuf == NULL)
    return NULL;
  pixbuf = preview_limit_size (pixbuf, max_size);
  if (pixbuf == NULL)
    vn_memory_set_error (0, error);
  return pixbuf;
}

/**
 * vn_dataset_load_input_preview:
 * @i: 0 .. vn_dataset_get_n() - 1
 *
 * As vn_dataset_load_preview(), of what the network gets at any of its inputs.
 */
GdkPixbuf *
vn_dataset_load_input_preview (VnDataset  *self,
                               guint       i,
                               guint       input,
                               guint       max_size,
                               GError    **error)
{
  GdkPixbuf *pixbuf;

  g_return_val_if_fail (self != NULL && i < self->samples->len && input < self->n_inputs, NULL);

  pixbuf = preview_network (self, i, input, error);
  return pixbuf != NULL ? preview_limit_size (pixbuf, max_size) : NULL;
}
