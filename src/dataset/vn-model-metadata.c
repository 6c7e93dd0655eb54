/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a file of a network says of its samples in its metadata. Two writers are understood:
 *
 *   Ultralytics: task "detect", imgsz "[640, 640]" (height, width), stride "32", names "{0: 'person', 1: 'bicycle'}" as Python
 *     prints it; YOLOv5 only has stride and names. Pictures are then in the middle of gray, from 0 to 1; to be classified their
 *     middle is cut out.
 *   ONNX, MetadataProps.md, as Windows ML has it: Image.BitmapPixelFormat "Bgr8", Image.NominalPixelRange "Normalized_0_1"
 *
 * What is not as it should be is as if it were not there. */

#include "vn-model-metadata.h"

#include "python-text.h"
#include "vn-class-names.h"
#include "vn-i18n.h"

#include <string.h>

#define LETTERBOX_FILL 114.0f      /* of Ultralytics */
#define MOST_SIDE G_MAXUINT16

/* ---- writers ---- */

/* [height, width], or one number for both */
static gboolean
model_metadata_take_size (const char *at,
                          guint      *width,
                          guint      *height)
{
  const gboolean is_list = _vn_python_take_char (&at, '[') || _vn_python_take_char (&at, '(');
  guint h, w;

  if (!_vn_python_take_number (&at, MOST_SIDE, &h))
    return FALSE;
  w = h;
  if (is_list && _vn_python_take_char (&at, ',') && !_vn_python_take_number (&at, MOST_SIDE, &w))
    return FALSE;
  if (h == 0 || w == 0)
    return FALSE;
  *height = h;
  *width = w;
  return TRUE;
}

static void
model_metadata_set_scale (VnModelMetadata *self,
                          float            mean,
                          float            std)
{
  for (guint c = 0; c < 4; c++)
    {
      self->preprocess.mean[c] = mean;
      self->preprocess.std[c] = std;
    }
  self->parts |= VN_PREPROCESS_SCALE;
}

/* The task is only said since YOLOv8; before, boxes were in outputs of rank 3 or more, and networks that classify took pictures
 * of another scale, which they do not say. */
static gboolean
model_metadata_has_boxes (const VnModel *model)
{
  for (guint i = 0; i < model->graph->outputs->len; i++)
    if (((const VnValue *) model->graph->outputs->pdata[i])->type.shape.rank > 2)
      return TRUE;
  return FALSE;
}

static void
model_metadata_read_ultralytics (VnModelMetadata *self,
                                 const VnModel   *model)
{
  const char *task = vn_model_get_metadata (model, "task"), *names = vn_model_get_metadata (model, "names"),
             *stride = vn_model_get_metadata (model, "stride"), *size = vn_model_get_metadata (model, "imgsz");

  if (stride == NULL || names == NULL)
    return;
  self->names = vn_class_names_parse (names);
  self->n_names = self->names != NULL ? g_strv_length (self->names) : 0;
  _vn_python_take_number (&stride, MOST_SIDE, &self->stride);
  if (size != NULL)
    model_metadata_take_size (size, &self->width, &self->height);
  if (task != NULL && *task != '\0')
    self->task = g_utf8_make_valid (task, -1);
  if (task == NULL && !model_metadata_has_boxes (model))
    return;
  model_metadata_set_scale (self, 0, 255);
  self->preprocess.fit = g_strcmp0 (task, "classify") == 0 ? VN_FIT_CROP : VN_FIT_LETTERBOX;
  self->preprocess.fill = self->preprocess.fit == VN_FIT_LETTERBOX ? LETTERBOX_FILL : 0;
  self->preprocess.color = VN_COLOR_RGB;
  self->parts |= VN_PREPROCESS_FIT | VN_PREPROCESS_COLOR;
}

static void
model_metadata_read_image (VnModelMetadata *self,
                           const VnModel   *model)
{
  const char *format = vn_model_get_metadata (model, "Image.BitmapPixelFormat"),
             *range = vn_model_get_metadata (model, "Image.NominalPixelRange");

  if (format != NULL && (g_str_has_prefix (format, "Rgb") || g_str_has_prefix (format, "Bgr")))
    {
      self->preprocess.color = *format == 'B' ? VN_COLOR_BGR : VN_COLOR_RGB;
      self->parts |= VN_PREPROCESS_COLOR;
    }
  if (g_strcmp0 (range, "NominalRange_0_255") == 0)
    model_metadata_set_scale (self, 0, 1);
  else if (g_strcmp0 (range, "Normalized_0_1") == 0)
    model_metadata_set_scale (self, 0, 255);
  else if (g_strcmp0 (range, "Normalized_1_1") == 0)
    model_metadata_set_scale (self, 127.5f, 127.5f);
}

/* As converters of speech networks have it. */
static void
model_metadata_read_sound (VnModelMetadata *self,
                           const VnModel   *model)
{
  const char *rate = vn_model_get_metadata (model, "sample_rate");

  if (rate == NULL || !_vn_python_take_number (&rate, 1u << 20, &self->sample_rate))
    self->sample_rate = 0;
}

/**
 * vn_model_metadata_read:
 *
 * Returns: (transfer full): what the file of @model says; empty if it says nothing
 */
VnModelMetadata *
vn_model_metadata_read (const VnModel *model)
{
  VnModelMetadata *self;

  g_return_val_if_fail (model != NULL, NULL);

  self = g_new0 (VnModelMetadata, 1);
  vn_preprocess_init (&self->preprocess);
  model_metadata_read_image (self, model);
  model_metadata_read_ultralytics (self, model);
  model_metadata_read_sound (self, model);
  return self;
}

void
vn_model_metadata_free (VnModelMetadata *self)
{
  if (self == NULL)
    return;
  g_free (self->task);
  g_strfreev (self->names);
  g_free (self);
}

/* ---- using it ---- */

/**
 * vn_model_metadata_apply:
 * @settings: changed
 * @parts: of @settings that may be changed
 *
 * Returns: which of @parts are now as the metadata have them; they may have been so before
 */
VnPreprocessParts
vn_model_metadata_apply (const VnModelMetadata *self,
                         VnPreprocess          *settings,
                         VnPreprocessParts      parts)
{
  g_return_val_if_fail (self != NULL && settings != NULL, 0);

  parts &= self->parts;
  if (parts & VN_PREPROCESS_SCALE)
    {
      memcpy (settings->mean, self->preprocess.mean, sizeof settings->mean);
      memcpy (settings->std, self->preprocess.std, sizeof settings->std);
    }
  if (parts & VN_PREPROCESS_COLOR)
    settings->color = self->preprocess.color;
  if (parts & VN_PREPROCESS_FIT)
    {
      settings->fit = self->preprocess.fit;
      settings->fill = self->preprocess.fill;
      settings->resize = 0;
      settings->crop_part = 0;
      settings->crop_down = FALSE;
    }
  return parts;
}

/**
 * vn_model_metadata_match:
 *
 * Returns: the parts of @settings that are as the metadata have them
 */
VnPreprocessParts
vn_model_metadata_match (const VnModelMetadata *self,
                         const VnPreprocess    *settings)
{
  VnPreprocessParts parts = 0;

  g_return_val_if_fail (self != NULL && settings != NULL, 0);

  for (guint part = 1; part <= VN_PREPROCESS_ALL; part <<= 1)
    {
      VnPreprocess applied = *settings;

      if (vn_model_metadata_apply (self, &applied, (VnPreprocessParts) part) != 0 && vn_preprocess_equal (&applied, settings))
        parts |= part;
    }
  return parts;
}

/**
 * vn_model_metadata_fill_size:
 * @shape: (inout): of an input; height and width that it leaves open get the size that the metadata have
 *
 * Returns: whether there was something to fill in
 */
gboolean
vn_model_metadata_fill_size (const VnModelMetadata *self,
                             VnShape               *shape)
{
  gboolean is_last;
  gint64 *size;

  g_return_val_if_fail (self != NULL && shape != NULL, FALSE);

  is_last = shape->rank == 4 && shape->dims[1] != 3 && shape->dims[1] != 1 && (shape->dims[3] == 3 || shape->dims[3] == 1);
  size = shape->dims + (is_last ? 1 : 2);
  if (self->width == 0 || shape->rank != 4 || (size[0] >= 0 && size[1] >= 0))
    return FALSE;
  size[0] = size[0] < 0 ? self->height : size[0];
  size[1] = size[1] < 0 ? self->width : size[1];
  return TRUE;
}

/**
 * vn_preprocess_describe:
 * @parts: to speak of
 *
 * Returns: (transfer full): in some words, such as “letterbox, 0 … 1, RGB”; empty if @parts are none
 */
char *
vn_preprocess_describe (const VnPreprocess *self,
                        VnPreprocessParts   parts)
{
  g_autoptr(GString) text = g_string_new (NULL);
  const char *scale = NULL;
  const VnPreprocessPreset *presets;
  const char *words[3];
  guint n;

  g_return_val_if_fail (self != NULL, NULL);

  presets = vn_preprocess_presets (&n);
  for (guint i = 0; i < n && scale == NULL; i++)
    if (memcmp (presets[i].settings.mean, self->mean, 3 * sizeof *self->mean) == 0 &&
        memcmp (presets[i].settings.std, self->std, 3 * sizeof *self->std) == 0)
      scale = _(presets[i].brief);
  words[0] = !(parts & VN_PREPROCESS_FIT) ? NULL : self->fit == VN_FIT_LETTERBOX ? _("letterbox")
           : self->fit == VN_FIT_CROP ? _("center crop") : _("stretched");
  words[1] = parts & VN_PREPROCESS_SCALE ? scale : NULL;
  words[2] = !(parts & VN_PREPROCESS_COLOR) ? NULL : self->color == VN_COLOR_BGR ? _("BGR") : _("RGB");
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i] != NULL)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", words[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_data_spec_take_metadata:
 * @model: whose samples these are
 * @open: what nobody has said yet
 *
 * Pictures are prepared as the file of the network says, as far as @open goes; vn_model_open_data() adds a note about that.
 */
void
vn_data_spec_take_metadata (VnDataSpec        *self,
                            const VnModel     *model,
                            VnPreprocessParts  open)
{
  g_autoptr(VnModelMetadata) metadata = NULL;

  g_return_if_fail (self != NULL && model != NULL);

  if (self->script != NULL)
    return;
  metadata = vn_model_metadata_read (model);
  self->from_metadata |= vn_model_metadata_apply (metadata, &self->preprocess, open);
}
