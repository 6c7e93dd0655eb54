/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a scene (boxes, pills, edges) from a model and its plan of quantization. */
#include "vn-scene-builder.h"

#include "scene-pairs.h"
#include "vn-format.h"
#include "vn-i18n.h"

#include <string.h>

typedef struct
{
  const VnGraph *graph;
  VnRun         *result;      /* nullable */
  VnScene       *scene;
  GHashTable    *sources;     /* VnValue of a graph input -> index + 1 */
  guint         *box_of;      /* node index -> scene index */
  VnScenePairs   pairs;
  GHashTable    *letters;     /* symbol of a dimension -> what stands for it */
  VnModel       *sized;       /* nullable: the same model with sizes of inputs that are known */
} Build;

/* Longer ones, such as "floor((height - 1) / 2) + 1", are said by a letter: the shape would have no room for them. */
#define LONGEST_SYMBOL 12

/**
 * vn_precision_of_dtype:
 *
 * Returns: how a tensor of this type is outlined
 */
VnScenePrecision
vn_precision_of_dtype (VnDType dtype)
{
  guint bits = vn_dtype_get_bits (dtype);

  if (vn_dtype_is_float (dtype))
    return bits <= 16 ? VN_PRECISION_HALF : VN_PRECISION_FLOAT;
  if (!vn_dtype_is_integer (dtype))
    return VN_PRECISION_NONE;
  if (bits < 8)
    return VN_PRECISION_4;
  return bits == 8 ? VN_PRECISION_8 : VN_PRECISION_WIDE;
}

static gboolean
scene_builder_is_float_value (const VnValue *value)
{
  return value->type.kind == VN_TYPE_TENSOR && vn_dtype_is_float (value->type.dtype);
}

/* A name that says something: not one that a converter has numbered, such as "unk__68". */
static gboolean
scene_builder_is_short (const char *symbol)
{
  const char *number = strstr (symbol, "__");

  if (number != NULL && g_ascii_isdigit (number[2]))
    return FALSE;
  return g_utf8_strlen (symbol, -1) <= LONGEST_SYMBOL && strpbrk (symbol, " +-*/()") == NULL;
}

/* "A", …, "Z", "A1", …: the same for the same expression. */
static const char *
scene_builder_get_letter (Build      *self,
                          const char *symbol)
{
  const char *known = g_hash_table_lookup (self->letters, symbol);
  guint n = g_hash_table_size (self->letters);
  char *letter;

  if (known != NULL)
    return known;
  letter = n < 26 ? g_strdup_printf ("%c", 'A' + (int) n) : g_strdup_printf ("%c%u", 'A' + (int) (n % 26), n / 26);
  g_hash_table_insert (self->letters, g_strdup (symbol), letter);
  vn_scene_add_symbol (self->scene, letter, symbol);
  return letter;
}

/* As far as it is known by the sizes of inputs. */
static const VnType *
scene_builder_get_type (const Build   *self,
                        const VnValue *value)
{
  const VnValue *sized = self->sized != NULL && value->type.shape.rank >= 0 && !vn_shape_is_static (&value->type.shape)
                         ? vn_graph_find_value (self->sized->graph, value->name) : NULL;

  return sized != NULL && sized->type.kind == value->type.kind && sized->type.shape.rank == value->type.shape.rank
         ? &sized->type : &value->type;
}

/* "1×3×224×224", names for dims that have one. */
static char *
scene_builder_dup_shape (Build         *self,
                         const VnValue *value)
{
  const VnType *type = scene_builder_get_type (self, value);
  GString *text;

  if (type->kind != VN_TYPE_TENSOR || type->shape.rank < 0)
    return NULL;
  if (type->shape.rank == 0)
    return g_strdup (_("scalar"));

  text = g_string_new (NULL);
  for (int i = 0; i < type->shape.rank; i++)
    {
      g_string_append (text, i > 0 ? "×" : "");
      if (type->shape.dims[i] >= 0)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, type->shape.dims[i]);
      else
        g_string_append (text, type->symbols[i] == NULL ? "?" : scene_builder_is_short (type->symbols[i])
                         ? type->symbols[i] : scene_builder_get_letter (self, type->symbols[i]));
    }
  return g_string_free (text, FALSE);
}

/* ---- nodes ---- */

static gboolean
scene_builder_has_float_weights (const Build  *self,
                                 const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && vn_scene_pairs_is_constant (&self->pairs, value) && scene_builder_is_float_value (value)
          && vn_shape_count (&value->type.shape, 0, value->type.shape.rank) > 1)
        return TRUE;
    }
  return FALSE;
}

/* One line is enough for what has no arithmetic or no weights of its own. */
static gboolean
scene_builder_is_slim (const VnSceneNode *box)
{
  if (box->family == VN_FAMILY_COMPUTE)
    return FALSE;
  return !((box->family == VN_FAMILY_POOL_NORM || box->family == VN_FAMILY_OTHER) && box->weighted);
}

/* What a pair that is drawn behind the node rounds its output to. */
static VnDType
scene_builder_find_dtype (const Build  *self,
                          const VnNode *node)
{
  const VnValue *output = vn_node_get_output (node, 0);

  for (guint i = 0; output != NULL && i < output->uses->len; i++)
    {
      const VnNode *user = g_array_index (output->uses, VnUse, i).node;

      if (vn_scene_pairs_get_role (&self->pairs, user) == VN_PAIR_FIRST)
        return vn_scene_pair_get_dtype (user);
    }
  return VN_DTYPE_UNDEFINED;
}

/* "s8 · 3×3/2": with the type that the weights are stored in, where their DequantizeLinear has no box of its own. */
static char *
scene_builder_dup_detail (const Build  *self,
                          const VnNode *node)
{
  g_autofree char *detail = vn_node_dup_detail (node), *word = NULL;
  VnDType stored = VN_DTYPE_UNDEFINED;

  for (guint i = 0; i < node->inputs->len && stored == VN_DTYPE_UNDEFINED; i++)
    if (vn_node_get_input (node, i) != NULL)
      stored = vn_scene_pairs_get_stored (&self->pairs, vn_node_get_input (node, i));
  if (stored == VN_DTYPE_UNDEFINED)
    return g_steal_pointer (&detail);
  word = g_ascii_strdown (vn_dtype_get_badge (stored), -1);
  return detail != NULL ? g_strdup_printf ("%s · %s", word, detail) : g_steal_pointer (&word);
}

static void
scene_builder_set_precision (const Build  *self,
                             const VnNode *node,
                             VnSceneNode  *box)
{
  VnDType dtype = self->result != NULL ? vn_run_get_node_dtype (self->result, node) : scene_builder_find_dtype (self, node);

  if (dtype == VN_DTYPE_UNDEFINED)
    return;
  box->badge = (char *) vn_dtype_get_badge (dtype);
  box->excluded = vn_dtype_is_float (dtype);
  box->precision = box->excluded ? VN_PRECISION_FLOAT : vn_precision_of_dtype (dtype);
  box->differs = box->excluded || (self->result != NULL && self->result->recipe != NULL
                                   && vn_precision_of_dtype (self->result->recipe->activation) != box->precision);
}

/* Calls of functions are expanded before anything is run. */
static gboolean
scene_builder_is_unknown (const VnNode *node)
{
  return !vn_op_has_kernel (node) && vn_model_find_function (node->graph->model, node->domain, node->op_type) == NULL;
}

/* Never one line only: the badge must have room, and whose operator it is. */
static void
scene_builder_mark_unknown (const VnNode *node,
                            VnSceneNode  *box)
{
  box->slim = FALSE;
  box->badge = (char *) VN_BADGE_UNKNOWN;
  if (box->detail == NULL && *node->domain != '\0')
    box->detail = node->domain;
}

static void
scene_builder_add_box (Build        *self,
                       const VnNode *node)
{
  g_autofree char *id = vn_node_dup_label (node);
  g_autofree char *detail = scene_builder_dup_detail (self, node);
  g_autofree char *shape = NULL;
  const VnValue *output = vn_node_get_output (node, 0);
  VnSceneNode box = { .id = id, .source = node->index, .op = node->op_type, .detail = detail };

  if (output != NULL)
    shape = scene_builder_dup_shape (self, output);
  box.family = vn_op_family (node);
  box.weighted = scene_builder_has_float_weights (self, node);
  box.slim = scene_builder_is_slim (&box);
  box.name = id;
  box.scope = *node->name == '\0' && output != NULL ? output->name : NULL;
  box.shape = shape;
  scene_builder_set_precision (self, node, &box);
  if (scene_builder_is_unknown (node))
    scene_builder_mark_unknown (node, &box);
  self->box_of[node->index] = vn_scene_add_node (self->scene, &box);
}

static void
scene_builder_add_pair (Build        *self,
                        const VnNode *node)
{
  g_autofree char *id = vn_node_dup_label (node), *text = vn_scene_pair_dup_text (node), *shape = NULL;
  const VnValue *output = vn_node_get_output (node, 0);
  VnSceneNode box = { .id = id, .source = node->index, .kind = VN_SCENE_PAIR, .family = VN_FAMILY_CONVERSION,
                      .slim = TRUE, .op = (char *) "Q/DQ", .detail = text, .name = id };

  shape = scene_builder_dup_shape (self, output);
  box.shape = shape;
  self->box_of[node->index] = vn_scene_add_node (self->scene, &box);
}

static guint
scene_builder_add_pill (Build         *self,
                        const VnValue *value,
                        VnSceneKind    kind,
                        guint          index)
{
  g_autofree char *id = g_strdup_printf ("%s %u %s", kind == VN_SCENE_INPUT ? "input" : "output", index,
                                         value->name);
  g_autofree char *shape = scene_builder_dup_shape (self, value);
  VnSceneNode pill = { .id = id, .source = index, .kind = kind, .op = (char *) "", .name = value->name,
                       .shape = shape };

  return vn_scene_add_node (self->scene, &pill);
}

/* ---- edges ---- */

/* The box a value comes from; VN_SCENE_NONE for constants and what subgraphs define. */
static guint
scene_builder_source_of (const Build   *self,
                         const VnValue *value)
{
  if (value->producer != NULL)
    return value->producer->graph == self->graph ? self->box_of[value->producer->index] : VN_SCENE_NONE;
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->sources, value)) - 1;
}

static const VnTensorPlan *
scene_builder_plan_of (const Build   *self,
                       const VnValue *value)
{
  if (self->result == NULL)
    return NULL;
  if (value->producer != NULL && value->output_index == 0)
    return vn_run_get_node_plan (self->result, value->producer);
  return self->result->plan != NULL ? vn_quant_plan_find (self->result->plan, value->name) : NULL;
}

static char *
scene_builder_dup_tooltip (const VnValue      *value,
                           const VnTensorPlan *plan)
{
  g_autofree char *type = vn_type_to_string (&value->type), *least = NULL, *most = NULL;

  if (plan == NULL || !plan->quantized || !(plan->min < plan->max))
    return g_steal_pointer (&type);
  least = vn_format_number (plan->min, 4);
  most = vn_format_number (plan->max, 4);
  return g_strdup_printf (_("%s\nrange %s … %s as %s"), type, least, most, vn_dtype_get_badge (plan->dtype));
}

static void
scene_builder_add_edge (Build         *self,
                        const VnValue *value,
                        guint          to,
                        guint          input)
{
  guint from = scene_builder_source_of (self, value);
  const VnTensorPlan *plan = scene_builder_plan_of (self, value);
  g_autofree char *tooltip = NULL;
  const VnSceneNode *a, *b;
  VnSceneEdge edge = { .from = from, .to = to, .output = value->output_index, .input = input,
                       .value = value->name };

  /* a node that uses its own result cannot be drawn; the reader notes it */
  if (from == VN_SCENE_NONE || from == to)
    return;
  tooltip = scene_builder_dup_tooltip (value, plan);
  edge.tooltip = tooltip;
  edge.is_float = self->result != NULL && scene_builder_is_float_value (value) && (plan == NULL || !plan->quantized);
  a = vn_scene_get_node (self->scene, from);
  b = vn_scene_get_node (self->scene, to);
  edge.changes = a->precision != VN_PRECISION_NONE && b->precision != VN_PRECISION_NONE
                 && a->precision != b->precision;
  vn_scene_add_edge (self->scene, &edge);
}

/* What a body of If or Loop takes from outside enters the node that holds the body. */
static void
scene_builder_collect_outer_uses (const Build  *self,
                                  const VnNode *node,
                                  VnGraph      *body,
                                  GHashTable   *seen)
{
  for (guint i = 0; i < body->nodes->len; i++)
    {
      const VnNode *inner = g_ptr_array_index (body->nodes, i);

      for (guint k = 0; k < inner->inputs->len; k++)
        {
          VnValue *value = vn_node_get_input (inner, k);

          if (value != NULL && value->graph == self->graph)
            g_hash_table_add (seen, value);
        }
      for (guint k = 0; k < inner->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (inner->attrs, k);

          if (attr->graph != NULL)
            scene_builder_collect_outer_uses (self, node, attr->graph, seen);
        }
    }
}

static int
scene_builder_compare_values (gconstpointer a,
                              gconstpointer b)
{
  const VnValue *va = a, *vb = b;

  return va->id < vb->id ? -1 : va->id > vb->id;
}

static void
scene_builder_add_body_edges (Build        *self,
                              const VnNode *node)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr(GList) values = NULL;
  guint input = node->inputs->len;

  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL)
        scene_builder_collect_outer_uses (self, node, attr->graph, seen);
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        scene_builder_collect_outer_uses (self, node, g_ptr_array_index (attr->graphs, k), seen);
    }
  values = g_list_sort (g_hash_table_get_keys (seen), scene_builder_compare_values);
  for (GList *l = values; l != NULL; l = l->next)
    scene_builder_add_edge (self, l->data, self->box_of[node->index], input++);
}

static void
scene_builder_add_edges (Build        *self,
                         const VnNode *node)
{
  guint to = self->box_of[node->index];

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL)
        scene_builder_add_edge (self, value, to, i);
    }
  scene_builder_add_body_edges (self, node);
}

/* ---- whole ---- */

static void
scene_builder_add_nodes (Build *self)
{
  const VnGraph *graph = self->graph;

  for (guint i = 0; i < graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->inputs, i);
      guint pill;

      if (value->initializer != NULL)
        continue;
      pill = scene_builder_add_pill (self, value, VN_SCENE_INPUT, i);
      g_hash_table_insert (self->sources, value, GUINT_TO_POINTER (pill + 1));
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      self->box_of[i] = VN_SCENE_NONE;
      if (vn_scene_pairs_get_role (&self->pairs, node) == VN_PAIR_FIRST)
        scene_builder_add_pair (self, node);
      else if (vn_scene_pairs_get_role (&self->pairs, node) == VN_PAIR_NONE && !vn_node_is (node, "Constant"))
        scene_builder_add_box (self, node);
    }
}

/* Nodes without a box are found at the one that stands for them. */
static void
scene_builder_add_stand_ins (Build *self)
{
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      VnPairRole role = vn_scene_pairs_get_role (&self->pairs, node);
      guint box;

      if (role != VN_PAIR_REST && role != VN_PAIR_CONSTANT)
        continue;
      box = self->box_of[vn_scene_pairs_get_host (&self->pairs, node)->index];
      if (box != VN_SCENE_NONE)
        vn_scene_add_stand_in (self->scene, i, box);
      if (role == VN_PAIR_REST)
        self->box_of[i] = box;
    }
}

/**
 * vn_scene_build:
 * @model: with its types inferred, as far as that goes
 * @result: (nullable): of a run on @model: gives precisions
 * @pairs: how QuantizeLinear and DequantizeLinear are drawn
 *
 * Makes what the canvas shows of a model: its operators as boxes, graph inputs and outputs as pills.
 * Constants are not drawn. The same model always gives the same geometry, with or without a result.
 *
 * Returns: (transfer full): the scene, sealed
 */
VnScene *
vn_scene_build (const VnModel *model,
                VnRun         *result,
                VnPairsShown   pairs)
{
  g_return_val_if_fail (model != NULL, NULL);

  return vn_scene_build_sized (model, result, pairs, NULL);
}

/* Sizes with which the network cannot work leave its shapes as they are. */
static VnModel *
scene_builder_infer (const VnModel *model,
                     GHashTable    *sizes)
{
  g_autoptr(VnModel) sized = sizes != NULL ? vn_model_copy (model) : NULL;

  return sized != NULL && vn_model_infer_types (sized, sizes, NULL, NULL) ? g_steal_pointer (&sized) : NULL;
}

/**
 * vn_scene_build_sized:
 * @sizes: (nullable) (element-type utf8 VnShape): of inputs that @model leaves open, by name
 *
 * As vn_scene_build(), with the shapes that come of @sizes.
 *
 * Returns: (transfer full): the scene, sealed
 */
VnScene *
vn_scene_build_sized (const VnModel *model,
                      VnRun         *result,
                      VnPairsShown   pairs,
                      GHashTable    *sizes)
{
  g_autoptr(VnModel) sized = NULL;
  g_autoptr(GHashTable) sources = NULL, letters = NULL;
  g_autofree guint *box_of = NULL;
  const VnGraph *graph;
  Build self;

  g_return_val_if_fail (model != NULL, NULL);

  graph = model->graph;
  sized = scene_builder_infer (model, sizes);
  sources = g_hash_table_new (NULL, NULL);
  letters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  box_of = g_new (guint, graph->nodes->len + 1);
  self = (Build) { .graph = graph, .result = result, .scene = vn_scene_new (), .sources = sources, .box_of = box_of,
                   .letters = letters, .sized = sized };
  vn_scene_pairs_init (&self.pairs, graph, pairs == VN_PAIRS_FOLDED);
  scene_builder_add_nodes (&self);
  scene_builder_add_stand_ins (&self);
  for (guint i = 0; i < graph->nodes->len; i++)
    if (box_of[i] != VN_SCENE_NONE)
      scene_builder_add_edges (&self, g_ptr_array_index (graph->nodes, i));
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->outputs, i);
      guint pill = scene_builder_add_pill (&self, value, VN_SCENE_OUTPUT, i);

      scene_builder_add_edge (&self, value, pill, 0);
    }
  vn_scene_pairs_clear (&self.pairs);
  vn_scene_seal (self.scene);
  return self.scene;
}
