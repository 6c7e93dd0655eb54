/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What passes share. */

#include "vn-pass.h"

#include "vn-error.h"
#include "vn-i18n.h"

G_BEGIN_DECLS

/* ---- passes that others end with ---- */

extern const VnPass vn_pass_dead;
extern const VnPass vn_pass_fold;

gboolean    vn_pass_apply           (const VnPass   *pass,
                                     VnPassContext  *ctx,
                                     GError        **error);

/* ---- help for passes (vn-rewrite-util.c) ---- */

typedef gboolean (*VnGraphFunc) (VnPassContext  *ctx,
                                 VnGraph        *graph,
                                 GError        **error);

/* @returned: as of vn_rewrite_returned() */
typedef gboolean (*VnNodeFunc)  (VnPassContext  *ctx,
                                 GHashTable     *returned,
                                 VnNode         *node,
                                 GError        **error);

gboolean    vn_rewrite_each_graph   (VnPassContext  *ctx,
                                     VnGraphFunc     func,
                                     GError        **error);
gboolean    vn_rewrite_each_sorted  (VnPassContext  *ctx,
                                     VnGraph        *graph,
                                     gboolean        backwards,
                                     VnNodeFunc      func,
                                     GError        **error);
GPtrArray  *vn_rewrite_list_nodes   (const VnGraph  *graph);
GHashTable *vn_rewrite_returned     (const VnModel  *model);
gboolean    vn_rewrite_is_kept      (GHashTable     *returned,
                                     const VnValue  *value);
gboolean    vn_rewrite_can_rename   (const VnValue  *from,
                                     const VnValue  *to);
VnNode     *vn_rewrite_only_user    (GHashTable     *returned,
                                     const VnValue  *value,
                                     guint          *index);
VnValue    *vn_rewrite_add_constant (VnNode         *near_node,
                                     const char     *role,
                                     VnTensor       *tensor);
VnValue    *vn_rewrite_add_result   (const VnNode   *near_node,
                                     const char     *role);
void        vn_rewrite_set_op_type  (VnNode         *node,
                                     const char     *op_type);
gboolean    vn_rewrite_drop_unused  (GHashTable     *returned,
                                     VnValue        *value);
gboolean    vn_rewrite_remove_identity (VnPassContext  *ctx,
                                        GHashTable     *returned,
                                        VnNode         *node,
                                        guint           i);
void        vn_rewrite_need_ir      (VnPassContext  *ctx,
                                     gint64          version);
gboolean    vn_rewrite_infer        (VnPassContext  *ctx,
                                     const char     *pass,
                                     GError        **error);
VnTensor   *vn_rewrite_constant_f32 (const VnValue  *value,
                                     GError        **error);

gboolean    vn_rewrite_fold_node    (VnPassContext  *ctx,
                                     GHashTable     *returned,
                                     VnNode         *node,
                                     GError        **error);

/* ---- questions (vn-rewrite-match.c) ---- */

gboolean       vn_rewrite_get_ints          (const VnNode  *node,
                                             const char    *attr,
                                             guint          input,
                                             gint64        *values,
                                             gsize          max,
                                             gsize         *n);
const VnShape *vn_rewrite_get_shape         (const VnValue *value);
VnDType        vn_rewrite_get_dtype         (const VnValue *value);
gboolean       vn_rewrite_same_static_shape (const VnValue *a,
                                             const VnValue *b);
gboolean       vn_rewrite_is_filled_with    (const VnValue *value,
                                             double         number);
gboolean       vn_rewrite_get_number        (const VnValue *value,
                                             double        *number);
VnNode        *vn_rewrite_producer          (const VnNode  *node,
                                             guint          i,
                                             const char    *op_type);
VnNode        *vn_rewrite_producer_of_only  (GHashTable    *returned,
                                             const VnNode  *node,
                                             guint          i,
                                             const char    *op_type);
gboolean       vn_rewrite_remove_unused     (GHashTable    *returned,
                                             VnNode        *node);

/* ---- patterns (pass-norms.c) ---- */

typedef void     (*VnFuseFunc) (VnPassContext *ctx,
                                GHashTable    *returned,
                                VnNode        *last);
typedef gboolean (*VnMeanFunc) (const VnNode  *node);

gboolean    vn_rewrite_fuse_all        (VnPassContext  *ctx,
                                        const char     *pass,
                                        gint64          opset,
                                        VnFuseFunc      func,
                                        GError        **error);
void        vn_rewrite_replace_pattern (VnPassContext  *ctx,
                                        VnNode         *last,
                                        const char     *op_type,
                                        VnValue       **inputs,
                                        guint           n_inputs);
gboolean    vn_rewrite_input_is        (const VnNode   *node,
                                        guint           i,
                                        double          number);
VnNode     *vn_rewrite_producer_either (GHashTable     *returned,
                                        const VnNode   *node,
                                        const char     *op_type);
gboolean    vn_rewrite_is_variance     (const VnNode   *mean,
                                        const VnValue  *centred,
                                        VnMeanFunc      is_mean);
VnValue    *vn_rewrite_find_centred    (const VnValue  *centred,
                                        VnMeanFunc      is_mean);

/* ---- nodes that stand for a graph (vn-rewrite-inline.c) ---- */

typedef struct _VnInliner VnInliner;

VnInliner  *vn_inliner_new          (VnPassContext     *ctx);
void        vn_inliner_free         (VnInliner         *self);
gboolean    vn_rewrite_inline       (VnInliner         *inliner,
                                     VnNode            *call,
                                     const VnGraph     *body,
                                     const VnFunction  *function,
                                     const char        *prefix,
                                     GPtrArray         *added,
                                     GError           **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnInliner, vn_inliner_free)

/* ---- opset conversion ---- */

typedef struct
{
  VnPassContext *ctx;
  gint64         version;   /* the step being taken: from version - 1 to version */
} VnOpsetStep;

typedef gboolean (*VnOpsetRuleFunc) (VnOpsetStep  *step,
                                     VnNode       *node,
                                     GError      **error);

/**
 * VnOpsetRule: an operator whose signature or meaning changed in a version.
 * @what: N_(): what is done, for the edit log
 */
typedef struct
{
  gint64           version;
  const char      *op_type;
  VnOpsetRuleFunc  func;
  const char      *what;
} VnOpsetRule;

const VnOpsetRule *vn_opset_rules        (guint         *n);
gboolean           vn_opset_is_legacy    (const char    *op_type);
gboolean           vn_opset_convert_nodes (VnPassContext *ctx,
                                          GPtrArray     *nodes,
                                          gint64         from,
                                          gint64         to,
                                          GError       **error);

void               vn_opset_set_input    (VnNode        *node,
                                          guint          i,
                                          VnValue       *value);
void               vn_opset_ints_input   (VnNode        *node,
                                          guint          i,
                                          const char    *role,
                                          const gint64  *values,
                                          gsize          n);
gboolean           vn_opset_float_input  (VnNode        *node,
                                          guint          i,
                                          const char    *role,
                                          float          value,
                                          GError       **error);
gboolean           vn_opset_refuse       (VnOpsetStep   *step,
                                          const char    *why,
                                          GError       **error);
int                vn_opset_rank         (const VnValue *value);

/* Rules return FALSE without an error where nothing had to be done. */
#define VN_OPSET_RULE(name)                         \
  gboolean name (VnOpsetStep  *step,                \
                 VnNode       *node,                \
                 GError      **error)

VN_OPSET_RULE (vn_opset_consumed_inputs);
VN_OPSET_RULE (vn_opset_cast_string);
VN_OPSET_RULE (vn_opset_lp_exponent);
VN_OPSET_RULE (vn_opset_first_split);
VN_OPSET_RULE (vn_opset_first_tile);
VN_OPSET_RULE (vn_opset_output_sequence);
VN_OPSET_RULE (vn_opset_broadcast);
VN_OPSET_RULE (vn_opset_gemm_broadcast);
VN_OPSET_RULE (vn_opset_prelu_slope);
VN_OPSET_RULE (vn_opset_concat_axis);
VN_OPSET_RULE (vn_opset_pad_rename);
VN_OPSET_RULE (vn_opset_reshape_input);
VN_OPSET_RULE (vn_opset_selu_defaults);
VN_OPSET_RULE (vn_opset_is_test);
VN_OPSET_RULE (vn_opset_upsample_scales);
VN_OPSET_RULE (vn_opset_spatial);
VN_OPSET_RULE (vn_opset_upsample_input);
VN_OPSET_RULE (vn_opset_upsample_resize);
VN_OPSET_RULE (vn_opset_resize_mode);
VN_OPSET_RULE (vn_opset_slice_inputs);
VN_OPSET_RULE (vn_opset_topk_input);
VN_OPSET_RULE (vn_opset_dropout_mask);
VN_OPSET_RULE (vn_opset_dropout_ratio);
VN_OPSET_RULE (vn_opset_clip_inputs);
VN_OPSET_RULE (vn_opset_pad_inputs);
VN_OPSET_RULE (vn_opset_scatter);
VN_OPSET_RULE (vn_opset_softmax);
VN_OPSET_RULE (vn_opset_axes_input);
VN_OPSET_RULE (vn_opset_split_input);
VN_OPSET_RULE (vn_opset_split_outputs);
VN_OPSET_RULE (vn_opset_batch_norm_outputs);
VN_OPSET_RULE (vn_opset_roi_align);
VN_OPSET_RULE (vn_opset_grid_sample);
VN_OPSET_RULE (vn_opset_dft_axis);
VN_OPSET_RULE (vn_opset_group_norm);
VN_OPSET_RULE (vn_opset_unsupported);
VN_OPSET_RULE (vn_opset_affine);
VN_OPSET_RULE (vn_opset_image_scaler);
VN_OPSET_RULE (vn_opset_crop);

G_END_DECLS
