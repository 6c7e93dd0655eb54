/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/* Building and changing graphs. Uses, producers and the name table stay right after every call.
 * Functions that take an #VnEditLog write one line to it (NULL: no log). */

/**
 * VnEdit: what a pass did: (pass, verb, subject, detail): "fold-bn", "fold", "/bn/BatchNormalization", "into /conv/Conv"
 */
typedef struct
{
  const char *pass;     /* static id */
  const char *verb;     /* static: "remove", "add", "replace", "fold", "set" */
  char       *subject;  /* node or value */
  char       *target;   /* node or value it went into, or NULL: machine-readable side of detail */
  char       *detail;
} VnEdit;

typedef struct _VnEditLog VnEditLog;

VnEditLog    *vn_edit_log_new       (void);
VnEditLog    *vn_edit_log_ref       (VnEditLog   *self);
void          vn_edit_log_unref     (VnEditLog   *self);
void          vn_edit_log_set_pass  (VnEditLog   *self,
                                     const char  *pass);
void          vn_edit_log_add       (VnEditLog   *self,
                                     const char  *verb,
                                     const char  *subject,
                                     const char  *target,
                                     const char  *format,
                                     ...) G_GNUC_PRINTF (5, 6);
guint         vn_edit_log_get_n     (VnEditLog   *self);
const VnEdit *vn_edit_log_get       (VnEditLog   *self,
                                     guint        i);
char         *vn_edit_log_to_text   (VnEditLog   *self);   /* one line an edit, for golden tests */
void          vn_edit_log_note_same (VnEditLog   *self,
                                     const char  *name,
                                     const char  *also);
void          vn_edit_log_note_other (VnEditLog   *self,
                                      const char  *name);
guint         vn_edit_log_get_n_same (VnEditLog   *self);
const char   *vn_edit_log_get_same  (VnEditLog   *self,
                                     guint        i,
                                     const char **also);

VnValue *vn_graph_add_value          (VnGraph     *self,
                                      const char  *name,       /* made unique by a suffix if taken; NULL: "value" */
                                      VnDType      dtype,      /* VN_DTYPE_UNDEFINED: unknown */
                                      const VnShape *shape);   /* NULL: unknown */
VnValue *vn_graph_add_named          (VnGraph     *self,
                                      const char  *name,       /* as it is */
                                      gboolean     input);
VnValue *vn_graph_add_input          (VnGraph     *self,
                                      const char  *name,
                                      VnDType      dtype,
                                      const VnShape *shape);
VnValue *vn_graph_add_initializer    (VnGraph     *self,
                                      const char  *name,
                                      VnTensor    *tensor);    /* takes a reference of its own */
VnNode  *vn_graph_add_node           (VnGraph     *self,
                                      const char  *name,       /* made unique; NULL: none */
                                      const char  *domain,
                                      const char  *op_type,
                                      VnValue    **inputs,
                                      guint        n_inputs,
                                      VnValue    **outputs,
                                      guint        n_outputs);
VnNode  *vn_graph_insert_node        (VnGraph     *self,
                                      VnNode      *before,     /* NULL: at the end; otherwise same arguments as above */
                                      const char  *name,
                                      const char  *domain,
                                      const char  *op_type,
                                      VnValue    **inputs,
                                      guint        n_inputs,
                                      VnValue    **outputs,
                                      guint        n_outputs);
void     vn_model_begin_edits        (VnModel     *self);
void     vn_model_end_edits          (VnModel     *self);
void     vn_graph_remove_node        (VnGraph     *self,
                                      VnNode      *node);      /* its outputs stay, without producer */
void     vn_graph_remove_value       (VnGraph     *self,
                                      /* must be unused and unproduced; removed from inputs/initializers */
                                      VnValue     *value);
void     vn_graph_set_output         (VnGraph     *self,
                                      guint        i,          /* == n outputs: append */
                                      VnValue     *value);
void     vn_graph_rename_value       (VnGraph     *self,
                                      VnValue     *value,
                                      const char  *name);      /* must be free */
void     vn_graph_set_initializer    (VnGraph     *self,
                                      VnValue     *value,
                                      VnTensor    *tensor);    /* NULL: no longer one */
void     vn_graph_reorder            (VnGraph     *self,
                                      GPtrArray   *nodes);     /* a permutation of self->nodes, from vn_graph_sort() */
char    *vn_graph_unique_name        (VnGraph     *self,
                                      const char  *base);

void     vn_node_set_input           (VnNode      *self,
                                      guint        i,          /* may extend by one */
                                      VnValue     *value);     /* NULL: omitted */
void     vn_node_set_output          (VnNode      *self,
                                      guint        i,
                                      VnValue     *value);
void     vn_value_replace_uses       (VnValue     *self,
                                      VnValue     *by,
                                      VnNode      *except);    /* NULL: all uses, graph outputs not included */
void     vn_node_set_attr            (VnNode      *self,
                                      VnAttr      *attr);      /* takes ownership; replaces one of that name */
void     vn_node_set_int             (VnNode      *self,
                                      const char  *name,
                                      gint64       value);
void     vn_node_set_float           (VnNode      *self,
                                      const char  *name,
                                      float        value);
void     vn_node_set_string          (VnNode      *self,
                                      const char  *name,
                                      const char  *value);
void     vn_node_set_ints            (VnNode      *self,
                                      const char  *name,
                                      const gint64 *values,
                                      gsize        n);
void     vn_node_remove_attr         (VnNode      *self,
                                      const char  *name);
void     vn_value_set_type           (VnValue     *self,
                                      VnDType      dtype,
                                      const VnShape *shape);   /* NULL: unknown rank */

/* Graphs inside nodes. */
VnModel *vn_model_new_from_body      (const VnGraph *body,
                                      GHashTable  *originals);  /* receives: value of the result -> that of @body or around it */
void     vn_node_set_body            (VnNode      *self,
                                      const char  *name,
                                      const VnGraph *from,
                                      GHashTable  *outer);     /* value of @from -> the one around @self */
void     vn_graph_drop_uses          (VnGraph     *self);

/* For the reader, which builds graphs whole. */
VnGraph *vn_graph_new                (VnModel     *model,
                                      VnGraph     *parent,
                                      VnNode      *parent_node);
void     vn_graph_free               (VnGraph     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnEditLog, vn_edit_log_unref)

G_END_DECLS
