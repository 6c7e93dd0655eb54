/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the section about the network: what it takes in float and now, and how many nodes have which precision. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-scene-builder.h"

/*< private >
 * _vn_report_add_size:
 *
 * Adds bars of the sizes, if both are known.
 */
void
_vn_report_add_size (VnReportSection *section,
                     VnRun           *run)
{
  g_autofree char *before = vn_format_bytes (run->float_bytes), *after = vn_format_bytes (run->quantized_bytes);
  const VnPictureBar bars[] = {
    { _("Float"), before, (double) run->float_bytes, FALSE },
    { _("Now"), after, (double) run->quantized_bytes, TRUE },
  };
  g_autofree char *text = NULL;

  if (run->float_bytes == 0 || run->quantized_bytes == 0)
    return;
  /* Translators: size of the float network, and of the quantized one */
  text = g_strdup_printf (_("Size: float %s, now %s"), before, after);
  _vn_report_add_picture (section, _("Size"), text, vn_picture_new_bars (bars, G_N_ELEMENTS (bars)))->place = VN_REPORT_BESIDE;
}

/* ---- precision ---- */

static const VnReportColumn columns[] = {
  { "type", NULL, NULL, FALSE, VN_REPORT_APART, 0 },
  { "about", N_("Precision"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "nodes", N_("Nodes"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = { { NULL, NULL } };

/* Nodes of a type. */
typedef struct
{
  VnDType       type;
  guint         n;
  const VnNode *first;
} Count;

static int
section_precision_compare (gconstpointer a,
                           gconstpointer b)
{
  const Count *p = a, *q = b;

  return p->n != q->n ? (p->n < q->n) - (p->n > q->n) : (p->type > q->type) - (p->type < q->type);
}

/* The most frequent first. */
static GArray *
section_precision_count (VnRun *result)
{
  const GPtrArray *nodes = result->source->graph->nodes;
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (Count));

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const VnDType type = vn_node_is (node, "Constant") ? VN_DTYPE_UNDEFINED : vn_run_get_node_dtype (result, node);
      guint k = 0;

      if (type == VN_DTYPE_UNDEFINED)
        continue;
      while (k < counts->len && g_array_index (counts, Count, k).type != type)
        k++;
      if (k == counts->len)
        g_array_append_val (counts, ((Count) { type, 0, node }));
      g_array_index (counts, Count, k).n++;
    }
  g_array_sort (counts, section_precision_compare);
  return counts;
}

/* The rules that gave nodes this type, if these are the rules of one set. */
static char *
section_precision_dup_rules (VnRun       *result,
                             const Count *count)
{
  g_autoptr(GPtrArray) sets = vn_recipe_list_rule_sets (result->recipe, result->source->graph);
  const VnRuleSet *found = NULL;
  guint n = 0;

  for (guint i = 0; i < sets->len; i++)
    {
      const VnRuleSet *set = g_ptr_array_index (sets, i);

      if (!set->enabled || set->nodes->len == 0 ||
          vn_run_get_node_dtype (result, g_ptr_array_index (result->source->graph->nodes,
                                                            g_array_index (set->nodes, guint, 0))) != count->type)
        continue;
      found = set;
      n++;
    }
  if (n == 1)
    return g_strdup (found->title);
  return count->n == 1 ? vn_node_dup_title (count->first) : NULL;
}

static char *
section_precision_dup_about (VnRun       *result,
                             const Count *count)
{
  g_autofree char *bits = vn_dtype_is_float (count->type) && vn_dtype_get_bits (count->type) >= 32
                          ? g_strdup (_("float")) : g_strdup_printf (_("%u-bit"), vn_dtype_get_bits (count->type));
  g_autofree char *more = count->type == result->recipe->activation
                          ? g_strdup (result->recipe->method) : section_precision_dup_rules (result, count);

  return more != NULL ? g_strdup_printf ("%s, %s", bits, more) : g_steal_pointer (&bits);
}

/*< private >
 * _vn_report_add_precision:
 *
 * Adds how many nodes of the opened network have which precision.
 */
void
_vn_report_add_precision (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GArray) counts = NULL;
  VnReportContent *table;

  if (run->plan == NULL)
    return;
  counts = section_precision_count (run);
  if (counts->len == 0)
    return;
  table = _vn_report_add_table (section, "precision", columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  table->place = VN_REPORT_BESIDE;
  table->is_large = TRUE;
  for (guint i = 0; i < counts->len; i++)
    {
      const Count *count = &g_array_index (counts, Count, i);
      const VnScenePrecision precision = count->type == VN_DTYPE_F32 ? VN_PRECISION_FLOAT : vn_precision_of_dtype (count->type);
      GPtrArray *row = _vn_report_add_row (table);
      g_autofree char *about = section_precision_dup_about (run, count);

      g_ptr_array_add (row, _vn_report_signed (_vn_report_text_as (vn_dtype_get_name (count->type),
                                                                   vn_dtype_get_badge (count->type)),
                                               vn_sign_badge (precision, vn_dtype_get_badge (count->type))));
      g_ptr_array_add (row, _vn_report_text (about));
      g_ptr_array_add (row, _vn_report_int (count->n, NULL));
    }
}
