/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes the numbers of a file are about: by name, else by output. ONNX Runtime calls the nodes that it makes after one of
 * those they stand for, or after what they compute, with something before or behind it. */
#include "node-data-read.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-shown.h"

#include <math.h>
#include <string.h>

#define MOST_CUTS 8    /* of a name; longer ones come from nobody's runtime */

/* @index: of nodes by label
 * @places: nodes as ONNX Runtime counts them */
typedef struct
{
  const VnGraph *graph;
  GHashTable    *index;
  GPtrArray     *places;
} Search;

static const VnNode *
node_numbers_find_name (const Search *search,
                        const char   *name)
{
  g_autofree char *shown = vn_shown_dup (name);

  return g_hash_table_lookup (search->index, shown);
}

static const VnNode *
node_numbers_find_output (const Search *search,
                          const char   *name)
{
  const VnValue *value = g_hash_table_lookup (search->graph->by_name, name);

  return value != NULL && value->producer != NULL && value->producer->graph == search->graph ? value->producer : NULL;
}

/* A node without a name is "Conv_12" in a profile, which does not count constants. */
static const VnNode *
node_numbers_find_place (const Search      *search,
                         const VnNodeDatum *datum)
{
  gsize length = datum->op_type != NULL ? strlen (datum->op_type) : 0;
  const VnNode *node;
  guint64 place;

  if (length == 0 || strncmp (datum->name, datum->op_type, length) != 0 || datum->name[length] != '_' ||
      !g_ascii_string_to_unsigned (datum->name + length + 1, 10, 0, G_MAXUINT, &place, NULL) ||
      place >= search->places->len)
    return NULL;
  node = g_ptr_array_index (search->places, place);
  return g_str_equal (node->op_type, datum->op_type) ? node : NULL;
}

static gboolean
node_numbers_cut_token (char *name)
{
  char *token = g_strrstr (name, "_token_");

  if (token == NULL || strspn (token + 7, "0123456789") != strlen (token + 7))
    return FALSE;
  *token = '\0';
  return TRUE;
}

/* "conv/GeluFusion/": what a fusion adds. */
static gboolean
node_numbers_cut_fusion (char *name)
{
  gsize length = strlen (name);
  char *slash;

  if (length < 8 || !(g_str_has_suffix (name, "Fusion/") || g_str_has_suffix (name, "Fusion")))
    return FALSE;
  if (name[length - 1] == '/')
    name[length - 1] = '\0';
  slash = strrchr (name, '/');
  if (slash == NULL || slash == name)
    return FALSE;
  *slash = '\0';
  return TRUE;
}

/* Returns: whether something that ONNX Runtime adds to names was cut off. */
static gboolean
node_numbers_cut (char *name)
{
  static const char * const endings[] = { "_nchwc", "_nhwc", "_quant", "_bn", "/duplicated" };
  static const char * const starts[] = { "fused ", "fused_", "InsertedPrecisionFreeCast_" };

  if (node_numbers_cut_token (name) || node_numbers_cut_fusion (name))
    return *name != '\0';
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i]))
      {
        name[strlen (name) - strlen (endings[i])] = '\0';
        return *name != '\0';
      }
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (g_str_has_prefix (name, starts[i]))
      {
        memmove (name, name + strlen (starts[i]), strlen (name) - strlen (starts[i]) + 1);
        return *name != '\0';
      }
  return FALSE;
}

static const VnNode *
node_numbers_find_kernel (const Search      *search,
                          const VnNodeDatum *datum)
{
  const VnNode *node = node_numbers_find_name (search, datum->name);
  g_autofree char *name = g_strdup (datum->name);

  if (node == NULL)
    node = node_numbers_find_place (search, datum);
  for (guint cuts = 0; node == NULL && cuts <= MOST_CUTS && (cuts == 0 || node_numbers_cut (name)); cuts++)
    if ((node = node_numbers_find_name (search, name)) == NULL)
      node = node_numbers_find_output (search, name);
  return node;
}

/* Times of what became several kernels add up; of other numbers what is said of the node itself counts, else the first. */
static void
node_numbers_take (VnNodeNumbers         *self,
                   const VnNodeDataGraph *graph,
                   const Search          *search)
{
  g_autofree gboolean *done = g_new0 (gboolean, graph->data->len + 1);

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < graph->data->len; i++)
      {
        const VnNodeDatum *datum = g_ptr_array_index (graph->data, i);
        const VnNode *node = done[i] ? NULL : self->is_time ? node_numbers_find_kernel (search, datum)
                           : pass == 0 ? node_numbers_find_name (search, datum->name)
                                       : node_numbers_find_output (search, datum->name);
        double *value = node != NULL ? &self->values[vn_node_get_index (node)] : NULL;

        if (value == NULL)
          continue;
        done[i] = TRUE;
        if (isnan (*value))
          {
            *value = datum->value;
            self->n_known++;
          }
        else if (self->is_time)
          *value += datum->value;
      }
  for (guint i = 0; i < graph->data->len; i++)
    {
      const VnNodeDatum *datum = g_ptr_array_index (graph->data, i);

      if (done[i])
        continue;
      _vn_node_data_add (self->unmatched, datum->name, datum->op_type, datum->value);
      ((VnNodeDatum *) g_ptr_array_index (self->unmatched, self->unmatched->len - 1))->weight = datum->weight;
    }
  if (self->is_time)
    _vn_node_numbers_take_fused (self, search->graph);
}

static VnNodeNumbers *
node_numbers_make (const VnNodeData      *data,
                   const VnNodeDataGraph *graph,
                   const Search          *search)
{
  VnNodeNumbers *self = g_new0 (VnNodeNumbers, 1);

  self->is_time = data->is_time;
  self->n_runs = data->n_runs;
  self->n_skipped = data->n_skipped;
  self->n = search->graph->nodes->len;
  self->values = g_new (double, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    self->values[i] = NAN;
  self->unmatched = g_ptr_array_new_with_free_func (_vn_node_data_free_datum);
  node_numbers_take (self, graph, search);
  return self;
}

/**
 * vn_node_numbers_new:
 *
 * Of several graphs that a file is about, the one that is called as @graph is counts, else the one with the most nodes of it.
 *
 * Returns: (transfer full): the numbers by node
 */
VnNodeNumbers *
vn_node_numbers_new (const VnNodeData *data,
                     const VnGraph    *graph)
{
  g_autoptr(GHashTable) index = NULL;
  g_autoptr(VnNodeNumbers) best = NULL;
  g_autoptr(GPtrArray) places = g_ptr_array_new ();
  Search search;

  g_return_val_if_fail (data != NULL && graph != NULL, NULL);

  index = vn_graph_index_nodes (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!vn_node_is (g_ptr_array_index (graph->nodes, i), "Constant"))
      g_ptr_array_add (places, g_ptr_array_index (graph->nodes, i));
  search = (Search) { graph, index, places };
  for (guint i = 0; i < data->graphs->len; i++)
    {
      const VnNodeDataGraph *given = g_ptr_array_index (data->graphs, i);
      g_autoptr(VnNodeNumbers) numbers = node_numbers_make (data, given, &search);

      if (numbers->n_known > 0 && given->id != NULL && g_strcmp0 (given->id, graph->name) == 0)
        return g_steal_pointer (&numbers);
      if (best == NULL || numbers->n_known > best->n_known)
        {
          g_clear_pointer (&best, vn_node_numbers_free);
          best = g_steal_pointer (&numbers);
        }
    }
  return g_steal_pointer (&best);
}

/**
 * vn_node_numbers_free:
 */
void
vn_node_numbers_free (VnNodeNumbers *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_unref (self->unmatched);
  g_free (self->values);
  g_free (self);
}

/**
 * vn_node_numbers_sum:
 *
 * Returns: the sum of the values of all nodes that have one
 */
double
vn_node_numbers_sum (const VnNodeNumbers *self)
{
  double sum = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->n; i++)
    sum += isnan (self->values[i]) ? 0 : self->values[i];
  return sum;
}

/* Kernels that are about no node of the model, such as those that change the layout: how much of the time is theirs. */
static char *
node_numbers_dup_lost (const VnNodeNumbers *self)
{
  double lost = 0, sum;
  g_autofree char *percent = NULL;

  for (guint i = 0; i < self->unmatched->len; i++)
    lost += ((const VnNodeDatum *) g_ptr_array_index (self->unmatched, i))->value;
  sum = lost + vn_node_numbers_sum (self);
  percent = vn_format_decimals (sum > 0 ? 100 * lost / sum : 0, 1);
  return g_strdup_printf (ngettext ("%u kernel belongs to no node: %s\u00a0%% of the time",
                                    "%u kernels belong to no node: %s\u00a0%% of the time", self->unmatched->len),
                          self->unmatched->len, percent);
}

static void
node_numbers_add_line (GString *text,
                       char    *line)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", line);
  g_free (line);
}

/**
 * vn_node_numbers_dup_note:
 * @total: (nullable): what all times add up to, as it is shown
 *
 * Returns: (transfer full): where the numbers come from, and what of the file is not shown; in lines
 */
char *
vn_node_numbers_dup_note (const VnNodeNumbers *self,
                          const char          *total)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  if (self->is_time && total != NULL)
    node_numbers_add_line (text, g_strdup_printf (ngettext ("Measured in %u run: %s in total",
                                                            "Mean of %u runs: %s in total", self->n_runs),
                                                  self->n_runs, total));
  node_numbers_add_line (text, g_strdup_printf (ngettext ("%u of %u node has a value", "%u of %u nodes have a value", self->n),
                                                self->n_known, self->n));
  if (self->n_fused > 0)
    node_numbers_add_line (text, g_strdup_printf (ngettext ("%u fused kernel: its time is that of one of its nodes",
                                                            "%u fused kernels: the time of each is that of one of its nodes",
                                                            self->n_fused), self->n_fused));
  if (self->unmatched->len > 0 && self->is_time)
    node_numbers_add_line (text, node_numbers_dup_lost (self));
  else if (self->unmatched->len > 0)
    node_numbers_add_line (text, g_strdup_printf (ngettext ("%u name matches no node", "%u names match no node",
                                                            self->unmatched->len), self->unmatched->len));
  if (self->n_skipped > 0)
    node_numbers_add_line (text, g_strdup_printf (ngettext ("%u value is not a finite number",
                                                            "%u values are not finite numbers", self->n_skipped),
                                                  self->n_skipped));
  return g_string_free (g_steal_pointer (&text), FALSE);
}
