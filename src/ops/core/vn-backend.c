/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operator that stands for what a backend runs: a node that we have no kernel for, or many nodes at once. */
#include "vn-backend.h"

#include "vn-arithmetic.h"
#include "vn-op-kernel.h"

#define MOST_SMALL ((gsize) 1 << 16)   /* bytes of a constant that may say what a node makes */

typedef struct
{
  char         *title;
  gboolean      takes_all;
  VnArithmetic  arithmetic;   /* of our own kernels */
} VnBackendPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (VnBackend, vn_backend, G_TYPE_OBJECT)

/* What `prepared` of the operator is. */
typedef struct
{
  VnBackend *backend;
  gpointer   opened;
  guint      n_outputs;
} Part;

static void
backend_finalize (GObject *object)
{
  VnBackendPrivate *priv = vn_backend_get_instance_private (VN_BACKEND (object));

  g_free (priv->title);
  G_OBJECT_CLASS (vn_backend_parent_class)->finalize (object);
}

static void
vn_backend_class_init (VnBackendClass *class)
{
  G_OBJECT_CLASS (class)->finalize = backend_finalize;
}

static void
vn_backend_init (VnBackend *self)
{
}

/**
 * vn_model_get_backend:
 *
 * Returns: (transfer none) (nullable): what runs nodes of @model that we have no kernel for
 */
VnBackend *
vn_model_get_backend (const VnModel *model)
{
  g_return_val_if_fail (model != NULL, NULL);

  return model->backend != NULL ? VN_BACKEND (model->backend) : NULL;
}

/**
 * vn_model_set_backend:
 * @model: that nobody else has yet; copies of it get the same
 */
void
vn_model_set_backend (VnModel   *model,
                      VnBackend *backend)
{
  g_return_if_fail (model != NULL);

  g_set_object (&model->backend, backend != NULL ? G_OBJECT (backend) : NULL);
}

/**
 * vn_backend_get_title:
 *
 * Returns: (nullable): what it is called in messages and reports; %NULL: it has run nothing yet
 */
const char *
vn_backend_get_title (VnBackend *self)
{
  g_return_val_if_fail (VN_IS_BACKEND (self), NULL);

  return ((VnBackendPrivate *) vn_backend_get_instance_private (self))->title;
}

/**
 * vn_backend_set_title:
 *
 * For who implements it, once, before it runs anything.
 */
void
vn_backend_set_title (VnBackend  *self,
                      const char *title)
{
  VnBackendPrivate *priv;

  g_return_if_fail (VN_IS_BACKEND (self));

  priv = vn_backend_get_instance_private (self);
  if (priv->title == NULL)
    priv->title = g_strdup (title);
}

/**
 * vn_backend_takes_all:
 *
 * Returns: whether it runs nodes that we have kernels for, too
 */
gboolean
vn_backend_takes_all (VnBackend *self)
{
  g_return_val_if_fail (VN_IS_BACKEND (self), FALSE);

  return ((VnBackendPrivate *) vn_backend_get_instance_private (self))->takes_all;
}

/**
 * vn_backend_set_takes_all:
 *
 * Before any model has it.
 */
void
vn_backend_set_takes_all (VnBackend *self,
                          gboolean   takes_all)
{
  g_return_if_fail (VN_IS_BACKEND (self));

  ((VnBackendPrivate *) vn_backend_get_instance_private (self))->takes_all = takes_all;
}

/**
 * vn_backend_set_arithmetic:
 * @arithmetic: that our kernels imitate in models that have @self
 *
 * Before any model has it.
 */
void
vn_backend_set_arithmetic (VnBackend    *self,
                           VnArithmetic  arithmetic)
{
  g_return_if_fail (VN_IS_BACKEND (self));

  ((VnBackendPrivate *) vn_backend_get_instance_private (self))->arithmetic = arithmetic;
}

/**
 * vn_model_get_arithmetic:
 *
 * Returns: what runs of @model imitate
 */
VnArithmetic
vn_model_get_arithmetic (const VnModel *model)
{
  VnBackend *backend;

  g_return_val_if_fail (model != NULL, VN_ARITHMETIC_EXACT);

  backend = vn_model_get_backend (model);
  return backend != NULL ? ((VnBackendPrivate *) vn_backend_get_instance_private (backend))->arithmetic : VN_ARITHMETIC_EXACT;
}

/* ---- which nodes ---- */

/**
 * vn_backend_has_kernel:
 * @node: one that we have no kernel for
 *
 * Returns: whether the backend of its model runs it
 */
gboolean
vn_backend_has_kernel (const VnNode *node)
{
  VnBackend *self = node->graph != NULL && node->graph->model != NULL ? vn_model_get_backend (node->graph->model) : NULL;

  return self != NULL && !vn_node_has_graphs (node) &&
         vn_model_find_function (node->graph->model, node->domain, node->op_type) == NULL &&
         VN_BACKEND_GET_CLASS (self)->has_kernel (self, node);
}

/**
 * vn_backend_wants:
 * @node: one that we have a kernel for
 *
 * Pairs stay ours, which simulate what an export will do, and so do random numbers, which are the same in each of our runs, and
 * what holds graphs: the nodes in them are asked for one by one.
 *
 * Returns: whether the backend of its model is to run it all the same
 */
gboolean
vn_backend_wants (const VnNode *node)
{
  static const char * const domains[] = { "", "com.microsoft", "ai.onnx.ml", NULL };
  static const char * const random[] = { "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",
                                         "Bernoulli", "Dropout", NULL };
  VnBackend *self = vn_model_get_backend (node->graph->model);

  return self != NULL && vn_backend_takes_all (self) && g_strv_contains (domains, node->domain) &&
         !g_strv_contains (random, node->op_type) && !vn_node_has_graphs (node) && !vn_node_quantizes (node) &&
         !vn_node_dequantizes (node);
}

/* ---- the operator ---- */

/**
 * vn_backend_open:
 *
 * Returns: (transfer full) (nullable): `prepared` of a step with the operator of vn_backend_get_op(), or %NULL with an error
 */
gpointer
vn_backend_open (VnBackend            *self,
                 const VnBackendPart  *part,
                 GError              **error)
{
  gpointer opened;
  Part *prepared;

  g_return_val_if_fail (VN_IS_BACKEND (self) && part != NULL, NULL);

  opened = VN_BACKEND_GET_CLASS (self)->open (self, part, error);
  if (opened == NULL)
    return NULL;
  prepared = g_new (Part, 1);
  *prepared = (Part) { g_object_ref (self), opened, part->n_outputs };
  return prepared;
}

static void
backend_release (gpointer data)
{
  Part *self = data;

  if (self == NULL)
    return;
  VN_BACKEND_GET_CLASS (self->backend)->close (self->backend, self->opened);
  g_object_unref (self->backend);
  g_free (self);
}

/* Of input @i of @node; %NULL for weights, which say no more than their type. */
static VnTensor *
backend_get_small (const VnNode      *node,
                   guint              i,
                   VnTensor * const  *in)
{
  VnTensor *tensor = in != NULL ? in[i] : vn_value_get_constant (vn_node_get_input (node, i));

  return tensor != NULL && tensor->data != NULL && tensor->n_bytes <= MOST_SMALL ? tensor : NULL;
}

/**
 * vn_backend_open_node:
 * @node: one whose model has a backend
 * @in_types: (nullable): by input of the node; %NULL: as they are declared
 * @in: (nullable): by input of the node: what is known of them; %NULL: the constants of the model
 *
 * Opens @node alone, to learn of it: large constants become inputs.
 *
 * Returns: (transfer full) (nullable): as of vn_backend_open()
 */
gpointer
vn_backend_open_node (const VnNode        *node,
                      const VnTensorType  *in_types,
                      VnTensor * const    *in,
                      GError             **error)
{
  const guint n_in = node->inputs->len, n_out = node->outputs->len;
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autofree const VnValue **inputs = g_new0 (const VnValue *, n_in + 1), **outputs = g_new0 (const VnValue *, n_out + 1);
  g_autofree VnTensorType *types = g_new0 (VnTensorType, n_in + 1);
  g_autofree VnTensor **constants = g_new0 (VnTensor *, n_in + 1);
  VnBackendPart part = { node->graph->model, nodes, 0, 0, inputs, outputs, types, constants };

  g_ptr_array_add (nodes, (gpointer) node);
  for (guint i = 0; i < n_in; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      guint k = 0;

      while (k < part.n_inputs && inputs[k] != value)
        k++;
      if (value == NULL || k < part.n_inputs)
        continue;
      inputs[k] = value;
      types[k] = in_types != NULL ? in_types[i] : vn_type_get_declared (&value->type);
      constants[k] = backend_get_small (node, i, in);
      part.n_inputs++;
    }
  for (guint i = 0; i < n_out; i++)
    if (vn_node_get_output (node, i) != NULL)
      outputs[part.n_outputs++] = vn_node_get_output (node, i);
  return vn_backend_open (vn_model_get_backend (part.model), &part, error);
}

static void
backend_take_type (VnTensorType       *known,
                   const VnTensorType *found)
{
  if (found->dtype != VN_DTYPE_UNDEFINED)
    *known = *found;
}

/* Of a step that is prepared all is known that can be. */
static gboolean
backend_infer (VnOpContext  *ctx,
               GError      **error)
{
  Part *part = ctx->prepared;
  guint k = 0;

  for (guint i = 0; i < ctx->n_outputs; i++)
    ctx->out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
  if (part != NULL)
    return TRUE;
  part = vn_backend_open_node (ctx->node, ctx->in_types, ctx->in, NULL);
  for (guint i = 0; part != NULL && i < ctx->n_outputs; i++)
    if (vn_node_get_output (ctx->node, i) != NULL)
      {
        const VnTensorType found = VN_BACKEND_GET_CLASS (part->backend)->get_type (part->backend, part->opened, k++);

        backend_take_type (&ctx->out_types[i], &found);
      }
  backend_release (part);
  return TRUE;   /* what cannot be run is told where it should */
}

/* A step has one output for each of the part. */
static gboolean
backend_run (VnOpContext  *ctx,
             GError      **error)
{
  const Part *part = ctx->prepared;

  if (part == NULL || part->n_outputs != ctx->n_outputs)
    return vn_op_fail (ctx, error, "%s", _("it was not prepared"));
  return VN_BACKEND_GET_CLASS (part->backend)->run (part->backend, part->opened, ctx->in, ctx->out, ctx->cancellable, error);
}

static const VnOp backend_static = {
  .domain = "",
  .type = "",
  .max_inputs = VN_OP_MAX_INPUTS,
  .max_outputs = G_MAXUINT16,
  .infer = backend_infer,
  .run = backend_run,
  .release = backend_release,
};

static const VnOp backend_open_sizes = {
  .domain = "",
  .type = "",
  .max_inputs = VN_OP_MAX_INPUTS,
  .max_outputs = G_MAXUINT16,
  .makes_outputs = TRUE,
  .infer = backend_infer,
  .run = backend_run,
  .release = backend_release,
};

/**
 * vn_backend_get_op:
 * @is_static: whether the types of all outputs are known
 *
 * Returns: the operator of steps that a backend runs
 */
const VnOp *
vn_backend_get_op (gboolean is_static)
{
  return is_static ? &backend_static : &backend_open_sizes;
}

/**
 * vn_op_is_backend:
 *
 * Returns: whether @op is that of vn_backend_get_op()
 */
gboolean
vn_op_is_backend (const VnOp *op)
{
  return op == &backend_static || op == &backend_open_sizes;
}
