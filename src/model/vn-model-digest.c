/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What makes two files the same network: everything that decides the numbers it computes and the names they have.
 * Names of nodes, comments, and where weights are kept do not count. */

#include "vn-model.h"

#include "vn-digest.h"

#define LARGE_TENSOR ((gsize) 1 << 20)   /* bytes */

static void model_digest_add_graph (VnDigest      *digest,
                                    const VnGraph *graph);

static void
model_digest_add_bytes (VnDigest *digest,
                        GBytes   *bytes)
{
  gsize size = 0;
  gconstpointer data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  vn_digest_add (digest, data, size);
}

/* The bytes of a large tensor by their own digest, which several networks have from one look at it. */
static void
model_digest_add_numbers (VnDigest       *digest,
                          const VnTensor *tensor)
{
  VnTensorFacts facts;

  if (tensor->n_bytes < LARGE_TENSOR)
    {
      vn_digest_add (digest, tensor->data, tensor->n_bytes);
      return;
    }
  vn_tensor_get_facts (tensor, &facts);
  vn_digest_add (digest, facts.digest.lanes, sizeof facts.digest.lanes);
}

static void
model_digest_add_tensor (VnDigest       *digest,
                         const VnTensor *tensor)
{
  vn_digest_add_number (digest, tensor != NULL ? tensor->dtype : G_MAXUINT);
  if (tensor == NULL)
    return;
  vn_digest_add (digest, tensor->shape.dims, (gsize) tensor->shape.rank * sizeof tensor->shape.dims[0]);
  if (tensor->dtype != VN_DTYPE_STRING)
    model_digest_add_numbers (digest, tensor);
  else
    for (gsize i = 0; i < tensor->n_elements; i++)
      vn_digest_add_string (digest, ((char **) tensor->data)[i]);
}

static void
model_digest_add_array (VnDigest     *digest,
                        const GArray *array,
                        gsize         element_size)
{
  vn_digest_add (digest, array != NULL ? array->data : NULL, array != NULL ? array->len * element_size : 0);
}

static void
model_digest_add_lists (VnDigest     *digest,
                        const VnAttr *attr)
{
  model_digest_add_array (digest, attr->floats, sizeof (float));
  model_digest_add_array (digest, attr->ints, sizeof (gint64));
  for (guint i = 0; attr->strings != NULL && i < attr->strings->len; i++)
    model_digest_add_bytes (digest, attr->strings->pdata[i]);
  for (guint i = 0; attr->tensors != NULL && i < attr->tensors->len; i++)
    model_digest_add_tensor (digest, attr->tensors->pdata[i]);
  for (guint i = 0; attr->graphs != NULL && i < attr->graphs->len; i++)
    model_digest_add_graph (digest, attr->graphs->pdata[i]);
}

static void
model_digest_add_attr (VnDigest     *digest,
                       const VnAttr *attr)
{
  vn_digest_add_string (digest, attr->name);
  vn_digest_add_number (digest, attr->type);
  vn_digest_add (digest, &attr->f, sizeof attr->f);
  vn_digest_add_number (digest, (guint64) attr->i);
  model_digest_add_bytes (digest, attr->s);
  model_digest_add_tensor (digest, attr->tensor);
  if (attr->graph != NULL)
    model_digest_add_graph (digest, attr->graph);
  model_digest_add_lists (digest, attr);
  vn_digest_add_string (digest, attr->ref_name);
  model_digest_add_bytes (digest, attr->extra);
}

static void
model_digest_add_names (VnDigest        *digest,
                        const GPtrArray *values)
{
  vn_digest_add_number (digest, values->len);
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = values->pdata[i];

      vn_digest_add_string (digest, value != NULL ? value->name : NULL);
    }
}

static void
model_digest_add_node (VnDigest     *digest,
                       const VnNode *node)
{
  vn_digest_add_string (digest, node->domain);
  vn_digest_add_string (digest, node->op_type);
  vn_digest_add_string (digest, node->overload);
  model_digest_add_names (digest, node->inputs);
  model_digest_add_names (digest, node->outputs);
  vn_digest_add_number (digest, node->attrs->len);
  for (guint i = 0; i < node->attrs->len; i++)
    model_digest_add_attr (digest, node->attrs->pdata[i]);
}

static void
model_digest_add_graph (VnDigest      *digest,
                        const VnGraph *graph)
{
  model_digest_add_names (digest, graph->inputs);
  model_digest_add_names (digest, graph->outputs);
  model_digest_add_names (digest, graph->initializers);
  for (guint i = 0; i < graph->initializers->len; i++)
    model_digest_add_tensor (digest, ((const VnValue *) graph->initializers->pdata[i])->initializer);
  vn_digest_add_number (digest, graph->nodes->len);
  for (guint i = 0; i < graph->nodes->len; i++)
    model_digest_add_node (digest, graph->nodes->pdata[i]);
  model_digest_add_bytes (digest, graph->extra);
}

/**
 * vn_model_dup_digest:
 *
 * Reads all weights once.
 *
 * Returns: (transfer full): a text that is the same for two models only if they compute the same numbers under the same
 *   names
 */
char *
vn_model_dup_digest (const VnModel *self)
{
  VnDigest digest = { 0 };

  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < self->opsets->len; i++)
    {
      const VnOpset *opset = &g_array_index (self->opsets, VnOpset, i);

      vn_digest_add_string (&digest, opset->domain);
      vn_digest_add_number (&digest, (guint64) opset->version);
    }
  for (guint i = 0; i < self->functions->len; i++)
    {
      const VnFunction *function = self->functions->pdata[i];

      vn_digest_add_string (&digest, function->domain);
      vn_digest_add_string (&digest, function->name);
      model_digest_add_graph (&digest, function->body);
    }
  model_digest_add_graph (&digest, self->graph);
  return vn_digest_dup_text (&digest);
}
