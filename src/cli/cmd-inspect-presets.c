/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What “inspect --presets” says: what each preset makes of a model, before any sample is run. */
#include "vn-cmd.h"

#include "vn-coverage.h"
#include "vn-i18n.h"
#include "vn-quantize.h"
#include "vn-suggest.h"

static void
cmd_inspect_presets_add_kept (JsonBuilder      *json,
                              const VnCoverage *coverage)
{
  vn_json_begin_array (json, "float");
  for (guint i = 0; i < coverage->kept->len; i++)
    {
      const VnCoverageType *type = coverage->kept->pdata[i];

      json_builder_begin_object (json);
      vn_json_add_text (json, "type", type->type);
      vn_json_add_int (json, "count", type->n);
      vn_json_add_int (json, "weight_bytes", (gint64) type->weight_bytes);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* @coverage: (nullable): @reason says why there is none */
static void
cmd_inspect_presets_add (JsonBuilder      *json,
                         const VnPreset   *preset,
                         const VnCoverage *coverage,
                         const GError     *reason)
{
  g_autofree char *text = coverage != NULL ? vn_coverage_dup_text (coverage) : NULL;

  vn_cmd_print ("  %-16s %s\n", preset->id, text != NULL ? text : reason->message);
  json_builder_begin_object (json);
  vn_json_add_text (json, "preset", preset->id);
  if (coverage == NULL)
    vn_json_add_text (json, "error", reason->message);
  else
    {
      vn_json_add_bool (json, "needs_samples", coverage->needs_samples);
      vn_json_add_int (json, "float_bytes", (gint64) coverage->float_bytes);
      vn_json_add_int (json, "quantized_bytes", (gint64) coverage->quantized_bytes);
      vn_json_add_int (json, "nodes", coverage->n_nodes);
      vn_json_add_int (json, "quantized_nodes", coverage->n_quantized);
      vn_json_add_int (json, "weight_bytes", (gint64) coverage->weight_bytes);
      vn_json_add_int (json, "float_weight_bytes", (gint64) coverage->kept_bytes);
      cmd_inspect_presets_add_kept (json, coverage);
    }
  json_builder_end_object (json);
}

/*< private >
 * vn_cmd_print_presets:
 * @shapes: (nullable): sizes of inputs that were given
 *
 * For each preset what becomes of the file and what stays in float, as text and as the member "presets"; first those that suit
 * the model.
 *
 * Returns: %FALSE if the model is quantized already
 */
gboolean
vn_cmd_print_presets (JsonBuilder  *json,
                      VnModel      *model,
                      GHashTable   *shapes,
                      GError      **error)
{
  g_autoptr(GPtrArray) list = NULL;
  g_autofree char *why = NULL;
  guint n_first;

  g_return_val_if_fail (json != NULL && model != NULL, FALSE);

  if (!vn_quantize_check_is_float (model, error))
    return FALSE;
  list = vn_suggest_presets (model, &n_first);
  why = vn_suggest_dup_reason (model);
  vn_cmd_print ("%s\n", _("Presets"));
  if (why != NULL)
    vn_cmd_print ("  %s:\n", why);
  vn_json_add_int (json, "suggested_presets", n_first);
  vn_json_begin_array (json, "presets");
  for (guint i = 0; i < list->len; i++)
    {
      const VnPreset *preset = list->pdata[i];
      g_autoptr(VnRecipe) recipe = vn_recipe_new (preset->id);
      g_autoptr(GError) reason = NULL;
      g_autoptr(VnCoverage) coverage = vn_coverage_new (model, recipe, shapes, NULL, &reason);

      if (n_first > 0 && i == n_first)
        vn_cmd_print ("  %s:\n", _("Others"));
      cmd_inspect_presets_add (json, preset, coverage, reason);
    }
  json_builder_end_array (json);
  return TRUE;
}
