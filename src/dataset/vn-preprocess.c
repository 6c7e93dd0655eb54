/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The presets of preprocessing. */
#include "vn-dataset.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

/* Means and deviations of ImageNet are those of the training recipes of torchvision (0.485, 0.456, 0.406 and 0.229,
 * 0.224, 0.225, times 255) and, for MLPerf Inference 0.5, of its reference pre-processing: the short side is scaled so
 * that the centre is 87.5 % of it (256 for 224); MobileNet (x / 255 - 0.5) * 2, ResNet-50 x - (123.68, 116.78, 103.94),
 * both in the order red, green, blue. An odd rest around the centre is halved downwards, by torchvision ("pt-imagenet")
 * to the even number. */

#define ALL(x) { x, x, x, x }
#define CENTRE 0.875f
#define IMAGENET_MEAN { 123.675f, 116.28f, 103.53f, 0 }
#define IMAGENET_STD { 58.395f, 57.12f, 57.375f, 1 }

static const VnPreprocessPreset presets[] = {
  { "none", N_("As is, 0 to 255"), "0 … 255",
    { .fit = VN_FIT_STRETCH, .mean = ALL (0), .std = ALL (1) } },
  { "imagenet", N_("ImageNet: center crop, mean and standard deviation"), "ImageNet",
    { .fit = VN_FIT_CROP, .crop_part = CENTRE, .crop_down = TRUE, .mean = IMAGENET_MEAN, .std = IMAGENET_STD } },
  { "pt-imagenet", N_("ImageNet as in PyTorch: center crop, mean and standard deviation"), "ImageNet",
    { .fit = VN_FIT_CROP, .crop_part = CENTRE, .mean = IMAGENET_MEAN, .std = IMAGENET_STD } },
  { "minus-one-one", N_("From −1 to 1"), "−1 … 1",
    { .fit = VN_FIT_STRETCH, .mean = ALL (127.5f), .std = ALL (127.5f) } },
  { "zero-one", N_("From 0 to 1"), "0 … 1",
    { .fit = VN_FIT_STRETCH, .mean = ALL (0), .std = ALL (255) } },
  { "mlperf-mobilenet", N_("MLPerf MobileNet: center crop, −1 to 1"), "−1 … 1",
    { .fit = VN_FIT_CROP, .crop_part = CENTRE, .crop_down = TRUE, .mean = ALL (127.5f), .std = ALL (127.5f) } },
  { "mlperf-resnet", N_("MLPerf ResNet: center crop, mean only"), N_("ImageNet mean"),
    { .fit = VN_FIT_CROP, .crop_part = CENTRE, .crop_down = TRUE, .mean = { 123.68f, 116.78f, 103.94f, 0 },
      .std = ALL (1) } },
  { "letterbox", N_("Letterbox on gray, 0 to 1, as for YOLO"), "0 … 1",
    { .fit = VN_FIT_LETTERBOX, .mean = ALL (0), .std = ALL (255), .fill = 114 } },
};

/* Other names of presets, as other tools' documents give them. */
static const struct
{
  const char *alias, *id;
} aliases[] = {
  { "preprocess-method1", "mlperf-mobilenet" },
  { "preprocess-method2", "mlperf-resnet" },
};

/* @id in small letters, with - for _, and not an alias. */
static char *
preprocess_normalize (const char *id)
{
  g_autofree char *small = g_strdelimit (g_ascii_strdown (id, -1), "_", '-');

  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (g_str_equal (aliases[i].alias, small))
      return g_strdup (aliases[i].id);
  return g_steal_pointer (&small);
}

/**
 * vn_preprocess_init:
 *
 * Pixels as they are: 0 .. 255, stretched to the input's size, red first, layout by the input's shape.
 */
void
vn_preprocess_init (VnPreprocess *self)
{
  g_return_if_fail (self != NULL);

  *self = presets[0].settings;
}

/**
 * vn_preprocess_presets:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all named settings, in the order of menus
 */
const VnPreprocessPreset *
vn_preprocess_presets (guint *n)
{
  *n = G_N_ELEMENTS (presets);
  return presets;
}

/* The settings of a preset, of any size and layout. */
static void
preprocess_take (VnPreprocess             *self,
                 const VnPreprocessPreset *preset)
{
  const VnPreprocess old = *self;

  *self = preset->settings;
  self->width = old.width;
  self->height = old.height;
  self->layout = old.layout;
}

/**
 * vn_preprocess_set_preset:
 * @self: receives the settings; its size and layout are kept
 * @id: such as "imagenet"; also as other tools spell it: "PT_IMAGENET", "preprocess_method1"
 *
 * Returns: %FALSE with %VN_ERROR_SETTING for an unknown id
 */
gboolean
vn_preprocess_set_preset (VnPreprocess  *self,
                          const char    *id,
                          GError       **error)
{
  g_autoptr(GString) known = g_string_new (NULL);
  g_autofree char *normal = preprocess_normalize (id);

  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      if (g_str_equal (presets[i].id, normal))
        {
          preprocess_take (self, &presets[i]);
          return TRUE;
        }
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", presets[i].id);
    }

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no preprocessing “%s”; choose one of: %s"),
               id, known->str);
  return FALSE;
}

/**
 * vn_preprocess_equal:
 *
 * Returns: whether both make the same tensors of the same pictures
 */
gboolean
vn_preprocess_equal (const VnPreprocess *a,
                     const VnPreprocess *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->width != b->width || a->height != b->height || a->fit != b->fit || a->color != b->color || a->layout != b->layout ||
      a->resample != b->resample || memcmp (a->mean, b->mean, sizeof a->mean) != 0 || memcmp (a->std, b->std, sizeof a->std) != 0)
    return FALSE;
  if (a->fit == VN_FIT_CROP)
    return a->resize == b->resize && a->crop_part == b->crop_part && !a->crop_down == !b->crop_down;
  return a->fit != VN_FIT_LETTERBOX || a->fill == b->fill;
}

/**
 * vn_preprocess_find_preset:
 *
 * Returns: (transfer none) (nullable): the named settings that these are, whatever their size and layout
 */
const VnPreprocessPreset *
vn_preprocess_find_preset (const VnPreprocess *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      VnPreprocess named = *self;

      preprocess_take (&named, &presets[i]);
      if (vn_preprocess_equal (&named, self))
        return &presets[i];
    }
  return NULL;
}
