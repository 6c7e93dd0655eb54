/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "list methods", "presets", "formats", "types", "passes" and "words": a row for each line of their tables. */
#include "vn-listing.h"

#include "vn-calibrate.h"
#include "vn-error-table.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"
#include "vn-layer-list.h"
#include "vn-pass.h"
#include "vn-format-traits.h"
#include "vn-setting.h"

void
vn_list_methods (VnListing *listing)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  for (guint i = 0; i < n; i++)
    {
      vn_listing_begin (listing, methods[i]->id, NULL);
      vn_listing_add_text (listing, "title", _(methods[i]->title));
      vn_listing_add_text (listing, "summary", _(methods[i]->summary));
      vn_listing_add_flag (listing, "power_of_two", methods[i]->power_of_two);
      vn_listing_end (listing, _(methods[i]->summary));
    }
}

/* What is known of a runtime beside its settings. */
static void
list_tables_add_facts (VnListing      *listing,
                       const VnPreset *target)
{
  static const char * const shapes[] = { "any", "static", "one-sample" };   /* in the order of VnTargetShapes */

  const VnLayerList *layers = vn_layer_list_of (target);

  vn_listing_add_text (listing, "wide_of", target->wide_of);
  vn_listing_add_text (listing, "shapes", shapes[target->shapes]);
  if (target->opset_max > 0)
    vn_listing_add_number (listing, "opset_max", target->opset_max);
  vn_listing_add_text (listing, "runtime", target->runtime);
  vn_listing_add_text (listing, "layer_list", layers != NULL ? layers->ending : NULL);
  vn_listing_add_text (listing, "layer_list_tool", layers != NULL ? layers->tool : NULL);
  vn_listing_add_text (listing, "check", target->check != NULL ? _(target->check) : NULL);
  vn_listing_add_text (listing, "caution", target->caution != NULL ? _(target->caution) : NULL);
}

/* @targets: runtimes, not precisions */
static void
list_tables_add_presets (VnListing *listing,
                         gboolean   targets)
{
  guint n;
  const VnPreset * const *presets = targets ? vn_target_list (&n) : vn_preset_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *line = g_strdup_printf ("%s: %s", _(presets[i]->title), _(presets[i]->summary));
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]->id);

      vn_listing_begin (listing, presets[i]->id, _(vn_preset_get_group (presets[i])));
      vn_listing_add_text (listing, "title", _(presets[i]->title));
      vn_listing_add_text (listing, "summary", _(presets[i]->summary));
      vn_listing_add_text (listing, "settings", presets[i]->settings);
      vn_listing_add_flag (listing, "needs_samples", vn_recipe_needs_samples (recipe));
      if (targets)
        list_tables_add_facts (listing, presets[i]);
      vn_listing_end (listing, line);
    }
}

void
vn_list_presets (VnListing *listing)
{
  list_tables_add_presets (listing, FALSE);
}

void
vn_list_targets (VnListing *listing)
{
  list_tables_add_presets (listing, TRUE);
}

static char *
list_tables_dup_names (VnDTypeSet types)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((types >> dtype & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) dtype));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
vn_list_formats (VnListing *listing)
{
  for (int i = 0; i < VN_N_FORMATS; i++)
    {
      const VnFormatTraits *format = vn_format_get_traits ((VnFormat) i);
      g_autofree char *activations = list_tables_dup_names (format->activations);
      g_autofree char *weights = list_tables_dup_names (format->weights);
      g_autofree char *line = g_strdup_printf (_("%s. Activations: %s; weights: %s"), _(format->summary), activations, weights);

      vn_listing_begin (listing, format->id, NULL);
      vn_listing_add_text (listing, "summary", _(format->summary));
      vn_listing_add_types (listing, "activations", format->activations);
      vn_listing_add_types (listing, "weights", format->weights);
      vn_listing_end (listing, line);
    }
}

/* Ids of the formats that can hold @dtype. */
static char **
list_tables_list_formats (VnDType dtype)
{
  g_autoptr(GStrvBuilder) ids = g_strv_builder_new ();

  for (int i = 0; i < VN_N_FORMATS; i++)
    {
      const VnFormatTraits *format = vn_format_get_traits ((VnFormat) i);

      if (((format->activations | format->weights) >> dtype & 1) != 0)
        g_strv_builder_add (ids, format->id);
    }
  return g_strv_builder_end (ids);
}

void
vn_list_types (VnListing *listing)
{
  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    {
      const char *badge = vn_dtype_get_badge ((VnDType) dtype);
      g_auto(GStrv) formats = list_tables_list_formats ((VnDType) dtype);
      g_autofree char *names = g_strjoinv (", ", formats);
      g_autofree char *alias = vn_dtype_from_name (badge) == (VnDType) dtype ? g_ascii_strdown (badge, -1) : NULL;
      g_autofree char *line = NULL;

      if (formats[0] == NULL)
        continue;
      line = alias != NULL ? g_strdup_printf (_("also “%s”; formats: %s"), alias, names)
             : g_strdup_printf (_("formats: %s"), names);
      vn_listing_begin (listing, vn_dtype_get_name ((VnDType) dtype), NULL);
      vn_listing_add_text (listing, "alias", alias);
      vn_listing_add_number (listing, "bits", vn_dtype_get_bits ((VnDType) dtype));
      vn_listing_add_words (listing, "formats", (const char * const *) formats);
      vn_listing_end (listing, line);
    }
}

void
vn_list_passes (VnListing *listing)
{
  static const char * const ids[] = { "always", "optimize", "request" };
  static const char * const stages[] = { N_("Always"), N_("In every “prepare”"),
                                         N_("On request: “prepare --pass” or “quantize --passes”") };
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);

  for (guint stage = 0; stage < G_N_ELEMENTS (stages); stage++)
    for (guint i = 0; i < n; i++)
      {
        if (passes[i]->stage != (VnPassStage) stage)
          continue;
        vn_listing_begin (listing, passes[i]->id, _(stages[stage]));
        vn_listing_add_text (listing, "title", _(passes[i]->title));
        vn_listing_add_text (listing, "summary", _(passes[i]->summary));
        vn_listing_add_text (listing, "when", ids[stage]);
        vn_listing_add_number (listing, "order", i);
        vn_listing_add_flag (listing, "exact", passes[i]->exact);
        vn_listing_end (listing, _(passes[i]->summary));
      }
}

void
vn_list_metrics (VnListing *listing)
{
  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      const VnMetricInfo *info = vn_metric_get_info (metric);
      const char *unit = info->unit[0] != '\0' ? _(info->unit) : NULL;
      g_autofree char *line = unit != NULL ? g_strdup_printf (_("%s, in %s"), _(info->title), unit) : g_strdup (_(info->title));

      vn_listing_begin (listing, info->id, NULL);
      vn_listing_add_text (listing, "key", info->key);
      vn_listing_add_text (listing, "title", _(info->title));
      vn_listing_add_text (listing, "unit", unit);
      vn_listing_end (listing, line);
    }
}

void
vn_list_words (VnListing *listing)
{
  guint n;
  const VnForeignWord *words = vn_foreign_word_list (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *remark = words[i].remark != NULL ? _(words[i].remark) : NULL;
      const char *here = vn_foreign_word_get_here (&words[i]);
      g_autofree char *both = here[0] != '\0' && remark != NULL ? g_strdup_printf ("%s (%s)", here, remark) : NULL;
      g_autofree char *line = g_strdup_printf ("%s%s%s", words[i].tool, words[i].tool[0] != '\0' ? ": " : "",
                                               both != NULL ? both : here[0] != '\0' ? here : remark);

      vn_listing_begin (listing, words[i].word, NULL);
      vn_listing_add_text (listing, "kind", vn_foreign_word_get_kind (&words[i]));
      vn_listing_add_text (listing, "tool", words[i].tool);
      vn_listing_add_text (listing, "here", words[i].here != NULL ? here : NULL);
      vn_listing_add_text (listing, "remark", remark);
      vn_listing_end (listing, line);
    }
}
