/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: the settings of the run, what of them differs from the preset, and the command that does it all again. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-setting.h"

static VnReportValue *
section_settings_list_rules (const VnRecipe *recipe,
                             gboolean        exclude)
{
  VnReportValue *list = _vn_report_list ();

  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && rule->pattern != NULL && !rule->exclude == !exclude)
        _vn_report_list_add (list, _vn_report_text (rule->pattern), ", ");
    }
  return list;
}

static void
section_settings_add_types (GPtrArray      *facts,
                            const VnRecipe *recipe)
{
  const gboolean per_channel = vn_recipe_has_channels (recipe);

  _vn_report_fact (facts, "activation", _("Activations"), _vn_report_text (vn_dtype_get_name (recipe->activation)));
  _vn_report_fact_joined (facts, "symmetric_activations", VN_REPORT_JOIN_COMMA,
                          _vn_report_bool (recipe->symmetric_activations, recipe->symmetric_activations ? _("symmetric") : ""));
  _vn_report_fact (facts, "weight", _("Weights"), _vn_report_text (vn_dtype_get_name (recipe->weight)));
  _vn_report_fact_joined (facts, "per_channel", VN_REPORT_JOIN_COMMA,
                          _vn_report_bool (per_channel, per_channel ? _("per channel") : _("per tensor")));
}

/* A percentile that changes nothing is none of the settings. */
static void
section_settings_add_ranges (GPtrArray      *facts,
                             const VnRecipe *recipe)
{
  guint n;
  const VnSetting *list = vn_setting_list_of_recipe (&n), *percentile = vn_setting_find (list, n, "percentile", NULL);
  const gboolean has_percentile = vn_setting_get_idle_reason (percentile, recipe) == NULL;

  _vn_report_fact (facts, "method", _("Ranges"), _vn_report_text (recipe->method));
  _vn_report_fact (facts, "percentile", _("Percentile"),
                   has_percentile ? _vn_report_number (recipe->percentile, NULL) : _vn_report_nothing ());
}

/* Rules stand behind the settings. */
static VnReportValue *
section_settings_value (const VnRecipe  *recipe,
                        const GPtrArray *differences,
                        guint            i)
{
  const VnSettingDifference *difference = g_ptr_array_index (differences, i);
  const guint first_rule = differences->len - recipe->overrides->len;

  return i >= first_rule ? _vn_report_rule (g_ptr_array_index (recipe->overrides, i - first_rule))
         : _vn_report_text (difference->value);
}

static void
section_settings_hide (GPtrArray *row)
{
  for (guint i = 0; i < row->len; i++)
    _vn_report_for_programs (g_ptr_array_index (row, i));
}

static void
section_settings_add_differences (VnReportSection *section,
                                  const VnRecipe  *recipe)
{
  static const VnReportColumn columns[] = {
    { "title", N_("Setting"), NULL, FALSE, VN_REPORT_APART, 0 },
    { "id", NULL, NULL, FALSE, VN_REPORT_JOIN_PARENTHESES, 0 },
    { "value", N_("Value"), NULL, FALSE, VN_REPORT_APART, 0 },
    { "preset", N_("Preset"), NULL, FALSE, VN_REPORT_APART, 0 },
  };
  static const VnReportPart parts[] = { { NULL, N_("Changed from the preset:") } };
  g_autoptr(GPtrArray) differences = vn_recipe_list_differences (recipe);
  VnReportContent *table = _vn_report_add_table (section, "differences", columns, G_N_ELEMENTS (columns), parts,
                                                 G_N_ELEMENTS (parts));

  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *difference = g_ptr_array_index (differences, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (difference->title));
      g_ptr_array_add (row, _vn_report_text (difference->id));
      g_ptr_array_add (row, section_settings_value (recipe, differences, i));
      g_ptr_array_add (row, _vn_report_text (difference->preset_value));
      if (i >= differences->len - recipe->overrides->len)
        section_settings_hide (row);
    }
}

/* Rules as they were made, one row for those that were made together. */
static void
section_settings_add_rules (VnReportSection *section,
                            VnRun           *run)
{
  static const VnReportColumn columns[] = {
    { "title", N_("Rule"), NULL, FALSE, VN_REPORT_APART, 0 },
    { "effect", N_("What it does"), NULL, FALSE, VN_REPORT_APART, 0 },
    { "off", NULL, NULL, FALSE, VN_REPORT_JOIN_PARENTHESES, 0 },
    { "nodes", N_("Nodes"), NULL, TRUE, VN_REPORT_APART, 0 },
  };
  static const VnReportPart parts[] = { { NULL, NULL } };
  g_autoptr(GPtrArray) sets = vn_recipe_list_rule_sets (run->recipe, run->source->graph);
  VnReportContent *table;

  if (sets->len == 0)
    return;
  table = _vn_report_add_table (section, "rule-sets", columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  table->is_large = TRUE;
  for (guint i = 0; i < sets->len; i++)
    {
      const VnRuleSet *set = g_ptr_array_index (sets, i);
      g_autofree char *effect = vn_override_dup_effect (g_ptr_array_index (run->recipe->overrides, set->first));
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (set->title));
      g_ptr_array_add (row, _vn_report_text (effect));
      g_ptr_array_add (row, _vn_report_bool (!set->enabled, set->enabled ? "" : _("turned off")));
      g_ptr_array_add (row, _vn_report_int (set->nodes->len, NULL));
    }
}

void
_vn_report_build_settings (VnReportSection *section,
                           VnRun           *run)
{
  g_autofree char *samples = run->data != NULL ? g_path_get_basename (run->data->path) : NULL;
  GPtrArray *facts;

  if (run->recipe == NULL)
    return;
  facts = _vn_report_add_facts (section, NULL);
  _vn_report_fact (facts, "preset", _("Preset"), _vn_report_text (run->recipe->preset));
  section_settings_add_types (facts, run->recipe);
  section_settings_add_ranges (facts, run->recipe);
  _vn_report_fact (facts, "exclude", _("Left in float"),
                   _vn_report_for_programs (section_settings_list_rules (run->recipe, TRUE)));
  _vn_report_fact (facts, "rules", _("Rules"), _vn_report_for_programs (section_settings_list_rules (run->recipe, FALSE)));
  _vn_report_fact (facts, "samples", _("Samples"), _vn_report_text (samples));
  section_settings_add_rules (section, run);
  section_settings_add_differences (section, run->recipe);
  _vn_report_add_command (section, "command", _("To reproduce this model:"), vn_report_dup_command (run));
}
