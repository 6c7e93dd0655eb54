/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of gradients, and which nodes it can serve. */
#include "vn-gradient-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define ALL G_MAXUINT32
#define FIRST(n) ((1u << (n)) - 1)

static const VnGradient gradients[] = {
#define VN_GRADIENT(domain_, op_type_, inputs_, backward_) \
  { .domain = domain_, .op_type = op_type_, .inputs = inputs_, .backward = backward_ },
#define VN_GRADIENT_CHECKED(domain_, op_type_, inputs_, check_, backward_) \
  { .domain = domain_, .op_type = op_type_, .inputs = inputs_, .check = check_, .backward = backward_ },
#define VN_GRADIENT_NONE(domain_, op_type_) { .domain = domain_, .op_type = op_type_ },
#include "vn-gradients.def"
#undef VN_GRADIENT
#undef VN_GRADIENT_CHECKED
#undef VN_GRADIENT_NONE
};

/**
 * vn_gradient_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): the table
 */
const VnGradient *
vn_gradient_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (gradients);
  return gradients;
}

/**
 * vn_gradient_find:
 *
 * Returns: (nullable): the line of the node's operator
 */
const VnGradient *
vn_gradient_find (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (gradients); i++)
    if (g_str_equal (gradients[i].op_type, node->op_type) && g_str_equal (gradients[i].domain, node->domain))
      return &gradients[i];
  return NULL;
}

/**
 * vn_gradient_has_input:
 * @self: (nullable)
 *
 * Returns: whether a gradient comes back to that input
 */
gboolean
vn_gradient_has_input (const VnGradient *self,
                       guint             input)
{
  return self != NULL && (self->inputs == ALL || (input < 32 && (self->inputs >> input & 1) != 0));
}

/* Whether a value may hold real numbers: types that are not known may. */
static gboolean
gradient_may_be_float (const VnValue *value)
{
  return value != NULL && (value->type.kind != VN_TYPE_TENSOR || value->type.dtype == VN_DTYPE_UNDEFINED ||
                           vn_dtype_is_float (value->type.dtype));
}

/* Gradients neither start from nor come to integers. */
static gboolean
gradient_is_needed (const VnNode *node)
{
  gboolean in = FALSE, out = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    in = in || gradient_may_be_float (vn_node_get_input (node, i));
  for (guint i = 0; i < node->outputs->len; i++)
    out = out || gradient_may_be_float (vn_node_get_output (node, i));
  return in && out;
}

/**
 * vn_gradient_check_node:
 *
 * Returns: whether gradients can be brought back through @node, or need not be as it computes no real numbers from such;
 *   %FALSE with %VN_ERROR_UNSUPPORTED that names node and operator
 */
gboolean
vn_gradient_check_node (const VnNode  *node,
                        GError       **error)
{
  const VnGradient *gradient;
  g_autofree char *label = NULL;

  g_return_val_if_fail (node != NULL, FALSE);

  gradient = vn_gradient_find (node);
  if (gradient != NULL ? gradient->check == NULL || gradient->check (node, error) : !gradient_is_needed (node))
    return TRUE;
  label = vn_node_dup_label (node);
  if (gradient == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Gradients cannot pass through node “%s”: there is no "
                                                          "gradient for %s"), label,
                 node->op_type);
  else
    g_prefix_error (error, _("Gradients cannot pass through node “%s” (%s): "), label, node->op_type);
  return FALSE;
}

/**
 * vn_gradient_run:
 * @ctx: of a node of the operator, with all of its inputs and outputs
 *
 * Adds to the gradients of the inputs.
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY, or with an error of sizes that no gradient is known for
 */
gboolean
vn_gradient_run (const VnGradient   *self,
                 VnGradientContext  *ctx,
                 GError            **error)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (self != NULL && ctx != NULL, FALSE);

  if (self->backward == NULL || self->backward (ctx, error))
    return TRUE;
  label = vn_node_dup_label (ctx->op.node);
  g_prefix_error (error, _("Gradient of node “%s” (%s): "), label, ctx->op.node->op_type);
  return FALSE;
}
