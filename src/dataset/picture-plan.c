/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From picture to tensor, and back for previews. A channel has only 256 possible pixel values (and the filling), so
 * (pixel - mean) / std is computed once for each of them, in float32, converted to the input's type, and then only
 * looked up. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define FILL 256          /* place of the filling in a table */
#define TABLE 257

/* ---- the shape ---- */

static gboolean
picture_plan_is_channels (gint64 dim)
{
  return dim == 1 || dim == 3 || dim == 4;
}

/* The rows above are for N×C×H×W and N×H×W×C; without the batch dim the same holds one place earlier. */
static VnLayout
picture_plan_guess_layout (gint64 first,
                           gint64 last)
{
  if (last == 3 && first != 3 && first != VN_DIM_UNKNOWN)
    return VN_LAYOUT_NHWC;
  if (picture_plan_is_channels (first) || first == VN_DIM_UNKNOWN)
    return picture_plan_is_channels (last) && first == VN_DIM_UNKNOWN ? VN_LAYOUT_NHWC : VN_LAYOUT_NCHW;
  return picture_plan_is_channels (last) ? VN_LAYOUT_NHWC : VN_LAYOUT_NCHW;
}

static gboolean
picture_plan_not_a (const VnInputSpec  *input,
                    GError            **error)
{
  g_autofree char *shape = vn_shape_to_string (&input->shape, "×");

  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
               _("Input “%s” (%s, shape %s) does not take images, which need N×C×H×W or N×H×W×C with 1, 3 or 4 "
                 "channels; use .npy, .raw or .pb files as samples"),
               input->name, vn_dtype_get_name (input->dtype), shape);
  return FALSE;
}

static gboolean
picture_plan_choose_size (guint         *size,
                          gint64         dim,
                          guint          wanted,
                          const char    *what,
                          const char    *name,
                          GError       **error)
{
  if (dim == VN_DIM_UNKNOWN)
    {
      *size = wanted;
      return TRUE;
    }
  if (dim < 1 || dim > G_MAXUINT16 || (wanted != 0 && wanted != (guint) dim))
    {
      g_set_error (error, VN_ERROR, dim < 1 || dim > G_MAXUINT16 ? VN_ERROR_SHAPE : VN_ERROR_SETTING,
                   _("Input “%s” has a %s of %lld, but the preprocessing requires %u"), name, what, (long long) dim,
                   wanted);
      return FALSE;
    }
  *size = (guint) dim;
  return TRUE;
}

static gboolean
picture_plan_check_deviations (const VnPreprocess  *preprocess,
                               guint                channels,
                               GError             **error)
{
  for (guint c = 0; c < MIN (channels, 3); c++)
    if (!isfinite (preprocess->mean[c]) || !isfinite (preprocess->std[c]) || preprocess->std[c] == 0)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("Channel %u would be divided by a standard deviation of %g after subtracting %g; the standard "
                       "deviation must not be 0"), c, preprocess->std[c], preprocess->mean[c]);
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_picture_plan_init:
 * @input: what the network takes: rank 4, rank 3 without the batch, or rank 2 for luma
 * @preprocess: layout and size, where the input leaves them open
 *
 * Returns: %FALSE if pictures do not fit the input: %VN_ERROR_SHAPE, or %VN_ERROR_SETTING if the settings do not
 */
gboolean
vn_picture_plan_init (VnPicturePlan       *self,
                      const VnInputSpec   *input,
                      const VnPreprocess  *preprocess,
                      GError             **error)
{
  const int rank = input->shape.rank;
  const gint64 *dims = input->shape.dims + (rank == 4 ? 1 : 0);
  gint64 channels, height, width;

  if (rank < 2 || rank > 4 || vn_dtype_get_bits (input->dtype) < 8 || vn_dtype_get_bits (input->dtype) > 64 ||
      (!vn_dtype_is_float (input->dtype) && !vn_dtype_is_integer (input->dtype)))
    return picture_plan_not_a (input, error);

  *self = (VnPicturePlan) { .rank = rank, .dtype = input->dtype,
                            .layout = input->turned != VN_TURNED_NEVER ? VN_LAYOUT_NHWC : preprocess->layout };
  if (rank == 2)
    self->layout = VN_LAYOUT_NCHW;
  else if (self->layout == VN_LAYOUT_AUTO)
    self->layout = picture_plan_guess_layout (dims[0], dims[2]);
  channels = rank == 2 ? 1 : self->layout == VN_LAYOUT_NCHW ? dims[0] : dims[2];
  height = rank != 2 && self->layout == VN_LAYOUT_NCHW ? dims[1] : dims[0];
  width = rank != 2 && self->layout == VN_LAYOUT_NCHW ? dims[2] : dims[1];

  if (channels == VN_DIM_UNKNOWN)
    channels = 3;
  if (!picture_plan_is_channels (channels))
    return picture_plan_not_a (input, error);
  self->channels = (guint) channels;
  self->batch = rank == 4 && input->shape.dims[0] != VN_DIM_UNKNOWN ? input->shape.dims[0] : 1;
  return picture_plan_check_deviations (preprocess, self->channels, error) &&
         picture_plan_choose_size (&self->height, height, preprocess->height, _("height"), input->name, error) &&
         picture_plan_choose_size (&self->width, width, preprocess->width, _("width"), input->name, error);
}

static VnShape
plan_shape (const VnPicturePlan *self,
            guint                width,
            guint                height)
{
  gint64 h = height;
  gint64 w = width;
  gint64 c = self->channels;
  VnShape shape = self->layout == VN_LAYOUT_NCHW ? VN_SHAPE (self->batch, c, h, w) : VN_SHAPE (self->batch, h, w, c);

  if (self->rank == 4)
    return shape;
  if (self->rank == 2)
    return VN_SHAPE (h, w);
  return VN_SHAPE (shape.dims[1], shape.dims[2], shape.dims[3]);
}

/* ---- the geometry ---- */

/* Where the scaled part lies in the tensor. */
typedef struct
{
  VnCrop window;
  guint    left, top;
  guint    width, height;      /* of the tensor */
} Geometry;

static guint
picture_plan_rounded (double size)
{
  return (guint) MAX (1, floor (size + 0.5));
}

/* Short side to @short_side, the other in proportion, rounded down. */
static void
picture_plan_scale_short_side (const VnPicture *picture,
                               guint            short_side,
                               VnCrop        *window)
{
  guint short_now = MIN (picture->width, picture->height);
  guint long_now = MAX (picture->width, picture->height);
  guint other = (guint) ((guint64) long_now * short_side / short_now);

  window->full_width = picture->width <= picture->height ? short_side : other;
  window->full_height = picture->width <= picture->height ? other : short_side;
}

/* The short side before the centre is cut out; 0: none is given. */
static guint
picture_plan_get_resize (const Geometry     *self,
                         const VnPreprocess *preprocess)
{
  guint side = MIN (self->width, self->height);

  if (preprocess->resize > 0 || side == 0 || preprocess->crop_part <= 0 || preprocess->crop_part > 1)
    return preprocess->resize;
  return (guint) MIN (G_MAXUINT16, side / (double) preprocess->crop_part);
}

/* Half of what is left over. */
static guint
picture_plan_half (guint    rest,
                   gboolean down)
{
  return down ? rest / 2 : (guint) rint (rest / 2.0);
}

static void
picture_plan_geometry_crop (Geometry           *self,
                            const VnPicture    *picture,
                            const VnPreprocess *preprocess)
{
  VnCrop *window = &self->window;
  const guint resize = picture_plan_get_resize (self, preprocess);
  double cover = MAX ((double) self->width / picture->width, (double) self->height / picture->height);

  window->full_width = picture->width;
  window->full_height = picture->height;
  if (resize > 0)
    picture_plan_scale_short_side (picture, resize, window);
  if (self->width == 0)
    self->width = window->full_width;
  if (self->height == 0)
    self->height = window->full_height;
  /* Without a size of its own, or with one that leaves gaps: just cover the tensor. */
  if (resize == 0 || window->full_width < self->width || window->full_height < self->height)
    {
      window->full_width = MAX (self->width, picture_plan_rounded (picture->width * cover));
      window->full_height = MAX (self->height, picture_plan_rounded (picture->height * cover));
    }
  window->width = self->width;
  window->height = self->height;
  window->x = picture_plan_half (window->full_width - self->width, preprocess->crop_down);
  window->y = picture_plan_half (window->full_height - self->height, preprocess->crop_down);
}

static void
picture_plan_geometry_letterbox (Geometry        *self,
                                 const VnPicture *picture)
{
  VnCrop *window = &self->window;
  double scale = MIN ((double) self->width / picture->width, (double) self->height / picture->height);

  window->width = window->full_width = MIN (self->width, picture_plan_rounded (picture->width * scale));
  window->height = window->full_height = MIN (self->height, picture_plan_rounded (picture->height * scale));
  self->left = (self->width - window->width) / 2;
  self->top = (self->height - window->height) / 2;
}

static Geometry
picture_plan_make_geometry (const VnPicturePlan *plan,
                            const VnPreprocess  *preprocess,
                            const VnPicture     *picture)
{
  Geometry self = { .width = plan->width, .height = plan->height };

  if (preprocess->fit == VN_FIT_CROP)
    {
      picture_plan_geometry_crop (&self, picture, preprocess);
      self.window.resample = preprocess->resample;
      return self;
    }
  if (self.width == 0)
    self.width = picture->width;
  if (self.height == 0)
    self.height = picture->height;
  if (preprocess->fit == VN_FIT_LETTERBOX)
    picture_plan_geometry_letterbox (&self, picture);
  else
    self.window = (VnCrop) { self.width, self.height, 0, 0, self.width, self.height, VN_RESAMPLE_LINEAR };
  self.window.resample = preprocess->resample;
  return self;
}

/* ---- the values ---- */

/* TABLE elements of the plan's type for tensor channel @c. */
static VnTensor *
picture_plan_make_table (const VnPicturePlan  *plan,
                         const VnPreprocess   *preprocess,
                         guint                 c,
                         GError              **error)
{
  g_autoptr(VnTensor) values = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (TABLE), error);
  gint64 min, max;
  float *v;

  if (values == NULL)
    return NULL;
  v = values->data;
  for (guint i = 0; i < TABLE; i++)
    {
      v[i] = ((i == FILL ? preprocess->fill : (float) i) - preprocess->mean[c]) / preprocess->std[c];
      if (vn_dtype_is_integer (plan->dtype) && vn_dtype_integer_range (plan->dtype, &min, &max))
        v[i] = (float) CLAMP (rint (v[i]), (double) min, (double) max);
    }
  return vn_tensor_convert (values, plan->dtype, error);
}

typedef struct
{
  gsize x, y;     /* elements to the next pixel and row of one channel */
} Strides;

#define DEFINE_PUT(type)                                                                           \
  static void                                                                                      \
  put_##type (const type *table, const guint8 *in, guint channels, guint n, type *out, gsize step) \
  {                                                                                                \
    for (guint x = 0; x < n; x++)                                                                  \
      out[x * step] = table[in[x * channels]];                                                     \
  }                                                                                                \
                                                                                                   \
  static void                                                                                      \
  fill_##type (type value, guint n, type *out, gsize step)                                         \
  {                                                                                                \
    for (guint x = 0; x < n; x++)                                                                  \
      out[x * step] = value;                                                                       \
  }

DEFINE_PUT (guint8)
DEFINE_PUT (guint16)
DEFINE_PUT (guint32)
DEFINE_PUT (guint64)

static void
picture_plan_put_row (guint         size,
                      const void   *table,
                      const guint8 *in,
                      guint         channels,
                      guint         n,
                      char         *out,
                      gsize         step)
{
  switch (size)
    {
    case 1: put_guint8 (table, in, channels, n, (guint8 *) out, step); break;
    case 2: put_guint16 (table, in, channels, n, (guint16 *) (void *) out, step); break;
    case 4: put_guint32 (table, in, channels, n, (guint32 *) (void *) out, step); break;
    default: put_guint64 (table, in, channels, n, (guint64 *) (void *) out, step); break;
    }
}

static void
picture_plan_fill_row (guint       size,
                       const void *value,
                       guint       n,
                       char       *out,
                       gsize       step)
{
  switch (size)
    {
    case 1: fill_guint8 (*(const guint8 *) value, n, (guint8 *) out, step); break;
    case 2: fill_guint16 (*(const guint16 *) value, n, (guint16 *) (void *) out, step); break;
    case 4: fill_guint32 (*(const guint32 *) value, n, (guint32 *) (void *) out, step); break;
    default: fill_guint64 (*(const guint64 *) value, n, (guint64 *) (void *) out, step); break;
    }
}

static void
picture_plan_put_channel (const Geometry  *geometry,
                          const VnPicture *part,
                          guint            channel,        /* of the picture */
                          const VnTensor  *table,
                          char            *out,            /* first element of the tensor's channel */
                          const Strides   *strides)
{
  const guint size = vn_dtype_get_bits (table->dtype) / 8;
  const char *fill = (const char *) table->data + FILL * size;
  const gboolean gaps = part->width < geometry->width || part->height < geometry->height;

  if (gaps)
    for (guint y = 0; y < geometry->height; y++)
      picture_plan_fill_row (size, fill, geometry->width, out + y * strides->y * size, strides->x);
  for (guint y = 0; y < part->height; y++)
    picture_plan_put_row (size, table->data, part->pixels + (gsize) y * part->width * part->channels + channel, part->channels,
                          part->width, out + ((geometry->top + y) * strides->y + geometry->left * strides->x) * size, strides->x);
}

static VnTensor *
picture_plan_fill_tensor (const VnPicturePlan  *self,
                          const VnPreprocess   *preprocess,
                          const Geometry       *geometry,
                          const VnPicture      *part,
                          GError              **error)
{
  const gboolean planar = self->layout == VN_LAYOUT_NCHW;
  const gsize area = (gsize) geometry->width * geometry->height;
  const guint size = vn_dtype_get_bits (self->dtype) / 8;
  const Strides strides = { planar ? 1 : self->channels, planar ? geometry->width : geometry->width * self->channels };
  VnShape shape = plan_shape (self, geometry->width, geometry->height);
  g_autoptr(VnTensor) tensor = vn_tensor_new (self->dtype, &shape, error);
  gsize one = area * self->channels * size;
  char *data;

  if (tensor == NULL)
    return NULL;
  data = tensor->data;
  if (self->channels == 4)
    memset (data, 0, tensor->n_bytes);
  for (guint c = 0; c < MIN (self->channels, 3); c++)
    {
      g_autoptr(VnTensor) table = picture_plan_make_table (self, preprocess, c, error);
      guint from = part->channels == 1 ? 0 : preprocess->color == VN_COLOR_BGR ? 2 - c : c;

      if (table == NULL)
        return NULL;
      picture_plan_put_channel (geometry, part, from, table, data + (planar ? c * area : c) * size, &strides);
    }
  for (gint64 b = 1; b < self->batch; b++)
    memcpy (data + (gsize) b * one, data, one);
  return g_steal_pointer (&tensor);
}

static gboolean
picture_plan_is_identity (const VnCrop  *window,
                          const VnPicture *picture)
{
  return window->full_width == picture->width && window->full_height == picture->height &&
         window->width == picture->width && window->height == picture->height;
}

/**
 * vn_picture_plan_load:
 * @path: a picture file
 *
 * Returns: (transfer full) (nullable): the input's tensor; a batch above 1 repeats the picture, a fourth channel is 0
 */
VnTensor *
vn_picture_plan_load (const VnPicturePlan  *self,
                      const VnPreprocess   *preprocess,
                      const char           *path,
                      GError              **error)
{
  g_auto(VnPicture) picture = { 0 };
  g_auto(VnPicture) scaled = { 0 };
  Geometry geometry;

  if (!vn_picture_read (&picture, path, self->channels == 1 ? 1 : 3, error))
    return NULL;
  geometry = picture_plan_make_geometry (self, preprocess, &picture);
  if (picture_plan_is_identity (&geometry.window, &picture))
    return picture_plan_fill_tensor (self, preprocess, &geometry, &picture, error);
  if (!vn_picture_resample (&picture, &geometry.window, &scaled, error))
    {
      g_prefix_error (error, "“%s”: ", path);
      return NULL;
    }
  return picture_plan_fill_tensor (self, preprocess, &geometry, &scaled, error);
}

/* ---- and back ---- */

/**
 * vn_picture_plan_unload:
 * @tensor: of the plan's layout and rank; only the first of a batch is shown
 * @mean: one per channel
 * @std: one per channel
 *
 * Returns: (transfer full) (nullable): value * std + mean as a picture of 8 bits; what does not fit is cut to 0 .. 255
 */
GdkPixbuf *
vn_picture_plan_unload (const VnPicturePlan  *self,
                        const VnTensor       *tensor,
                        const float          *mean,
                        const float          *std,
                        VnColorOrder          color,
                        GError              **error)
{
  const gboolean planar = self->layout == VN_LAYOUT_NCHW;
  const gint64 *dims = tensor->shape.dims + (self->rank == 4 ? 1 : 0);
  const gsize height = (gsize) (planar && self->rank > 2 ? dims[1] : dims[0]);
  const gsize width = (gsize) (planar && self->rank > 2 ? dims[2] : dims[1]);
  GdkPixbuf *pixbuf = NULL;

  if (width > 0 && height > 0 && width <= G_MAXUINT16 && height <= G_MAXUINT16)
    pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, (int) width, (int) height);
  if (pixbuf == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   _("An image of %zu × %zu pixels cannot be shown"), width, height);
      return NULL;
    }

  for (gsize y = 0; y < height; y++)
    for (gsize x = 0; x < width; x++)
      {
        guint8 *pixel = gdk_pixbuf_get_pixels (pixbuf) + y * (gsize) gdk_pixbuf_get_rowstride (pixbuf) + 3 * x;

        for (guint k = 0; k < 3; k++)
          {
            guint c = self->channels == 1 ? 0 : color == VN_COLOR_BGR ? 2 - k : k;
            gsize at = planar ? (c * height + y) * width + x : (y * width + x) * self->channels + c;
            double value = vn_tensor_get_double (tensor, at) * std[c] + mean[c];

            pixel[k] = isnan (value) ? 0 : (guint8) CLAMP (rint (value), 0, 255);
          }
      }
  return pixbuf;
}
