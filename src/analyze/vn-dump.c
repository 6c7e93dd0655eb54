/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to dump is found in the graph (dump_collect_items()); the network then runs once, and each tensor is written when it
 * is seen, so that memory does not grow with their number. What the plan folded into constants is asked for by a second
 * plan, which computes nothing else. */
#include "vn-dump.h"

#include "vn-error.h"
#include "vn-file-hold.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define LONGEST_NAME 180     /* bytes; endings and "_float" come on top, file systems allow 255 */

/* One file to be. */
typedef struct
{
  VnValue    *value;         /* its elements are written */
  VnDumpFile  file;
  gboolean    is_grid;       /* floats that stand for whole numbers: those of FixNeuron */
  gboolean    written;
  gboolean    begun;        /* there may be files of it */
} Item;

struct _VnDump
{
  VnModel    *model;
  GHashTable *shapes;        /* nullable */
  VnNotes    *notes;         /* nullable */
  GPtrArray  *items;
  GHashTable *stems;         /* names given so far */
  GPtrArray  *taps;          /* of VnValue */
  VnPlan     *plan;

  const char *folder;        /* while it runs */
  GError     *error;
};

static void
dump_item_free (gpointer data)
{
  Item *item = data;

  g_free (item->file.file);
  g_free (item->file.value);
  g_free (item->file.node);
  g_free (item->file.op_type);
  g_clear_pointer (&item->file.scale, vn_tensor_unref);
  g_clear_pointer (&item->file.zero_point, vn_tensor_unref);
  g_free (item);
}

/* ---- names ---- */

static char *
dump_dup_stem (VnDump     *self,
               const char *name,
               gboolean    is_float)
{
  g_autofree char *clean = g_strdup (name);
  g_autofree char *digest = NULL;
  char *stem;

  for (char *at = clean; *at != '\0'; at++)
    if (*at == '/' || *at == '\\' || (guchar) *at < ' ' || *at == 0x7f)
      *at = '_';
  if (strlen (clean) > LONGEST_NAME)
    {
      digest = g_compute_checksum_for_string (G_CHECKSUM_MD5, name, -1);
      strcpy (clean + LONGEST_NAME - 33, "-");
      strcpy (clean + LONGEST_NAME - 32, digest);
    }
  stem = g_strconcat (clean, is_float ? "_float" : "", NULL);
  for (guint i = 2; g_hash_table_contains (self->stems, stem); i++)
    {
      g_free (stem);
      stem = g_strdup_printf ("%s-%u%s", clean, i, is_float ? "_float" : "");
    }
  g_hash_table_add (self->stems, g_strdup (stem));
  return stem;
}

/* ---- what to write ---- */

/* @named: (nullable): the value that gives the name */
static Item *
dump_add_item (VnDump       *self,
               VnValue      *value,
               const char   *named,
               const VnNode *node,
               gboolean      quantized)
{
  Item *item = g_new0 (Item, 1);

  item->value = value;
  item->file.file = dump_dup_stem (self, named, !quantized);
  item->file.value = g_strdup (named);
  item->file.node = node != NULL ? vn_node_dup_label (node) : g_strdup ("");
  item->file.op_type = g_strdup (node != NULL ? node->op_type : "");
  item->file.quantized = quantized;
  g_ptr_array_add (self->items, item);
  return item;
}

static VnTensor *
dump_ref_constant (const VnNode *node,
                   guint         input)
{
  const VnValue *value = vn_node_get_input (node, input);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL ? vn_tensor_ref (tensor) : NULL;
}

static gboolean
dump_is_dequantize (const VnNode *node)
{
  return vn_node_dequantizes (node) && vn_node_get_input (node, 0) != NULL &&
         vn_node_get_output (node, 0) != NULL;
}

static gboolean
dump_is_dequantized (const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->index == 0 && dump_is_dequantize (use->node))
        return TRUE;
    }
  return FALSE;
}

/* Whether @node makes whole numbers that stand for others, or computes with such weights. */
static gboolean
dump_is_integer_op (const VnNode *node)
{
  return g_str_has_prefix (node->op_type, "QLinear") || g_str_has_suffix (node->op_type, "Integer") ||
         g_str_has_suffix (node->op_type, "QuantizeLinear") || g_str_has_suffix (node->op_type, "NBits") ||
         g_str_equal (node->op_type, "QGemm");
}

static void
dump_add_integers (VnDump *self,
                   VnNode *node)
{
  VnValue *value = vn_node_get_output (node, 0);

  if (value != NULL && vn_dtype_is_integer (value->type.dtype) && !dump_is_dequantized (value))
    dump_add_item (self, value, value->name, node, TRUE);
  for (guint i = 0; i < node->inputs->len; i++)
    {
      VnTensor *tensor;

      value = vn_node_get_input (node, i);
      tensor = value != NULL ? vn_value_get_constant (value) : NULL;
      /* Not shared ones twice, nor zero points. */
      if (tensor != NULL && vn_dtype_is_integer (tensor->dtype) && tensor->shape.rank >= 2 &&
          g_array_index (value->uses, VnUse, 0).node == node)
        dump_add_item (self, value, value->name, node, TRUE);
    }
}

static void
dump_add_quantized (VnDump *self,
                    VnNode *node)
{
  VnValue *out = vn_node_get_output (node, 0);
  Item *item;

  if (dump_is_dequantize (node))
    {
      item = dump_add_item (self, vn_node_get_input (node, 0), out->name, node, TRUE);
      item->file.axis = vn_node_get_int (node, "axis", 1);
    }
  else if (g_str_equal (node->op_type, "FixNeuron") && out != NULL)
    {
      item = dump_add_item (self, out, out->name, node, TRUE);
      item->is_grid = TRUE;
    }
  else if ((g_str_has_suffix (node->op_type, "QuantizeDequantize") || g_str_has_suffix (node->op_type, "FixNeuron")) &&
           out != NULL)
    {
      dump_add_item (self, out, out->name, node, TRUE);
      return;
    }
  else
    {
      if (dump_is_integer_op (node))
        dump_add_integers (self, node);
      return;
    }
  item->file.scale = dump_ref_constant (node, 1);
  item->file.zero_point = dump_ref_constant (node, 2);
}

static gboolean
dump_may_be_float (const VnValue *value)
{
  return value->type.kind == VN_TYPE_UNKNOWN || (value->type.kind == VN_TYPE_TENSOR && vn_dtype_is_float (value->type.dtype));
}

static gboolean
dump_collect_items (VnDump    *self,
                    gboolean   floats,
                    GError   **error)
{
  const VnGraph *graph = self->model->graph;
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  for (guint i = 0; order != NULL && i < order->len; i++)
    dump_add_quantized (self, order->pdata[i]);
  for (guint i = 0; floats && order != NULL && i < graph->inputs->len; i++)
    {
      VnValue *value = graph->inputs->pdata[i];

      if (value->initializer == NULL && dump_may_be_float (value))
        dump_add_item (self, value, value->name, NULL, FALSE);
    }
  for (guint i = 0; floats && order != NULL && i < order->len; i++)
    {
      const VnNode *node = order->pdata[i];

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL && dump_may_be_float (vn_node_get_output (node, k)))
          dump_add_item (self, vn_node_get_output (node, k), vn_node_get_output (node, k)->name, node, FALSE);
    }
  return order != NULL;
}

static void
dump_collect_taps (VnDump *self)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->items->len; i++)
    {
      const Item *item = self->items->pdata[i];

      if (vn_value_get_constant (item->value) == NULL && g_hash_table_add (seen, item->value))
        g_ptr_array_add (self->taps, item->value);
    }
}

/**
 * vn_dump_new:
 * @model: as the engine can run it; referenced
 * @input_shapes: (nullable): sizes of inputs that the model leaves open
 * @floats: also the floats that each node gives, and those the network is given
 * @notes: (nullable): receives what cannot be computed
 *
 * Finds the tensors to write: for each DequantizeLinear the whole numbers it reads, of weights and activations, under the
 * name of the floats it gives; for each FixNeuron those it rounds to; what operators on whole numbers give and their
 * weights; and what blockwise formats round to, in float.
 *
 * Returns: (transfer full) (nullable): ready to run; %VN_ERROR_MISSING_DATA if there is nothing to write
 */
VnDump *
vn_dump_new (VnModel     *model,
             GHashTable  *input_shapes,
             gboolean     floats,
             VnNotes     *notes,
             GError     **error)
{
  g_autoptr(VnDump) self = g_new0 (VnDump, 1);
  VnPlanOptions options = { .input_shapes = input_shapes, .skip_unsupported = TRUE };

  g_return_val_if_fail (model != NULL, NULL);

  self->model = vn_model_ref (model);
  self->shapes = input_shapes != NULL ? g_hash_table_ref (input_shapes) : NULL;
  self->notes = notes != NULL ? vn_notes_ref (notes) : NULL;
  self->items = g_ptr_array_new_with_free_func (dump_item_free);
  self->stems = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->taps = g_ptr_array_new ();
  if (!dump_collect_items (self, floats, error))
    return NULL;
  if (self->items->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("The main graph has no quantized tensors, and tensors of subgraphs are not dumped. To dump its "
                     "float tensors, add --float"));
      return NULL;
    }
  dump_collect_taps (self);
  options.taps = self->taps;
  self->plan = vn_plan_new (model, &options, notes, error);
  return self->plan != NULL ? g_steal_pointer (&self) : NULL;
}

void
vn_dump_free (VnDump *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->plan, vn_plan_unref);
  g_ptr_array_unref (self->items);
  g_ptr_array_unref (self->taps);
  g_hash_table_unref (self->stems);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_clear_error (&self->error);
  vn_model_unref (self->model);
  g_free (self);
}

VnPlan *
vn_dump_get_plan (VnDump *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->plan;
}

/**
 * vn_dump_get_n:
 *
 * Returns: how many tensors there are; after vn_dump_run() those that were written
 */
guint
vn_dump_get_n (VnDump *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->items->len;
}

const VnDumpFile *
vn_dump_get (VnDump *self,
             guint   i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->items->len ? &((Item *) self->items->pdata[i])->file : NULL;
}

/**
 * vn_dump_add_outputs:
 * @set: told which files vn_dump_run() will write into @folder
 */
void
vn_dump_add_outputs (VnDump     *self,
                     const char *folder,
                     VnFileSet  *set)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->items->len; i++)
    {
      const Item *item = self->items->pdata[i];
      g_autofree char *numbers = g_strconcat (item->file.file, ".bin", NULL), *text = g_strconcat (item->file.file, ".txt", NULL);

      vn_file_set_writes_in (set, folder, numbers, _("the dump"));
      vn_file_set_writes_in (set, folder, text, _("the dump"));
    }
}

/* ---- writing ---- */

static void
dump_append_number (VnBuffer       *text,
                    const VnTensor *tensor,
                    gsize           i)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  double value;

  if (vn_dtype_is_float (tensor->dtype))
    {
      value = vn_tensor_get_double (tensor, i);
      if (isfinite (value))
        g_ascii_formatd (buffer, sizeof buffer, tensor->dtype == VN_DTYPE_F64 ? "%.17g" : "%.9g", value);
      else
        g_strlcpy (buffer, isnan (value) ? "nan" : value < 0 ? "-inf" : "inf", sizeof buffer);
    }
  else if (tensor->dtype == VN_DTYPE_U64)
    g_snprintf (buffer, sizeof buffer, "%" G_GUINT64_FORMAT, (guint64) vn_tensor_get_s64 (tensor, i));
  else
    g_snprintf (buffer, sizeof buffer, "%" G_GINT64_FORMAT, vn_tensor_get_s64 (tensor, i));
  vn_buffer_add (text, buffer, strlen (buffer));
  vn_buffer_add (text, "\n", 1);
}

static gboolean
dump_write_file (const char    *folder,
                 const char    *stem,
                 const char    *ending,
                 gconstpointer  data,
                 gsize          size,
                 GError       **error)
{
  g_autofree char *name = g_strconcat (stem, ending, NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);

  vn_file_hold_note (path);
  /* Synchronising thousands of small files to the disk would take minutes. */
  return g_file_set_contents_full (path, data, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0666, error);
}

static gboolean
dump_write_tensor (const char      *folder,
                   Item            *item,
                   const VnTensor  *tensor,
                   GError         **error)
{
  g_auto(VnBuffer) text = { 0 };

  for (gsize i = 0; i < tensor->n_elements && !text.failed; i++)
    dump_append_number (&text, tensor, i);
  if (text.failed)
    {
      vn_memory_set_error (text.size, error);
      return FALSE;
    }
  item->file.dtype = tensor->dtype;
  item->file.shape = tensor->shape;
  item->begun = TRUE;
  item->written = dump_write_file (folder, item->file.file, ".bin", tensor->data, tensor->n_bytes, error) &&
                  dump_write_file (folder, item->file.file, ".txt", text.data != NULL ? text.data : "", text.size, error);
  return item->written;
}

/* The whole numbers that the floats a FixNeuron gave stand for: in as many bytes as they need. */
static VnTensor *
dump_find_integers (const Item      *item,
                    const VnTensor  *tensor,
                    GError         **error)
{
  double scale = vn_tensor_get_double (item->file.scale, 0);
  gint64 zero = item->file.zero_point != NULL ? vn_tensor_get_s64 (item->file.zero_point, 0) : 0;
  gint64 bits = vn_node_get_int (item->value->producer, "bit_width", 8);
  VnTensor *result = vn_tensor_new (bits <= 8 ? VN_DTYPE_S8 : bits <= 16 ? VN_DTYPE_S16 : VN_DTYPE_S32, &tensor->shape, error);

  for (gsize i = 0; result != NULL && i < tensor->n_elements; i++)
    {
      double q = rint (vn_tensor_get_double (tensor, i) / scale);
      gint64 value = isfinite (q) ? (gint64) CLAMP (q, -16777216., 16777216.) + zero : 0;

      if (bits <= 8)
        ((gint8 *) result->data)[i] = (gint8) value;
      else if (bits <= 16)
        ((gint16 *) result->data)[i] = (gint16) value;
      else
        ((gint32 *) result->data)[i] = (gint32) value;
    }
  return result;
}

static gboolean
dump_write_item (VnDump          *self,
                 Item            *item,
                 const VnTensor  *tensor,
                 GError         **error)
{
  g_autoptr(VnTensor) converted = NULL;

  if (vn_tensor_is_container (tensor) || tensor->dtype == VN_DTYPE_STRING ||
      (!item->file.quantized && !vn_dtype_is_float (tensor->dtype)))
    return TRUE;
  if (item->is_grid && item->file.scale != NULL && item->file.scale->n_elements == 1 && tensor->dtype == VN_DTYPE_F32)
    converted = dump_find_integers (item, tensor, error);
  else if (vn_dtype_get_bits (tensor->dtype) < 8)
    converted = vn_tensor_convert ((VnTensor *) tensor, vn_dtype_is_signed (tensor->dtype) ? VN_DTYPE_S8 : VN_DTYPE_U8, error);
  else
    return dump_write_tensor (self->folder, item, tensor, error);
  return converted != NULL && dump_write_tensor (self->folder, item, converted, error);
}

static gboolean
dump_write_value (VnDump          *self,
                  const VnValue   *value,
                  const VnTensor  *tensor,
                  GError         **error)
{
  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = self->items->pdata[i];

      if (item->value == value && !item->written && !dump_write_item (self, item, tensor, error))
        return FALSE;
    }
  return TRUE;
}

static void
dump_tap_cb (const VnValue  *value,
             guint           tap,
             const VnTensor *tensor,
             gpointer        data)
{
  VnDump *self = data;

  if (self->error == NULL)
    dump_write_value (self, value, tensor, &self->error);
}

/* ---- running ---- */

static gboolean
dump_write_constants (VnDump  *self,
                      GError **error)
{
  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = self->items->pdata[i];
      VnTensor *tensor = vn_value_get_constant (item->value);

      if (tensor != NULL && !dump_write_item (self, item, tensor, error))
        return FALSE;
    }
  return TRUE;
}

/* Values that no run shows, because the plan has found that they are the same in every run. */
static GPtrArray *
dump_list_folded (VnDump *self)
{
  GPtrArray *folded = g_ptr_array_new ();

  for (guint i = 0; i < self->items->len; i++)
    {
      const Item *item = self->items->pdata[i];

      if (!item->written && vn_value_get_constant (item->value) == NULL && vn_plan_is_computed (self->plan, item->value) &&
          !g_ptr_array_find (folded, item->value, NULL))
        g_ptr_array_add (folded, item->value);
    }
  return folded;
}

static gboolean
dump_write_folded (VnDump            *self,
                   VnTensor * const  *inputs,
                   GCancellable      *cancellable,
                   GError           **error)
{
  g_autoptr(GPtrArray) folded = dump_list_folded (self);
  VnPlanOptions options = { .input_shapes = self->shapes, .outputs = folded, .no_fusion = TRUE, .skip_unsupported = TRUE };
  g_autoptr(VnPlan) plan = folded->len > 0 ? vn_plan_new (self->model, &options, NULL, error) : NULL;
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, error) : NULL;
  g_autofree VnTensor **outputs = plan != NULL ? g_new0 (VnTensor *, vn_plan_get_n_outputs (plan) + 1) : NULL;
  gboolean good = TRUE;

  if (runner == NULL || !vn_runner_run (runner, inputs, outputs, cancellable, error))
    return folded->len == 0;
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    {
      good = good && dump_write_value (self, vn_plan_get_output (plan, i), outputs[i], error);
      g_clear_pointer (&outputs[i], vn_tensor_unref);
    }
  return good;
}

/* Half a dump looks like a whole one. */
static void
dump_remove_begun (VnDump *self)
{
  static const char * const endings[] = { ".bin", ".txt" };

  for (guint i = 0; i < self->items->len; i++)
    for (guint e = 0; ((const Item *) self->items->pdata[i])->begun && e < G_N_ELEMENTS (endings); e++)
      {
        g_autofree char *name = g_strconcat (((const Item *) self->items->pdata[i])->file.file, endings[e], NULL);
        g_autofree char *path = g_build_filename (self->folder, name, NULL);

        g_unlink (path);
      }
}

/* What has turned out to be no float, or could not be computed, is not in the list. */
static void
dump_drop_unwritten (VnDump *self)
{
  for (guint i = self->items->len; i > 0; i--)
    {
      const Item *item = self->items->pdata[i - 1];

      if (!item->written)
        g_ptr_array_remove_index (self->items, i - 1);
    }
}

/**
 * vn_dump_run:
 * @inputs: in the order of the plan's inputs
 * @folder: exists; files in it of the names to write are replaced
 *
 * Runs the network once and writes the tensors. To be called once.
 *
 * Returns: %FALSE if the network cannot run or a file cannot be written; what was written is then removed again
 */
gboolean
vn_dump_run (VnDump            *self,
             VnTensor * const  *inputs,
             const char        *folder,
             guint              n_threads,
             GCancellable      *cancellable,
             GError           **error)
{
  g_autoptr(VnRunner) runner = NULL;
  gboolean good;

  g_return_val_if_fail (self != NULL, FALSE);

  runner = vn_runner_new (self->plan, error);
  if (runner == NULL)
    return FALSE;
  self->folder = folder;
  vn_runner_set_threads (runner, MAX (n_threads, 1));
  vn_runner_set_tap (runner, dump_tap_cb, self);
  good = dump_write_constants (self, error) && vn_runner_run (runner, inputs, NULL, cancellable, error);
  if (good && self->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      good = FALSE;
    }
  good = good && dump_write_folded (self, inputs, cancellable, error);
  if (good)
    dump_drop_unwritten (self);
  else
    dump_remove_begun (self);
  return good;
}
