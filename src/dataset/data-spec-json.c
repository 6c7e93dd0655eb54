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
#include "vn-json-members.h"

#include <string.h>

#define MAX_SIDE 65536

static const char * const fits[] = { "stretch", "crop", "letterbox", NULL };
static const char * const colors[] = { "rgb", "bgr", NULL };
static const char * const resamples[] = { "linear", "area", NULL };
static const char * const layouts[] = { "auto", "nchw", "nhwc", NULL };

#define AT(field) VN_JSON_MAY_MISS, G_STRUCT_OFFSET (VnPreprocess, field)

static const VnJsonMember preprocess_members[] = {
  { "fit", VN_JSON_CHOICE, AT (fit), .choices = fits },
  { "color", VN_JSON_CHOICE, AT (color), .choices = colors },
  { "layout", VN_JSON_CHOICE, AT (layout), .choices = layouts },
  { "width", VN_JSON_UINT, AT (width), MAX_SIDE },
  { "height", VN_JSON_UINT, AT (height), MAX_SIDE },
  { "resize", VN_JSON_UINT, AT (resize), MAX_SIDE },
  { "crop-part", VN_JSON_FLOAT, AT (crop_part) },
  { "crop-down", VN_JSON_BOOL, AT (crop_down) },
  { "fill", VN_JSON_FLOAT, AT (fill) },
  { "resample", VN_JSON_CHOICE, AT (resample), .choices = resamples },
  { "mean", VN_JSON_CHANNELS, AT (mean) },
  { "std", VN_JSON_CHANNELS, AT (std) },
  { NULL }
};

/* What stands between others when it is written. */
static const VnJsonMember spec_members[] = {
  { "samples", VN_JSON_UINT, VN_JSON_MAY_MISS, G_STRUCT_OFFSET (VnDataSpec, max_samples), G_MAXINT },
  { "held-out", VN_JSON_UINT, VN_JSON_MAY_MISS, G_STRUCT_OFFSET (VnDataSpec, held_out), G_MAXINT },
  { "timeout", VN_JSON_UINT, VN_JSON_MAY_MISS, G_STRUCT_OFFSET (VnDataSpec, timeout), G_MAXINT },
  { "seed", VN_JSON_COUNT, VN_JSON_MAY_MISS, G_STRUCT_OFFSET (VnDataSpec, seed), G_MAXINT64 },
  { NULL }
};

/* ---- write ---- */

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
      vn_json_members_write (preprocess_members, &data->preprocess, json);
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
  vn_json_members_write (preprocess_members, &self->preprocess, json);
  vn_json_add_text_if (json, "script", script);
  vn_json_add_int (json, "timeout", self->timeout);
  vn_json_add_text_if (json, "raw-type", self->raw_type != VN_DTYPE_UNDEFINED ? vn_dtype_get_name (self->raw_type) : NULL);
  vn_json_add_text_if (json, "labels", labels);
  data_spec_json_add_inputs (json, self, folder);
  json_builder_end_object (json);
  return json_builder_get_root (json);
}

/* ---- read ---- */

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
    if (vn_json_members_find (preprocess_members, id) == NULL && !g_strv_contains (others, id))
      {
        g_autofree char *where = vn_json_fields_dup_where (fields, id);

        vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_SETTING, _("%s: unknown field"), where));
      }
}

static void
data_spec_json_read_preprocess (VnJsonFields *fields,
                                VnPreprocess *self)
{
  vn_json_members_read (preprocess_members, self, fields);
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
  static const char * const others[] = { "path", "samples", "held-out", "seed", "script", "python", "timeout", "raw-type", "labels",
                                         "inputs", NULL };
  g_autofree char *python = NULL;
  VnJsonFields inputs;

  data_spec_json_refuse_unknown (fields, others);
  data_spec_json_read_preprocess (fields, &self->preprocess);
  vn_json_members_read (spec_members, self, fields);
  data_spec_json_read_path (fields, "path", folder, &self->path);
  data_spec_json_read_path (fields, "script", folder, &self->script);
  data_spec_json_read_path (fields, "labels", folder, &self->labels);
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
