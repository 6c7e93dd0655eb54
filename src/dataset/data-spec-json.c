/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where samples are and how they are prepared, as JSON:
 *
 *   { "path": "samples", "samples": 100, "held-out": 16, "seed": 0,
 *     "fit": "crop", "color": "rgb", "layout": "auto", "width": 0, "height": 0, "resize": 0, "crop-part": 0.875,
 *     "crop-down": false, "fill": 0, "resample": "linear", "mean": [r, g, b, a], "std": [r, g, b, a],
 *     "script": "prepare.py:load", "timeout": 0, "raw-type": "float32", "labels": "labels.txt",
 *     "inputs": { "name": { "fit": …, "script": …, "raw-type": … } } }
 *
 * What is missing is as vn_data_spec_new() has it. "python" stands in older files: no file chooses the interpreter, so it is passed over. Paths below the folder of the file are relative to it. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_SIDE 65536

/* ---- plain fields of the preparation ---- */

typedef enum { FIELD_COUNT, FIELD_BOOL, FIELD_NUMBER, FIELD_NUMBERS, FIELD_CHOICE } FieldKind;

static const char * const fits[] = { "stretch", "crop", "letterbox", NULL };
static const char * const colors[] = { "rgb", "bgr", NULL };
static const char * const resamples[] = { "linear", "area", NULL };
static const char * const layouts[] = { "auto", "nchw", "nhwc", NULL };

/* Choices are enums and as large as an int. */
G_STATIC_ASSERT (sizeof (VnFit) == sizeof (int) && sizeof (VnColorOrder) == sizeof (int) && sizeof (VnLayout) == sizeof (int) &&
                 sizeof (VnResample) == sizeof (int));

static const struct
{
  const char          *id;
  FieldKind            kind;
  gsize                offset;
  const char * const  *choices;
} fields[] = {
  { "fit",       FIELD_CHOICE,  offsetof (VnPreprocess, fit),       fits },
  { "color",     FIELD_CHOICE,  offsetof (VnPreprocess, color),     colors },
  { "layout",    FIELD_CHOICE,  offsetof (VnPreprocess, layout),    layouts },
  { "width",     FIELD_COUNT,   offsetof (VnPreprocess, width),     NULL },
  { "height",    FIELD_COUNT,   offsetof (VnPreprocess, height),    NULL },
  { "resize",    FIELD_COUNT,   offsetof (VnPreprocess, resize),    NULL },
  { "crop-part", FIELD_NUMBER,  offsetof (VnPreprocess, crop_part), NULL },
  { "crop-down", FIELD_BOOL,    offsetof (VnPreprocess, crop_down), NULL },
  { "fill",      FIELD_NUMBER,  offsetof (VnPreprocess, fill),      NULL },
  { "resample",  FIELD_CHOICE,  offsetof (VnPreprocess, resample),  resamples },
  { "mean",      FIELD_NUMBERS, offsetof (VnPreprocess, mean),      NULL },
  { "std",       FIELD_NUMBERS, offsetof (VnPreprocess, std),       NULL },
};

/* ---- write ---- */

static void
data_spec_json_add_field (JsonBuilder        *json,
                          guint               k,
                          const VnPreprocess *self)
{
  gconstpointer at = (const char *) self + fields[k].offset;

  json_builder_set_member_name (json, fields[k].id);
  switch (fields[k].kind)
    {
    case FIELD_COUNT:
      json_builder_add_int_value (json, *(const guint *) at);
      break;
    case FIELD_BOOL:
      json_builder_add_boolean_value (json, *(const gboolean *) at);
      break;
    case FIELD_NUMBER:
      json_builder_add_double_value (json, *(const float *) at);
      break;
    case FIELD_NUMBERS:
      json_builder_begin_array (json);
      for (guint i = 0; i < 4; i++)
        json_builder_add_double_value (json, ((const float *) at)[i]);
      json_builder_end_array (json);
      break;
    case FIELD_CHOICE:
      json_builder_add_string_value (json, fields[k].choices[*(const int *) at]);
      break;
    }
}

static void
data_spec_json_add_preprocess (JsonBuilder        *json,
                               const VnPreprocess *self)
{
  for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
    data_spec_json_add_field (json, k, self);
}

static char *
data_spec_json_lengthen (const char *path,
                         const char *folder)
{
  g_autofree char *base = g_canonicalize_filename (folder, NULL);

  return vn_file_dup_long (path, base);
}

/* Each PATH of NAME=PATH;NAME=PATH by itself. */
static char *
data_spec_json_change_places (const char  *places,
                              const char  *folder,
                              char       *(*change) (const char *, const char *))
{
  g_auto(GStrv) items = NULL;

  if (g_str_equal (places, VN_DATA_RANDOM))
    return g_strdup (places);
  if (strchr (places, '=') == NULL)
    return change (places, folder);
  items = g_strsplit_set (places, ";\n", -1);
  for (guint i = 0; items[i] != NULL; i++)
    {
      char *equals = strchr (items[i], '=');
      g_autofree char *item = g_steal_pointer (&items[i]);
      g_autofree char *path = NULL;

      if (equals == NULL)
        {
          items[i] = g_steal_pointer (&item);
          continue;
        }
      path = change (equals + 1, folder);
      items[i] = g_strdup_printf ("%.*s=%s", (int) (equals - item), item, path);
    }
  return g_strjoinv (";", items);
}

static void
data_spec_json_add_inputs (JsonBuilder      *json,
                           const VnDataSpec *self,
                           const char       *folder)
{
  g_autoptr(GList) names = self->inputs != NULL ? g_list_sort (g_hash_table_get_keys (self->inputs), (GCompareFunc) strcmp) : NULL;

  if (names == NULL)
    return;
  vn_json_begin_object (json, "inputs");
  for (GList *at = names; at != NULL; at = at->next)
    {
      const VnInputData *data = g_hash_table_lookup (self->inputs, at->data);
      g_autofree char *script = data->script != NULL ? vn_file_dup_short (data->script, folder) : NULL;

      vn_json_begin_object (json, at->data);
      data_spec_json_add_preprocess (json, &data->preprocess);
      vn_json_add_text_if (json, "script", script);
      vn_json_add_text_if (json, "raw-type", data->raw_type != VN_DTYPE_UNDEFINED ? vn_dtype_get_name (data->raw_type) : NULL);
      json_builder_end_object (json);
    }
  json_builder_end_object (json);
}

/**
 * vn_data_spec_to_json:
 * @folder: of the file this goes into
 *
 * Returns: (transfer full): an object that vn_data_spec_from_json() makes an equal specification of, but for the interpreter
 */
JsonNode *
vn_data_spec_to_json (const VnDataSpec *self,
                      const char       *folder)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autofree char *path = NULL, *script = NULL, *labels = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, NULL);

  path = data_spec_json_change_places (self->path, folder, vn_file_dup_short);
  script = self->script != NULL ? vn_file_dup_short (self->script, folder) : NULL;
  labels = self->labels != NULL ? vn_file_dup_short (self->labels, folder) : NULL;
  json_builder_begin_object (json);
  vn_json_add_text_if (json, "path", path);
  vn_json_add_int (json, "samples", self->max_samples);
  if (self->held_out != VN_HELD_OUT_USUAL)
    vn_json_add_int (json, "held-out", self->held_out);
  vn_json_add_int (json, "seed", (gint64) self->seed);
  data_spec_json_add_preprocess (json, &self->preprocess);
  vn_json_add_text_if (json, "script", script);
  vn_json_add_int (json, "timeout", self->timeout);
  vn_json_add_text_if (json, "raw-type", self->raw_type != VN_DTYPE_UNDEFINED ? vn_dtype_get_name (self->raw_type) : NULL);
  vn_json_add_text_if (json, "labels", labels);
  data_spec_json_add_inputs (json, self, folder);
  json_builder_end_object (json);
  return json_builder_get_root (json);
}

/* ---- read ---- */

static gboolean
data_spec_json_read_float (JsonNode    *node,
                           const char  *where,
                           float       *value,
                           GError     **error)
{
  double number;

  if (!vn_json_get_number (node, where, &number, error))
    return FALSE;
  if (fabs (number) <= FLT_MAX)
    {
      *value = (float) number;
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is %g, which is out of the range of a float"), where, number);
  return FALSE;
}

static gboolean
data_spec_json_read_floats (JsonNode    *node,
                            const char  *where,
                            float        values[4],
                            GError     **error)
{
  JsonArray *array = vn_json_get_array (node, where, error);

  if (array == NULL)
    return FALSE;
  if (json_array_get_length (array) != 4)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s has %u values; expected four, one per channel"), where,
                   json_array_get_length (array));
      return FALSE;
    }
  for (guint i = 0; i < 4; i++)
    if (!data_spec_json_read_float (json_array_get_element (array, i), where, &values[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
data_spec_json_read_choice (JsonNode            *node,
                            const char          *where,
                            const char * const  *choices,
                            int                 *value,
                            GError             **error)
{
  const char *text = vn_json_get_string (node, where, error);
  g_autofree char *allowed = g_strjoinv (", ", (char **) choices);

  if (text == NULL)
    return FALSE;
  for (int i = 0; choices[i] != NULL; i++)
    if (g_str_equal (choices[i], text))
      {
        *value = i;
        return TRUE;
      }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is “%s”; choose one of: %s"), where, text, allowed);
  return FALSE;
}

static gboolean
data_spec_json_read_field (JsonNode      *node,
                           guint          k,
                           const char    *where,
                           VnPreprocess  *self,
                           GError       **error)
{
  gpointer at = (char *) self + fields[k].offset;
  guint64 value = 0;

  switch (fields[k].kind)
    {
    case FIELD_COUNT:
      if (!vn_json_get_count (node, where, MAX_SIDE, &value, error))
        return FALSE;
      *(guint *) at = (guint) value;
      return TRUE;
    case FIELD_BOOL:
      return vn_json_get_boolean (node, where, at, error);
    case FIELD_NUMBER:
      return data_spec_json_read_float (node, where, at, error);
    case FIELD_NUMBERS:
      return data_spec_json_read_floats (node, where, at, error);
    case FIELD_CHOICE:
      return data_spec_json_read_choice (node, where, fields[k].choices, at, error);
    }
  return FALSE;
}

static int
data_spec_json_find_field (const char *id)
{
  for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
    if (g_str_equal (fields[k].id, id))
      return (int) k;
  return -1;
}

static gboolean
data_spec_json_check_preprocess (const VnPreprocess  *self,
                                 const char          *where,
                                 GError             **error)
{
  for (guint i = 0; i < 4; i++)
    if (self->std[i] == 0)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s.std: division by 0 is not allowed"), where);
        return FALSE;
      }
  if (self->crop_part >= 0 && self->crop_part <= 1)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s.crop-part is %g; expected 0 to 1"), where, (double) self->crop_part);
  return FALSE;
}

static gboolean
data_spec_json_refuse_member (const char  *where,
                              GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: unknown field"), where);
  return FALSE;
}

static char *
data_spec_json_read_path (JsonNode    *node,
                          const char  *where,
                          const char  *folder,
                          GError     **error)
{
  const char *text = vn_json_get_string (node, where, error);

  return text != NULL ? data_spec_json_change_places (text, folder, data_spec_json_lengthen) : NULL;
}

static gboolean
data_spec_json_read_raw_type (VnDType     *raw_type,
                              JsonNode    *node,
                              const char  *where,
                              GError     **error)
{
  const char *text = vn_json_get_string (node, where, error);

  if (text == NULL)
    return FALSE;
  *raw_type = vn_dtype_from_name (text);
  if (*raw_type != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (*raw_type) >= 8)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is “%s”; expected a type such as float32 or int64"), where, text);
  return FALSE;
}

static gboolean
data_spec_json_read_input (VnDataSpec  *self,
                           const char  *name,
                           JsonNode    *node,
                           const char  *where,
                           const char  *folder,
                           GError     **error)
{
  JsonObject *object = vn_json_get_object (node, where, error);
  VnPreprocess preprocess = self->preprocess;
  VnDType raw_type = VN_DTYPE_UNDEFINED;
  g_autofree char *script = NULL;
  JsonObjectIter iter;
  const char *id;
  JsonNode *member;

  if (object == NULL)
    return FALSE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &id, &member))
    {
      g_autofree char *place = g_strconcat (where, ".", id, NULL);
      int k = data_spec_json_find_field (id);

      if (g_str_equal (id, "script"))
        {
          g_free (script);
          script = data_spec_json_read_path (member, place, folder, error);
          if (script == NULL)
            return FALSE;
        }
      else if (g_str_equal (id, "raw-type"))
        {
          if (!data_spec_json_read_raw_type (&raw_type, member, place, error))
            return FALSE;
        }
      else if (k < 0 ? !data_spec_json_refuse_member (place, error) : !data_spec_json_read_field (member, (guint) k, place, &preprocess, error))
        return FALSE;
    }
  if (!data_spec_json_check_preprocess (&preprocess, where, error))
    return FALSE;
  vn_data_spec_set_input (self, name, &preprocess, script);
  vn_data_spec_set_raw_type (self, name, raw_type);
  return TRUE;
}

static gboolean
data_spec_json_read_inputs (VnDataSpec  *self,
                            JsonNode    *node,
                            const char  *where,
                            const char  *folder,
                            GError     **error)
{
  JsonObject *object = vn_json_get_object (node, where, error);
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (object == NULL)
    return FALSE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member))
    {
      g_autofree char *place = g_strconcat (where, ".", name, NULL);

      if (!data_spec_json_read_input (self, name, member, place, folder, error))
        return FALSE;
    }
  return TRUE;
}

/* What is said about the whole, not about how a picture becomes a tensor. */
static gboolean
data_spec_json_read_member (VnDataSpec  *self,
                            const char  *id,
                            JsonNode    *node,
                            const char  *where,
                            const char  *folder,
                            GError     **error)
{
  char **path = g_str_equal (id, "path") ? &self->path : g_str_equal (id, "script") ? &self->script
              : g_str_equal (id, "labels") ? &self->labels : NULL;
  guint64 value = 0;
  int k = data_spec_json_find_field (id);

  if (k >= 0)
    return data_spec_json_read_field (node, (guint) k, where, &self->preprocess, error);
  if (path != NULL)
    {
      g_free (*path);
      *path = data_spec_json_read_path (node, where, folder, error);
      return *path != NULL;
    }
  if (g_str_equal (id, "python"))
    return vn_json_get_string (node, where, error) != NULL;
  if (g_str_equal (id, "raw-type"))
    return data_spec_json_read_raw_type (&self->raw_type, node, where, error);
  if (g_str_equal (id, "inputs"))
    return TRUE;
  if (!g_str_equal (id, "samples") && !g_str_equal (id, "held-out") && !g_str_equal (id, "timeout") && !g_str_equal (id, "seed"))
    return data_spec_json_refuse_member (where, error);
  if (!vn_json_get_count (node, where, g_str_equal (id, "seed") ? G_MAXINT64 : G_MAXINT, &value, error))
    return FALSE;
  if (g_str_equal (id, "seed"))
    self->seed = value;
  else if (g_str_equal (id, "held-out"))
    self->held_out = (gint) value;
  else
    *(g_str_equal (id, "samples") ? &self->max_samples : &self->timeout) = (guint) value;
  return TRUE;
}

/**
 * vn_data_spec_from_json:
 * @node: what vn_data_spec_to_json() makes, or somebody by hand
 * @where: what it is called in messages
 * @folder: of the file it comes from
 *
 * Scripts that it names do not run before vn_data_spec_trust().
 *
 * Returns: (transfer full) (nullable): the specification, or the place, what is there and what is allowed
 */
VnDataSpec *
vn_data_spec_from_json (JsonNode    *node,
                        const char  *where,
                        const char  *folder,
                        GError     **error)
{
  g_autoptr(VnDataSpec) self = NULL;
  JsonObject *object;
  JsonObjectIter iter;
  const char *id;
  JsonNode *member;

  g_return_val_if_fail (node != NULL && where != NULL && folder != NULL, NULL);

  object = vn_json_get_object (node, where, error);
  if (object == NULL)
    return NULL;
  if (!json_object_has_member (object, "path"))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s.path is missing: specify the samples, or “random”"), where);
      return NULL;
    }
  self = vn_data_spec_new (VN_DATA_RANDOM);
  self->foreign = TRUE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &id, &member))
    {
      g_autofree char *place = g_strconcat (where, ".", id, NULL);

      if (!data_spec_json_read_member (self, id, member, place, folder, error))
        return NULL;
    }
  if (json_object_has_member (object, "inputs"))
    {
      g_autofree char *place = g_strconcat (where, ".inputs", NULL);

      if (!data_spec_json_read_inputs (self, json_object_get_member (object, "inputs"), place, folder, error))
        return NULL;
    }
  return data_spec_json_check_preprocess (&self->preprocess, where, error) ? g_steal_pointer (&self) : NULL;
}
