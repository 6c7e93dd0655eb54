/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: what is written. The format stands in vn-run-file.c. */
#include "vn-run-file.h"

#include "run-file-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-recipe-json.h"

#include <math.h>
#include <string.h>

static void
run_file_add_identity (JsonBuilder *json,
                       const VnRun *self)
{
  g_autoptr(GList) names = g_list_sort (g_hash_table_get_keys (self->value_names), (GCompareFunc) strcmp);

  vn_json_begin_array (json, "nodes");
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRunNode *node = g_ptr_array_index (self->nodes, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "node", node->label);
      vn_json_add_text (json, "type", node->op_type);
      vn_json_add_text_if (json, "source", node->source);
      vn_json_add_text_if (json, "prepared", node->prepared);
      vn_json_add_text_if (json, "rounded", node->rounded);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  vn_json_begin_object (json, "quantized-names");
  for (GList *at = names; at != NULL; at = at->next)
    vn_json_add_text (json, at->data, g_hash_table_lookup (self->value_names, at->data));
  json_builder_end_object (json);
}

static void
run_file_add_notes (JsonBuilder *json,
                    VnNotes     *notes)
{
  vn_json_begin_array (json, "notes");
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "level", vn_note_level_get_id (note->level));
      vn_json_add_text (json, "code", note->code);
      vn_json_add_text_if (json, "subject", note->subject);
      vn_json_add_text (json, "text", note->text);
      vn_json_add_text_if (json, "remedy", note->remedy);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
run_file_add_shapes (JsonBuilder *json,
                     GHashTable  *shapes)
{
  g_autoptr(GList) names = shapes != NULL ? g_list_sort (g_hash_table_get_keys (shapes), (GCompareFunc) strcmp) : NULL;

  if (shapes == NULL)
    return;
  vn_json_begin_object (json, "shapes");
  for (GList *at = names; at != NULL; at = at->next)
    {
      const VnShape *shape = g_hash_table_lookup (shapes, at->data);

      vn_json_begin_array (json, at->data);
      for (int d = 0; d < shape->rank; d++)
        json_builder_add_int_value (json, MAX (shape->dims[d], VN_DIM_UNKNOWN));
      json_builder_end_array (json);
    }
  json_builder_end_object (json);
}

static void
run_file_add_run (JsonBuilder         *json,
                  const VnRunSettings *run,
                  const char          *folder)
{
  vn_json_begin_object (json, "run");
  vn_json_add_int (json, "calibration-samples", run->n_calibration);
  vn_json_add_bool (json, "skip-compare", run->skip_compare);
  if (run->stats != NULL)
    {
      vn_json_begin_array (json, "stats");
      for (char **at = run->stats; *at != NULL; at++)
        {
          g_autofree char *path = vn_file_dup_short (*at, folder);

          json_builder_add_string_value (json, path);
        }
      json_builder_end_array (json);
    }
  run_file_add_shapes (json, run->shapes);
  json_builder_end_object (json);
}

static void
run_file_add_origin (JsonBuilder *json,
                     const VnRun *self,
                     const char  *folder)
{
  g_autofree char *path = self->path != NULL ? vn_file_dup_short (self->path, folder) : NULL;

  vn_json_begin_object (json, "model");
  vn_json_add_text_if (json, "path", path);
  vn_json_add_int (json, "nodes", self->n_nodes);
  vn_json_add_int (json, "opset", self->opset);
  json_builder_end_object (json);
  vn_json_begin_object (json, "digests");
  vn_json_add_text_if (json, "source", self->source_digest);
  vn_json_add_text_if (json, "prepared", self->prepared_digest);
  vn_json_add_text_if (json, "samples", self->samples_digest);
  vn_json_add_text (json, "recipe", self->recipe_digest);
  json_builder_end_object (json);
  vn_json_add_node (json, "recipe", vn_recipe_to_node (self->recipe, folder));
  if (self->data != NULL)
    vn_json_add_node (json, "data", vn_data_spec_to_json (self->data, folder));
  run_file_add_run (json, &self->settings, folder);
}

static void
run_file_add_figures (JsonBuilder *json,
                      const VnRun *self)
{
  vn_json_begin_object (json, "sizes");
  vn_json_add_int (json, "float", (gint64) self->float_bytes);
  vn_json_add_int (json, "quantized", (gint64) self->quantized_bytes);
  json_builder_end_object (json);
  vn_json_begin_object (json, "samples");
  vn_json_add_int (json, "calibration", self->n_calibration);
  vn_json_add_int (json, "held-out", self->n_held_out);
  _vn_run_file_add_flag (json, "left-out-in-turn", self->left_out);
  json_builder_end_object (json);
  vn_json_add_int (json, "quantized-tensors", self->n_quantized);
  vn_json_add_number (json, "seconds", vn_run_get_seconds (self, NULL));
  _vn_run_file_add_kept (json, &self->accuracy.kept);
  if (!self->accuracy.valid)
    return;
  vn_json_begin_object (json, "accuracy");
  vn_json_add_int (json, "samples", self->accuracy.n);
  vn_json_add_int (json, "float-top1", self->accuracy.float_top1);
  vn_json_add_int (json, "quantized-top1", self->accuracy.quant_top1);
  vn_json_add_int (json, "agree", self->accuracy.agree);
  json_builder_end_object (json);
}

/**
 * vn_run_to_json:
 * @folder: that the file belongs to: paths below it are relative to it
 *
 * Returns: (transfer full): the record as text; vn_run_from_json() makes one of it that gives the same text
 */
char *
vn_run_to_json (const VnRun *self,
                const char  *folder)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, NULL);

  json_builder_begin_object (json);
  vn_json_add_int (json, VN_RUN_FILE_VERSION_KEY, VN_RUN_FILE_VERSION);
  vn_json_add_text (json, "program", self->program);
  vn_json_add_time (json, "time", self->time);
  run_file_add_origin (json, self, folder);
  run_file_add_figures (json, self);
#define VN_RUN_FACET(...)
#define VN_RUN_FILE_FACET(SYMBOL, Type, field, prefix, form, id)  \
  if (self->field != NULL)                                        \
    {                                                             \
      json_builder_set_member_name (json, id);                    \
      _vn_run_file_add_##field (json, self->field);               \
    }
#include "vn-run-facets.def"
#undef VN_RUN_FACET
  run_file_add_identity (json, self);
  run_file_add_notes (json, self->notes);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}

/**
 * vn_run_save:
 * @folder: as of vn_run_to_json()
 *
 * Returns: whether the file is complete; if not, what was there before still is
 */
gboolean
vn_run_save (const VnRun  *self,
             const char   *path,
             const char   *folder,
             GError      **error)
{
  g_autofree char *text = NULL;

  g_return_val_if_fail (self != NULL && path != NULL && folder != NULL, FALSE);

  text = vn_run_to_json (self, folder);
  return vn_file_write_all (path, text, strlen (text), error);
}
