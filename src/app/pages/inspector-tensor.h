/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A tensor as the inspector looks at it, and rows that change what the recipe says of it. */

#include "vn-document.h"
#include "vn-node-item.h"

G_BEGIN_DECLS

/**
 * VnInspectedTensor:
 * @source: its name in the opened network
 * @name: in the network that is quantized: what rules call it
 * @role: of @plan
 * @item: (nullable): the node that it is the result of
 * @result: (nullable): keeps what follows
 * @plan: (nullable): how it is quantized
 * @histogram: (nullable): what it held
 */
typedef struct
{
  char               *source, *name;
  VnTensorRole        role;
  VnNodeItem         *item;
  VnRun              *result;
  const VnTensorPlan *plan;
  const VnHistogram  *histogram;
} VnInspectedTensor;

VnInspectedTensor *vn_inspected_tensor_new_for_node  (VnDocument        *document,
                                                      VnNodeItem        *item);      /* NULL: it has no output */
VnInspectedTensor *vn_inspected_tensor_new_for_value (VnDocument        *document,
                                                      const char        *name);      /* NULL: there is none */
VnInspectedTensor *vn_inspected_tensor_new_for_constant (VnDocument     *document,
                                                         VnNodeItem     *item,
                                                         VnTensorRole    role);      /* NULL: it has none */
VnInspectedTensor *vn_inspected_tensor_copy          (const VnInspectedTensor *self);
void               vn_inspected_tensor_free          (VnInspectedTensor *self);
gboolean           vn_inspected_tensor_can_range     (VnInspectedTensor *self);

VnRange            vn_inspected_tensor_get_range     (VnInspectedTensor *self,
                                                      VnDocument        *document,
                                                      gboolean          *is_given);

/* Changes of the recipe, made when the widget that asked for one has done its work: it will be gone then. */
void               vn_inspected_tensor_set_range     (VnInspectedTensor *self,
                                                      VnDocument        *document,
                                                      const VnRange     *range);     /* nullable */
/* For integers of as many bits; others are no number of bits. */
#define VN_BITS_OF_TARGET 0
#define VN_BITS_FLOAT 1

void               vn_inspected_tensor_set_bits      (VnInspectedTensor *self,
                                                      VnDocument        *document,
                                                      guint              bits);
void               vn_inspected_tensor_set_method    (VnInspectedTensor *self,
                                                      VnDocument        *document,
                                                      const char        *method);    /* nullable */

void               vn_inspector_select_later         (VnDocument        *document,
                                                      const char        *tensor,     /* nullable */
                                                      guint              node);

/* Rows: NULL where there is nothing to change. */
GtkWidget         *vn_inspector_precision_row        (VnDocument        *document,
                                                      VnInspectedTensor *tensor,
                                                      const char        *title);
GtkWidget         *vn_inspector_method_row           (VnDocument        *document,
                                                      VnInspectedTensor *tensor);
GtkWidget         *vn_inspector_range_row            (VnDocument        *document,
                                                      VnInspectedTensor *tensor);
char              *vn_inspector_dup_prospect         (VnDocument        *document);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnInspectedTensor, vn_inspected_tensor_free)

G_END_DECLS
