/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON, version 1:
 *
 *   { "vernier-result": 1, "program": "…", "time": "2025-03-31T14:05:00Z",
 *     "model": { "path", "nodes", "opset" },
 *     "digests": { "source", "prepared", "samples", "recipe" },
 *     "recipe": { … },                                        as in src/recipe/recipe-json.c
 *     "data": { … },                                          as in src/dataset/data-spec-json.c; if there were samples
 *     "run": { "calibration-samples", "skip-compare", "stats": [ path ], "shapes": { input: [ size ] } },
 *     "sizes": { "float", "quantized" }, "samples": { "calibration", "held-out" }, "quantized-tensors", "seconds",
 *     "accuracy": { "samples", "float-top1", "quantized-top1", "agree" },     with labels that the network can hit
 *     "kept": { "task", "samples", "share", "of", "kept", "added", "mean" },   of all but classes; mean: of tokens and embeddings
 *     "errors": { "samples", "tensors": [ row ], "weights": [ row ] },        if the error was measured
 *     "contributions": [ { "tensor", "node", "value", "role", "samples", "share", "share-error", "alone-sqnr", "local-sqnr" } ],
 *                                                             if it was asked for
 *     "verification": { "runtime", "version", "samples", "load-seconds", "seconds", "float-seconds", "integer-share",
 *       "saturates", "exact-agrees", "exact-sqnr",                where kernels of the processor saturate
 *       "products", "integer-products", "partitions",             where the runtime tells them
 *       "outputs": [ { "name", "sqnr", "largest-difference", "runtime-sqnr", "own-sqnr" } ],
 *       "float-nodes", "refused-nodes": [ { "name", "operator", "type", "kernel", "reason", "macs" } ] },
 *                                                             if it was run in a runtime; no "runtime": onnxruntime
 *     "plan": { "tensors": [ { "tensor", "dtype", "scale", "zero-point", "min", "max", "rule" } ], "npu": [ node ] },    no type:
 * float
 *     "forecast": { "macs", "integer-macs", "seconds", "conversion-seconds", "float-seconds", "observed",
 *       "nodes": [ { "node", "output", "type", "kernel", "into", "kind", "reason", "converts", "macs", "seconds" } ] },
 *     "diagnosis": { "reasons": [ { "rank", "tensor", "node", "role", "share", "reason", "text" } ],
 *       "cures": [ { "tensor", "reason", "cure", "state", "before-sqnr", "after-sqnr", "before", "after",
 * "before-bytes", "after-bytes", "time-ratio", "problem" } ] },
 *                                                             before, after: { "worst-output-sqnr", "kept", "labeled", "right" }
 *     "answers": [ { "sample", "index", "task", "of", "kept", "added", "share", "mean" } ],
 *     "steps": [ { "title", "outcome", "kept", "before-sqnr", "after-sqnr" } ],
 *     "curve": { "cost", "samples", "points": [ { "chosen", "plain", "used", "predicted-sqnr", "measured-sqnr", "bytes",
 * "integer-share",
 *                "wide-share", "time-ratio", "float-tensors", "wide-tensors", "small-weights", "recipe" } ] },
 *     "spreads": [ { "tensor", "node", "role", "low", "high", "range-min", "range-max", "counts" } ],     the six from plan on:
 * for reports
 *     "nodes": [ { "node", "type", "source", "prepared", "rounded" } ], "quantized-names": { prepared: quantized },
 *     "notes": [ { "level", "code", "subject", "text", "remedy" } ] }
 *
 * A row has "tensor", "node", "type", the metrics of vn-metrics.def by their ids and what is said at run_file_add_row() in
 * run-file-errors.c. NaN and infinities are the texts “nan”, “inf” and “-inf”; a metric that a file does not have is NaN. What is
 * unknown is ignored, what is needed and missing or wrong is told with its place. Another version is refused. Paths below the
 * folder that a file belongs to are relative to it. */
#include "vn-run-file.h"

#include "run-file-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json-fields.h"
#include "vn-recipe-json.h"

#include <math.h>
#include <string.h>

/* ---- read ---- */

typedef void (*ReadFunc) (VnRun        *self,
                          VnJsonFields *fields,
                          const char   *folder);

/* Every object of the list @id, until one is wrong. */
static void
run_file_read_list (VnRun        *self,
                    VnJsonFields *parent,
                    const char   *id,
                    ReadFunc      read)
{
  JsonArray *array = vn_json_fields_get_array (parent, id);
  g_autofree char *where = vn_json_fields_dup_where (parent, id);

  for (guint i = 0; array != NULL && parent->error == NULL && i < json_array_get_length (array); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", where, i);
      VnJsonFields fields;

      vn_json_fields_init (&fields, json_array_get_element (array, i), place);
      read (self, &fields, NULL);
      vn_json_fields_leave (&fields, parent);
    }
}

static void
run_file_read_object (VnRun        *self,
                      VnJsonFields *parent,
                      const char   *id,
                      const char   *folder,
                      ReadFunc      read)
{
  VnJsonFields fields;

  vn_json_fields_enter (&fields, parent, id);
  if (fields.object != NULL)
    read (self, &fields, folder);
  vn_json_fields_leave (&fields, parent);
}

static void
run_file_read_node (VnRun        *self,
                    VnJsonFields *fields,
                    const char   *folder)
{
  VnRunNode *node = g_new0 (VnRunNode, 1);

  node->label = vn_json_fields_dup_text (fields, "node");
  node->op_type = vn_json_fields_dup_text (fields, "type");
  node->source = vn_json_fields_dup_text_if (fields, "source");
  node->prepared = vn_json_fields_dup_text_if (fields, "prepared");
  node->rounded = vn_json_fields_dup_text_if (fields, "rounded");
  g_ptr_array_add (self->nodes, node);
}

static void
run_file_read_names (VnRun        *self,
                     VnJsonFields *fields,
                     const char   *folder)
{
  g_autoptr(GList) names = json_object_get_members (fields->object);

  for (GList *at = names; at != NULL && fields->error == NULL; at = at->next)
    {
      char *name = vn_json_fields_dup_text (fields, at->data);

      if (name != NULL)
        g_hash_table_replace (self->value_names, g_strdup (at->data), name);
    }
}

static void
run_file_read_note (VnRun        *self,
                    VnJsonFields *fields,
                    const char   *folder)
{
  g_autofree char *level = vn_json_fields_dup_text (fields, "level"), *code = vn_json_fields_dup_text (fields, "code");
  g_autofree char *subject = vn_json_fields_dup_text_if (fields, "subject"), *text = vn_json_fields_dup_text (fields, "text");
  g_autofree char *remedy = vn_json_fields_dup_text_if (fields, "remedy");
  VnNoteLevel found = VN_NOTE_INFO;

  if (level != NULL && !vn_note_level_find (level, &found))
    vn_json_fields_fail (fields, "level", _("is “%s”; choose one of: %s"), level, "info, warning, problem");
  if (fields->error == NULL)
    vn_notes_add_remedy (self->notes, found, code, subject, remedy, "%s", text);
}

/* ---- what a run was of ---- */

static void
run_file_read_shape (VnRun        *self,
                     VnJsonFields *fields,
                     const char   *name)
{
  g_autofree char *where = vn_json_fields_dup_where (fields, name);
  JsonArray *array = vn_json_fields_get_array (fields, name);
  guint rank = array != NULL ? json_array_get_length (array) : 0;
  VnShape shape = { .rank = (int) MIN (rank, VN_MAX_RANK) };
  GError *reason = NULL;

  if (rank > VN_MAX_RANK)
    vn_json_fields_fail (fields, name, _("has %u dims, the maximum is %d"), rank, VN_MAX_RANK);
  for (int d = 0; fields->error == NULL && reason == NULL && d < shape.rank; d++)
    {
      JsonNode *node = json_array_get_element (array, (guint) d);
      gboolean open = JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64 &&
                      json_node_get_int (node) == -1;
      guint64 size = 0;

      if (!open)
        vn_json_get_count (node, where, G_MAXINT64, &size, &reason);
      shape.dims[d] = open ? VN_DIM_UNKNOWN : (gint64) size;
    }
  vn_json_fields_take_error (fields, reason);
  if (fields->error == NULL)
    g_hash_table_replace (self->settings.shapes, g_strdup (name), g_memdup2 (&shape, sizeof shape));
}

static void
run_file_read_shapes (VnRun        *self,
                      VnJsonFields *fields,
                      const char   *folder)
{
  g_autoptr(GList) names = json_object_get_members (fields->object);

  self->settings.shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (GList *at = names; at != NULL && fields->error == NULL; at = at->next)
    run_file_read_shape (self, fields, at->data);
}

static void
run_file_read_run (VnRun        *self,
                   VnJsonFields *fields,
                   const char   *folder)
{
  self->settings.n_calibration = (guint) vn_json_fields_get_count (fields, "calibration-samples", G_MAXUINT);
  self->settings.skip_compare = vn_json_fields_get_bool (fields, "skip-compare");
  if (vn_json_fields_has (fields, "stats"))
    self->settings.stats = vn_json_fields_dup_texts (fields, "stats");
  for (char **at = self->settings.stats; at != NULL && *at != NULL; at++)
    {
      g_autofree char *path = *at;

      *at = vn_file_dup_long (path, folder);
    }
  if (vn_json_fields_has (fields, "shapes"))
    run_file_read_object (self, fields, "shapes", folder, run_file_read_shapes);
}

static void
run_file_read_model (VnRun        *self,
                     VnJsonFields *fields,
                     const char   *folder)
{
  g_autofree char *path = vn_json_fields_dup_text_if (fields, "path");

  self->path = path != NULL ? vn_file_dup_long (path, folder) : NULL;
  self->n_nodes = (guint) vn_json_fields_get_count (fields, "nodes", G_MAXUINT);
  self->opset = (gint64) vn_json_fields_get_count (fields, "opset", G_MAXINT64);
}

static void
run_file_read_digests (VnRun        *self,
                       VnJsonFields *fields,
                       const char   *folder)
{
  self->source_digest = vn_json_fields_dup_text_if (fields, "source");
  self->prepared_digest = vn_json_fields_dup_text_if (fields, "prepared");
  self->samples_digest = vn_json_fields_dup_text_if (fields, "samples");
  self->recipe_digest = vn_json_fields_dup_text (fields, "recipe");
}

static void
run_file_read_sizes (VnRun        *self,
                     VnJsonFields *fields,
                     const char   *folder)
{
  self->float_bytes = vn_json_fields_get_count (fields, "float", G_MAXINT64);
  self->quantized_bytes = vn_json_fields_get_count (fields, "quantized", G_MAXINT64);
}

static void
run_file_read_samples (VnRun        *self,
                       VnJsonFields *fields,
                       const char   *folder)
{
  self->n_calibration = (guint) vn_json_fields_get_count (fields, "calibration", G_MAXUINT);
  self->n_held_out = (guint) vn_json_fields_get_count (fields, "held-out", G_MAXUINT);
  self->left_out = _vn_run_file_get_flag (fields, "left-out-in-turn");
}

static void
run_file_read_accuracy (VnRun        *self,
                        VnJsonFields *fields,
                        const char   *folder)
{
  guint n = (guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT);

  self->accuracy = (VnAccuracy) { .n = n, .valid = TRUE,
                                  .float_top1 = (guint) vn_json_fields_get_count (fields, "float-top1", n),
                                  .quant_top1 = (guint) vn_json_fields_get_count (fields, "quantized-top1", n),
                                  .agree = (guint) vn_json_fields_get_count (fields, "agree", n) };
}

static void
run_file_read_kept (VnRun        *self,
                    VnJsonFields *fields,
                    const char   *folder)
{
  _vn_run_file_read_kept (fields, &self->accuracy.kept);
}

static void
run_file_read_recipe (VnRun        *self,
                      VnJsonFields *fields,
                      const char   *folder)
{
  JsonNode *recipe = vn_json_fields_get (fields, "recipe");
  GError *reason = NULL;

  if (recipe != NULL)
    self->recipe = vn_recipe_from_node (recipe, "recipe", folder, &reason);
  if (reason == NULL && vn_json_fields_has (fields, "data"))
    self->data = vn_data_spec_from_json (vn_json_fields_get (fields, "data"), "data", folder, &reason);
  vn_json_fields_take_error (fields, reason);
}

/* ---- the whole ---- */

static gboolean
run_file_check_version (VnJsonFields  *fields,
                        GError       **error)
{
  double version;

  if (fields->object == NULL)
    return vn_json_fields_end (fields, error);
  if (!vn_json_fields_has (fields, VN_RUN_FILE_VERSION_KEY))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("not a run result: “%s” is missing"), VN_RUN_FILE_VERSION_KEY);
      return FALSE;
    }
  version = vn_json_fields_get_double (fields, VN_RUN_FILE_VERSION_KEY);
  if (fields->error != NULL || version == VN_RUN_FILE_VERSION)
    return vn_json_fields_end (fields, error);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("the result has version %g; this program reads version %d: use the program that wrote it, or a newer one"),
               version,
               VN_RUN_FILE_VERSION);
  return FALSE;
}

/* Files of older programs do not have all. */
static void
run_file_read_facets (VnRun        *self,
                      VnJsonFields *fields)
{
#define VN_RUN_FACET(...)
#define VN_RUN_FILE_FACET(SYMBOL, Type, field, prefix, form, id) \
  if (vn_json_fields_has (fields, id))                           \
    VN_RUN_FILE_READ_##form (field, id)
#define VN_RUN_FILE_READ_OBJECT(field, id)                       \
  {                                                              \
    VnJsonFields inner;                                          \
                                                                 \
    vn_json_fields_enter (&inner, fields, id);                   \
    if (inner.object != NULL)                                    \
      self->field = _vn_run_file_read_##field (&inner);          \
    vn_json_fields_leave (&inner, fields);                       \
  }
#define VN_RUN_FILE_READ_LIST(field, id) self->field = _vn_run_file_read_##field (fields, id);
#include "vn-run-facets.def"
#undef VN_RUN_FACET
#undef VN_RUN_FILE_READ_OBJECT
#undef VN_RUN_FILE_READ_LIST
}

/* Of programs that named what any runtime found after one of them. */
static void
run_file_read_old_verification (VnRun        *self,
                                VnJsonFields *fields,
                                const char   *folder)
{
  self->verification = _vn_run_file_read_verification (fields);
}

static VnRun *
run_file_read (JsonNode    *root,
               const char  *folder,
               GError     **error)
{
  g_autoptr(VnRun) self = vn_run_new ();
  g_auto(VnJsonFields) fields = { 0 };

  self->notes = vn_notes_new ();
  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  self->value_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  vn_json_fields_init (&fields, root, "");
  if (!run_file_check_version (&fields, error))
    return NULL;
  self->program = vn_json_fields_dup_text (&fields, "program");
  self->time = vn_json_fields_get_time (&fields, "time");
  run_file_read_object (self, &fields, "model", folder, run_file_read_model);
  run_file_read_object (self, &fields, "digests", folder, run_file_read_digests);
  run_file_read_recipe (self, &fields, folder);
  run_file_read_object (self, &fields, "run", folder, run_file_read_run);
  run_file_read_object (self, &fields, "sizes", folder, run_file_read_sizes);
  run_file_read_object (self, &fields, "samples", folder, run_file_read_samples);
  self->n_quantized = (guint) vn_json_fields_get_count (&fields, "quantized-tensors", G_MAXUINT);
  vn_run_set_seconds (self, vn_json_fields_get_double (&fields, "seconds"));
  if (vn_json_fields_has (&fields, "accuracy"))
    run_file_read_object (self, &fields, "accuracy", folder, run_file_read_accuracy);
  if (vn_json_fields_has (&fields, "kept"))
    run_file_read_object (self, &fields, "kept", folder, run_file_read_kept);
  run_file_read_facets (self, &fields);
  if (self->verification == NULL && vn_json_fields_has (&fields, VN_RUN_FILE_OLD_RUNTIME))
    run_file_read_object (self, &fields, VN_RUN_FILE_OLD_RUNTIME, folder, run_file_read_old_verification);
  run_file_read_list (self, &fields, "nodes", run_file_read_node);
  run_file_read_object (self, &fields, "quantized-names", folder, run_file_read_names);
  run_file_read_list (self, &fields, "notes", run_file_read_note);
  self->state = self->verification != NULL ? VN_RUN_VERIFIED : VN_RUN_MEASURED;
  return vn_json_fields_end (&fields, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_run_from_json:
 * @text: what vn_run_to_json() writes, or anybody
 * @name: of the file, for messages
 * @folder: that relative paths start from
 *
 * Returns: (transfer full) (nullable): the record; or the place, what is there and what is expected
 */
VnRun *
vn_run_from_json (const char  *text,
                  gssize       length,
                  const char  *name,
                  const char  *folder,
                  GError     **error)
{
  g_autoptr(JsonNode) root = NULL;
  VnRun *self;

  g_return_val_if_fail (text != NULL && name != NULL && folder != NULL, NULL);

  root = vn_json_parse (text, length, name, error);
  if (root == NULL)
    return NULL;
  self = run_file_read (root, folder, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", name);
  return self;
}

/**
 * vn_run_load:
 * @folder: as of vn_run_from_json()
 *
 * Returns: (transfer full) (nullable): the record in a file
 */
VnRun *
vn_run_load (const char  *path,
             const char  *folder,
             GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  const char *text;
  gsize size;

  g_return_val_if_fail (path != NULL && folder != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  return vn_run_from_json (text, (gssize) size, path, folder, error);
}
