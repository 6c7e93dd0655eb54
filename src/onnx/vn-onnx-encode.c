/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encodes a model: its head, opset imports, functions and metadata, with the graph inside. */
#include "vn-onnx-private.h"

/**
 * vn_onnx_encode_opset:
 *
 * Writes an OperatorSetIdProto as field @number.
 */
void
vn_onnx_encode_opset (VnOnnxEncoder *self,
                      const VnOpset *opset,
                      guint32        number)
{
  VnWireMark mark = vn_wire_begin (self->out);

  vn_wire_string (self->out, F_OPSET_DOMAIN, opset->domain);
  vn_wire_int (self->out, F_OPSET_VERSION, opset->version);
  vn_wire_end (self->out, mark, number);
}

static void
onnx_encode_put_opsets (VnOnnxEncoder *self,
                        GArray        *opsets,
                        guint32        number)
{
  for (guint i = 0; opsets != NULL && i < opsets->len; i++)
    vn_onnx_encode_opset (self, &g_array_index (opsets, VnOpset, i), number);
}

static void
onnx_encode_put_value_names (VnOnnxEncoder *self,
                             GPtrArray     *values,
                             guint32        number)
{
  for (guint i = 0; i < values->len; i++)
    vn_wire_string (self->out, number, ((const VnValue *) g_ptr_array_index (values, i))->name);
}

static void
onnx_encode_put_function (VnOnnxEncoder    *self,
                          const VnFunction *function)
{
  VnWireMark mark = vn_wire_begin (self->out);

  vn_wire_string (self->out, F_FUNCTION_NAME, function->name);
  onnx_encode_put_value_names (self, function->body->inputs, F_FUNCTION_INPUT);
  onnx_encode_put_value_names (self, function->body->outputs, F_FUNCTION_OUTPUT);
  for (guint i = 0; function->attr_names != NULL && i < function->attr_names->len; i++)
    vn_wire_string (self->out, F_FUNCTION_ATTR, g_ptr_array_index (function->attr_names, i));
  for (guint i = 0; i < function->body->nodes->len; i++)
    {
      VnWireMark node = vn_wire_begin (self->out);

      vn_onnx_encode_node (self, g_ptr_array_index (function->body->nodes, i));
      vn_wire_end (self->out, node, F_FUNCTION_NODE);
    }
  vn_wire_string (self->out, F_FUNCTION_DOC, function->doc);
  onnx_encode_put_opsets (self, function->opsets, F_FUNCTION_OPSET);
  vn_wire_string (self->out, F_FUNCTION_DOMAIN, function->domain);
  for (guint i = 0; function->attr_defaults != NULL && i < function->attr_defaults->len; i++)
    {
      VnWireMark attr = vn_wire_begin (self->out);

      vn_onnx_encode_attr (self, g_ptr_array_index (function->attr_defaults, i));
      vn_wire_end (self->out, attr, F_FUNCTION_ATTR_PROTO);
    }
  vn_wire_string (self->out, F_FUNCTION_OVERLOAD, function->overload);
  if (function->extra != NULL)
    vn_wire_encoded (self->out, g_bytes_get_data (function->extra, NULL), g_bytes_get_size (function->extra));
  vn_wire_end (self->out, mark, F_MODEL_FUNCTION);
}

static void
onnx_encode_put_metadata (VnOnnxEncoder *self,
                          const VnModel *model)
{
  for (guint i = 0; i + 1 < model->metadata->len; i += 2)
    {
      VnWireMark mark = vn_wire_begin (self->out);

      vn_wire_string (self->out, F_ENTRY_KEY, g_ptr_array_index (model->metadata, i));
      vn_wire_string (self->out, F_ENTRY_VALUE, g_ptr_array_index (model->metadata, i + 1));
      vn_wire_end (self->out, mark, F_MODEL_METADATA);
    }
}

/**
 * vn_onnx_encode_model:
 *
 * Writes the fields of a ModelProto to self->out. Nothing larger than a few hundred bytes is copied: @model must stay
 * alive until the message is emitted. Tensors that go outside are collected in self->pieces.
 */
void
vn_onnx_encode_model (VnOnnxEncoder *self,
                      const VnModel *model)
{
  VnWireMark graph;

  if (model->ir_version != 0)
    vn_wire_int (self->out, F_MODEL_IR_VERSION, model->ir_version);
  vn_wire_string (self->out, F_MODEL_PRODUCER, model->producer_name);
  vn_wire_string (self->out, F_MODEL_PRODUCER_VERSION, model->producer_version);
  vn_wire_string (self->out, F_MODEL_DOMAIN, model->domain);
  if (model->has_model_version)
    vn_wire_int (self->out, F_MODEL_VERSION, model->model_version);
  vn_wire_string (self->out, F_MODEL_DOC, model->doc);
  graph = vn_wire_begin (self->out);
  vn_onnx_encode_graph (self, model->graph);
  vn_wire_end (self->out, graph, F_MODEL_GRAPH);
  onnx_encode_put_opsets (self, model->opsets, F_MODEL_OPSET);
  onnx_encode_put_metadata (self, model);
  for (guint i = 0; i < model->functions->len; i++)
    onnx_encode_put_function (self, g_ptr_array_index (model->functions, i));
  if (model->extra != NULL)
    vn_wire_encoded (self->out, g_bytes_get_data (model->extra, NULL), g_bytes_get_size (model->extra));
}
