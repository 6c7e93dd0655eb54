/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where samples are and how they are prepared, as JSON:
 *
 *   { "path": "samples", "samples": 100, "held-out": 16, "seed": 0,
 *     "fit": "crop", "color": "rgb", "layout": "auto", "width": 0, "height": 0, "resize": 0, "crop-part": 0.875,
 *     "crop-down": false, "fill": 0, "resample": "linear", "mean": [r, g, b, a], "std": [r, g, b, a],
 *     "script": "prepare.py:load", "timeout": 0, "raw-type": "float32", "labels": "labels.txt",
 *     "tokenizer": "tokenizer.json", "window": 128, "stride": 64,
 *     "inputs": { "name": { "fit": …, "script": …, "raw-type": … } } }
 *
 * What is missing is as vn_data_spec_new() has it. "python" stands in older files: no file chooses the interpreter, so it is
 * passed over. Paths below the folder of the file are relative to it. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json-fields.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_SIDE 65536

/* ---- fields ---- */

typedef enum { FIELD_COUNT, FIELD_BOOL, FIELD_NUMBER, FIELD_CHANNELS, FIELD_CHOICE } FieldKind;

static const char * const fits[] = { "stretch", "crop", "letterbox", NULL };
static const char * const colors[] = { "rgb", "bgr", NULL };
static const char * const resamples[] = { "linear", "area", NULL };
static const char * const layouts[] = { "auto", "nchw", "nhwc", NULL };

/* Choices are enums and as large as an int. */
G_STATIC_ASSERT (sizeof (VnFit) == sizeof (int) && sizeof (VnColorOrder) == sizeof (int) && sizeof (VnLayout) == sizeof (int) &&
                 sizeof (VnResample) == sizeof (int));

/* A field of a structure as a member of an object. Tables end with one without id.
 * @most: of a COUNT, which is a guint; @choices: of a CHOICE */
typedef struct
{
  const char          *id;
  FieldKind            kind;
  gsize                offset;
  guint                most;
  const char * const  *choices;
} Field;

#define AT(type, field) G_STRUCT_OFFSET (type, field)

static const Field preprocess_fields[] = {
  { "fit", FIELD_CHOICE, AT (VnPreprocess, fit), .choices = fits },
  { "color", FIELD_CHOICE, AT (VnPreprocess, color), .choices = colors },
  { "layout", FIELD_CHOICE, AT (VnPreprocess, layout), .choices = layouts },
  { "width", FIELD_COUNT, AT (VnPreprocess, width), MAX_SIDE },
  { "height", FIELD_COUNT, AT (VnPreprocess, height), MAX_SIDE },
  { "resize", FIELD_COUNT, AT (VnPreprocess, resize), MAX_SIDE },
  { "crop-part", FIELD_NUMBER, AT (VnPreprocess, crop_part) },
  { "crop-down", FIELD_BOOL, AT (VnPreprocess, crop_down) },
  { "fill", FIELD_NUMBER, AT (VnPreprocess, fill) },
  { "resample", FIELD_CHOICE, AT (VnPreprocess, resample), .choices = resamples },
  { "mean", FIELD_CHANNELS, AT (VnPreprocess, mean) },
  { "std", FIELD_CHANNELS, AT (VnPreprocess, std) },
  { NULL }
};

/* These stand between others where they are written. */
static const Field spec_fields[] = {
  { "samples", FIELD_COUNT, AT (VnDataSpec, max_samples), G_MAXINT },
  { "held-out", FIELD_COUNT, AT (VnDataSpec, held_out), G_MAXINT },
  { "timeout", FIELD_COUNT, AT (VnDataSpec, timeout), G_MAXINT },
  { "window", FIELD_COUNT, AT (VnDataSpec, window), G_MAXINT },
  { "stride", FIELD_COUNT, AT (VnDataSpec, stride), G_MAXINT },
  { NULL }
};

/* ---- write ---- */

static void
data_spec_json_add_fields (JsonBuilder   *json,
                           const Field   *fields,
                           gconstpointer  object)
{
  for (; fields->id != NULL; fields++)
    {
      const float *numbers = &G_STRUCT_MEMBER (const float, object, fields->offset);

      json_builder_set_member_name (json, fields->id);
      if (fields->kind == FIELD_COUNT)
        json_builder_add_int_value (json, G_STRUCT_MEMBER (const guint, object, fields->offset));
      else if (fields->kind == FIELD_BOOL)
        json_builder_add_boolean_value (json, G_STRUCT_MEMBER (const gboolean, object, fields->offset));
      else if (fields->kind == FIELD_CHOICE)
        json_builder_add_string_value (json, fields->choices[G_STRUCT_MEMBER (const int, object, fields->offset)]);
      else if (fields->kind == FIELD_NUMBER)
        json_builder_add_double_value (json, *numbers);
      else
        {
          json_builder_begin_array (json);
          for (guint i = 0; i < 4; i++)
            json_builder_add_double_value (json, numbers[i]);
          json_builder_end_array (json);
        }
    }
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
  g_autoptr(GList) names = self->inputs != NULL
                           ? g_list_sort (g_hash_table_get_keys (self->inputs), (GCompareFunc) strcmp) : NULL;

  if (names == NULL)
    return;
  vn_json_begin_object (json, "inputs");
  for (GList *at = names; at != NULL; at = at->next)
    {
      const VnInputData *data = g_hash_table_lookup (self->inputs, at->data);
      g_autofree char *script = data->script != NULL ? vn_file_dup_short (data->script, folder) : NULL;

      vn_json_begin_object (json, at->data);
      data_spec_json_add_fields (json, preprocess_fields, &data->preprocess);
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
  g_autofree char *path = NULL, *script = NULL, *labels = NULL, *tokenizer = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, NULL);

  path = data_spec_json_change_places (self->path, folder, vn_file_dup_short);
  script = self->script != NULL ? vn_file_dup_short (self->script, folder) : NULL;
  labels = self->labels != NULL ? vn_file_dup_short (self->labels, folder) : NULL;
  tokenizer = self->tokenizer != NULL ? vn_file_dup_short (self->tokenizer, folder) : NULL;
  json_builder_begin_object (json);
  vn_json_add_text_if (json, "path", path);
  vn_json_add_int (json, "samples", self->max_samples);
  if (self->held_out != VN_HELD_OUT_USUAL)
    vn_json_add_int (json, "held-out", self->held_out);
  vn_json_add_int (json, "seed", (gint64) self->seed);
  data_spec_json_add_fields (json, preprocess_fields, &self->preprocess);
  vn_json_add_text_if (json, "script", script);
  vn_json_add_int (json, "timeout", self->timeout);
  vn_json_add_text_if (json, "raw-type", self->raw_type != VN_DTYPE_UNDEFINED ? vn_dtype_get_name (self->raw_type) : NULL);
  vn_json_add_text_if (json, "labels", labels);
  vn_json_add_text_if (json, "tokenizer", tokenizer);
  if (self->window > 0)
    vn_json_add_int (json, "window", self->window);
  if (self->stride > 0)
    vn_json_add_int (json, "stride", self->stride);
  data_spec_json_add_inputs (json, self, folder);
  json_builder_end_object (json);
  return json_builder_get_root (json);
}

/* ---- read ---- */

static void
data_spec_json_read_numbers (VnJsonFields *fields,
                             const Field  *field,
                             float        *values)
{
  JsonArray *array = field->kind == FIELD_CHANNELS ? vn_json_fields_get_array (fields, field->id) : NULL;
  const guint n = field->kind == FIELD_CHANNELS ? 4 : 1;
  g_autofree char *where = vn_json_fields_dup_where (fields, field->id);
  GError *reason = NULL;

  if (array != NULL && json_array_get_length (array) != n)
    reason = g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s has %u values; expected four, one per channel"), where,
                          json_array_get_length (array));
  for (guint i = 0; fields->object != NULL && reason == NULL && i < n; i++)
    {
      JsonNode *node = array != NULL ? json_array_get_element (array, i) : vn_json_fields_get (fields, field->id);
      double number;

      if (!vn_json_get_number (node, where, &number, &reason))
        break;
      if (fabs (number) > FLT_MAX)
        reason = g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s is %g, which is out of the range of a float"), where, number);
      else
        values[i] = (float) number;
    }
  vn_json_fields_take_error (fields, reason);
}

static void
data_spec_json_read_choice (VnJsonFields *fields,
                            const Field  *field,
                            int          *value)
{
  g_autofree char *text = vn_json_fields_dup_text (fields, field->id), *allowed = NULL;

  for (int i = 0; text != NULL && field->choices[i] != NULL; i++)
    if (g_str_equal (field->choices[i], text))
      {
        *value = i;
        return;
      }
  allowed = g_strjoinv (", ", (char **) field->choices);
  if (text != NULL)
    vn_json_fields_fail (fields, field->id, _("is “%s”; choose one of: %s"), text, allowed);
}

/* What is not there stays as it is. */
static void
data_spec_json_read_fields (VnJsonFields *fields,
                            const Field  *table,
                            gpointer      object)
{
  for (; table->id != NULL; table++)
    if (!vn_json_fields_contains (fields, table->id))
      continue;
    else if (table->kind == FIELD_COUNT)
      G_STRUCT_MEMBER (guint, object, table->offset) = (guint) vn_json_fields_get_count (fields, table->id, table->most);
    else if (table->kind == FIELD_BOOL)
      G_STRUCT_MEMBER (gboolean, object, table->offset) = vn_json_fields_get_bool (fields, table->id);
    else if (table->kind == FIELD_CHOICE)
      data_spec_json_read_choice (fields, table, &G_STRUCT_MEMBER (int, object, table->offset));
    else
      data_spec_json_read_numbers (fields, table, &G_STRUCT_MEMBER (float, object, table->offset));
}

static gboolean
data_spec_json_knows (const char *id)
{
  for (guint i = 0; preprocess_fields[i].id != NULL; i++)
    if (g_str_equal (preprocess_fields[i].id, id))
      return TRUE;
  return FALSE;
}

static void
data_spec_json_refuse_unknown (VnJsonFields       *fields,
                               const char * const *others)
{
  JsonObjectIter iter;
  const char *id;

  if (fields->object == NULL)
    return;
  json_object_iter_init (&iter, fields->object);
  while (fields->error == NULL && json_object_iter_next (&iter, &id, NULL))
    if (!data_spec_json_knows (id) && !g_strv_contains (others, id))
      {
        g_autofree char *where = vn_json_fields_dup_where (fields, id);

        vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s: unknown field"), where));
      }
}

static void
data_spec_json_read_preprocess (VnJsonFields *fields,
                                VnPreprocess *self)
{
  data_spec_json_read_fields (fields, preprocess_fields, self);
  if (fields->error != NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (self->std); i++)
    if (self->std[i] == 0)
      {
        vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s.std: division by 0 is not allowed"),
                                                        fields->where));
        return;
      }
  if (self->crop_part < 0 || self->crop_part > 1)
    vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s.crop-part is %g; expected 0 to 1"),
                                                    fields->where, (double) self->crop_part));
}

static void
data_spec_json_read_path (VnJsonFields  *fields,
                          const char    *id,
                          const char    *folder,
                          char         **path)
{
  g_autofree char *text = vn_json_fields_contains (fields, id) ? vn_json_fields_dup_text (fields, id) : NULL;

  if (text == NULL)
    return;
  g_free (*path);
  *path = data_spec_json_change_places (text, folder, data_spec_json_lengthen);
}

static void
data_spec_json_read_raw_type (VnJsonFields *fields,
                              VnDType      *raw_type)
{
  g_autofree char *text = vn_json_fields_contains (fields, "raw-type") ? vn_json_fields_dup_text (fields, "raw-type") : NULL;

  if (text == NULL)
    return;
  *raw_type = vn_dtype_from_name (text);
  if (*raw_type == VN_DTYPE_UNDEFINED || vn_dtype_get_bits (*raw_type) < 8)
    vn_json_fields_fail (fields, "raw-type", _("is “%s”; expected a type such as float32 or int64"), text);
}

static void
data_spec_json_read_input (VnDataSpec   *self,
                           const char   *name,
                           VnJsonFields *fields,
                           const char   *folder)
{
  static const char * const others[] = { "script", "raw-type", NULL };
  VnPreprocess preprocess = self->preprocess;
  VnDType raw_type = VN_DTYPE_UNDEFINED;
  g_autofree char *script = NULL;

  data_spec_json_refuse_unknown (fields, others);
  data_spec_json_read_preprocess (fields, &preprocess);
  data_spec_json_read_path (fields, "script", folder, &script);
  data_spec_json_read_raw_type (fields, &raw_type);
  if (fields->error != NULL)
    return;
  vn_data_spec_set_input (self, name, &preprocess, script);
  vn_data_spec_set_raw_type (self, name, raw_type);
}

static void
data_spec_json_read_inputs (VnDataSpec   *self,
                            VnJsonFields *inputs,
                            const char   *folder)
{
  g_autoptr(GList) names = inputs->object != NULL ? json_object_get_members (inputs->object) : NULL;

  for (GList *at = names; at != NULL && inputs->error == NULL; at = at->next)
    {
      VnJsonFields fields;

      vn_json_fields_enter (&fields, inputs, at->data);
      data_spec_json_read_input (self, at->data, &fields, folder);
      vn_json_fields_leave (&fields, inputs);
    }
}

static void
data_spec_json_read_spec (VnDataSpec   *self,
                          VnJsonFields *fields,
                          const char   *folder)
{
  static const char * const others[] = { "path", "samples", "held-out", "seed", "script", "python", "timeout", "raw-type",
                                         "labels", "tokenizer", "window", "stride", "inputs", NULL };
  g_autofree char *python = NULL;
  VnJsonFields inputs;

  data_spec_json_refuse_unknown (fields, others);
  data_spec_json_read_preprocess (fields, &self->preprocess);
  data_spec_json_read_fields (fields, spec_fields, self);
  if (vn_json_fields_contains (fields, "seed"))
    self->seed = vn_json_fields_get_count (fields, "seed", G_MAXINT64);
  data_spec_json_read_path (fields, "path", folder, &self->path);
  data_spec_json_read_path (fields, "script", folder, &self->script);
  data_spec_json_read_path (fields, "labels", folder, &self->labels);
  data_spec_json_read_path (fields, "tokenizer", folder, &self->tokenizer);
  data_spec_json_read_raw_type (fields, &self->raw_type);
  python = vn_json_fields_contains (fields, "python") ? vn_json_fields_dup_text (fields, "python") : NULL;
  if (!vn_json_fields_contains (fields, "inputs"))
    return;
  vn_json_fields_enter (&inputs, fields, "inputs");
  data_spec_json_read_inputs (self, &inputs, folder);
  vn_json_fields_leave (&inputs, fields);
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
  g_auto(VnJsonFields) fields = { 0 };

  g_return_val_if_fail (node != NULL && where != NULL && folder != NULL, NULL);

  vn_json_fields_init (&fields, node, where);
  if (fields.object != NULL && !json_object_has_member (fields.object, "path"))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s.path is missing: specify the samples, or “random”"), where);
      return NULL;
    }
  self = vn_data_spec_new (VN_DATA_RANDOM);
  self->foreign = TRUE;
  data_spec_json_read_spec (self, &fields, folder);
  return vn_json_fields_end (&fields, error) ? g_steal_pointer (&self) : NULL;
}
