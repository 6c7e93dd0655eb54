/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-plan-private.h"

G_BEGIN_DECLS

/**
 * VnFusion: what is known while the steps are walked through.
 * @producers: by value id: the step that computes it; %NULL for constants and inputs
 * @made_at: by value id: 1 + the place of that step; 0 for constants and inputs
 */
typedef struct
{
  VnPlan  *plan;
  VnStep **producers;
  guint   *made_at;
} VnFusion;

/* Returns the step that can do what @step does on the way, made to do it; NULL if there is none. */
typedef VnStep *(*VnFuseFunc) (VnFusion *self,
                               VnStep   *step);

gboolean  vn_fuse_is_private  (const VnFusion *self,
                               int             id,
                               guint           n_uses);
VnStep   *vn_fuse_find_taker  (const VnFusion *self,
                               const VnStep   *step,
                               guint           input,
                               guint           n_uses);
gboolean  vn_fuse_get_scalar  (const VnFusion *self,
                               const VnStep   *step,
                               guint           input,
                               float          *value);

gboolean  vn_fuse_is_same_type (const VnFusion *self,
                                int             a,
                                int             b);
const VnTensor *vn_fuse_get_constant (const VnFusion *self,
                                const VnStep   *step,
                                guint           input);
void      vn_fuse_mark_dead   (VnFusion       *self,
                               VnStep         *step);

void      vn_fuse_pads        (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_map         (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_gate        (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_divisor     (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_factors     (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_shifts      (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_line        (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_gelu        (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_written_gelu (VnFusion      *self,
                               VnStep         *step);
VnStep   *vn_fuse_half        (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_sum         (VnFusion       *self,
                               VnStep         *step);
VnStep   *vn_fuse_quantizer   (VnFusion       *self,
                               VnStep         *step);

G_END_DECLS
