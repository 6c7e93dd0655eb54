/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What ONNX says of its operators, as it was built in by src/ops/make-op-docs.py, and what is known of them here. */

#include "vn-op.h"

G_BEGIN_DECLS

/**
 * VnOpDocItem: an input, output, attribute, or type.
 * @type: of a value: a name of a type in VnOpDoc.types, or a type; of a type: those that it stands for
 * @kind: of a value: required, optional or variadic; of an attribute: required or optional; else empty
 * @fallback: of an attribute: what it is unless it is given; empty: not said
 */
typedef struct
{
  char *name, *type, *kind, *fallback, *text;
} VnOpDocItem;

/**
 * VnOpDoc: what ONNX says of one version of an operator. Each text is UTF-8 with newlines between paragraphs, in English.
 * @inputs, @outputs, @attributes, @types: of VnOpDocItem
 */
typedef struct
{
  char      *domain, *name;
  guint      since;
  gboolean   is_deprecated;
  char      *text;
  GPtrArray *inputs, *outputs, *attributes, *types;
} VnOpDoc;

const char *vn_op_doc_get_source (void);                  /* version of ONNX; NULL: nothing was built in */
VnOpDoc    *vn_op_doc_find       (const char  *domain,
                                  const char  *name,
                                  gint64       opset);
void        vn_op_doc_free       (VnOpDoc     *self);

/* What is known here (vn-op-about.c), in the language of the user. */
const char *vn_op_doc_get_kind   (const VnOpDocItem *item);
const char *vn_op_doc_explain_missing (const char *domain);
char       *vn_op_dup_types      (VnDTypeSet   types);
void        vn_op_list_facts     (const char  *domain,
                                  const char  *name,
                                  gint64       opset,
                                  GPtrArray   *facts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnOpDoc, vn_op_doc_free)

G_END_DECLS
