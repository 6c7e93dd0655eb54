/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "inspect --tensor": what a constant holds, or the weight of a node. */
#include "vn-cmd.h"

#include "vn-constant-look.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-shown.h"

#include <math.h>

#define MOST_PRINTED 24      /* elements */
#define MOST_IN_JSON 1000

static const VnValue *
cmd_inspect_tensor_find (const VnGraph  *graph,
                         const char     *name,
                         VnStoredWeight *stored,
                         gboolean       *is_stored,
                         GError        **error)
{
  g_autoptr(GHashTable) index = vn_graph_index_nodes (graph);
  g_autofree char *shown = vn_shown_dup (name);
  const VnValue *value = g_hash_table_lookup (graph->by_name, name);
  const VnNode *node = g_hash_table_lookup (index, shown);

  if (value != NULL && vn_value_get_constant (value) != NULL)
    {
      *is_stored = vn_constant_find_stored (value, stored);
      return value;
    }
  value = node != NULL ? vn_node_find_weight (node, stored, is_stored) : NULL;
  if (value == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 node != NULL ? _("--tensor: node “%s” reads no constant of more than one element")
                 : _("--tensor: “%s” is neither a constant of the main graph nor one of its nodes; “inspect --weights” lists "
                     "constants"), shown);
  return value;
}

static void
cmd_inspect_tensor_add_values (JsonBuilder    *json,
                               const VnTensor *tensor)
{
  g_autoptr(GString) line = g_string_new (NULL);
  gsize n = MIN (tensor->n_elements, MOST_IN_JSON);

  vn_json_begin_array (json, "values");
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *element = vn_constant_dup_element (tensor, i);

      json_builder_add_string_value (json, element);
      if (i < MOST_PRINTED)
        g_string_append_printf (line, "%s%s", i > 0 ? " " : "", element);
    }
  json_builder_end_array (json);
  if (tensor->n_elements > MOST_PRINTED)
    vn_cmd_print (_("  %s … (%zu elements; --save-tensor writes all)\n"), line->str, tensor->n_elements);
  else
    vn_cmd_print ("  %s\n", line->str);
}

/*< private >
 * vn_cmd_print_tensor:
 * @name: of a constant, or of a node, whose weight is meant
 * @integers: elements as they are stored, even if they stand for other numbers
 * @save: (nullable): a file that all elements are written to, as .npy
 *
 * Prints what the constant holds, as text and as members of @json.
 */
gboolean
vn_cmd_print_tensor (JsonBuilder  *json,
                     VnModel      *model,
                     const char   *name,
                     gboolean      integers,
                     const char   *save,
                     GError      **error)
{
  g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(VnConstantLook) look = NULL;
  const VnValue *value;
  const VnTensor *shown;
  VnStoredWeight stored;
  gboolean is_stored = FALSE;

  g_return_val_if_fail (json != NULL && model != NULL && name != NULL, FALSE);

  value = cmd_inspect_tensor_find (model->graph, name, &stored, &is_stored, error);
  look = value != NULL ? vn_constant_look_new (model, value, is_stored ? &stored : NULL, error) : NULL;
  if (look == NULL)
    return FALSE;
  shown = look->numbers != NULL && !integers ? look->numbers : look->tensor;
  vn_constant_list_facts (value, is_stored ? &stored : NULL, facts);
  vn_constant_look_list_figures (look, facts);
  vn_cmd_print ("%s\n", value->name);
  vn_json_add_text (json, "tensor", value->name);
  vn_cmd_print_facts (json, facts);
  cmd_inspect_tensor_add_values (json, shown);
  return save == NULL || vn_npy_write (save, shown, error);
}
