/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values and constants that writers add, and those that nothing reads any more. */
#include "vn-quant-write.h"

#include "vn-graph-edit.h"

/*< private >
 * vn_quant_add_value:
 * @base: name of the tensor it belongs to; the two together are made unique
 * @shape: (nullable): unknown
 */
VnValue *
vn_quant_add_value (VnGraph       *graph,
                    const char    *base,
                    const char    *suffix,
                    VnDType        dtype,
                    const VnShape *shape)
{
  g_autofree char *name = g_strconcat (base, suffix, NULL);

  g_return_val_if_fail (graph != NULL, NULL);

  return vn_graph_add_value (graph, name, dtype, shape);
}

/*< private >
 * vn_quant_add_constant:
 * @base: name of the tensor it belongs to; the two together are made unique
 */
VnValue *
vn_quant_add_constant (VnGraph    *graph,
                       const char *base,
                       const char *suffix,
                       VnTensor   *tensor)
{
  g_autofree char *name = g_strconcat (base, suffix, NULL);

  g_return_val_if_fail (graph != NULL, NULL);

  return vn_graph_add_initializer (graph, name, tensor);
}

/*< private >
 * vn_quant_drop_unused_constants:
 * @captured: set of VnValue that graphs inside nodes use
 *
 * Bounds of clamps that vanished, and what the model never used.
 */
void
vn_quant_drop_unused_constants (VnGraph    *graph,
                                GHashTable *captured)
{
  g_autoptr(GPtrArray) unused = g_ptr_array_new ();

  g_return_if_fail (graph != NULL);

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (captured, value))
        g_ptr_array_add (unused, value);
    }
  for (guint i = 0; i < unused->len; i++)
    vn_graph_remove_value (graph, g_ptr_array_index (unused, i));
}
