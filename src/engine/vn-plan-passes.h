/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The passes that make a plan, in their order. Each changes the plan it is given and calls none of the others. */
#pragma once

#include "vn-plan-private.h"

G_BEGIN_DECLS

/**
 * VnPlanInnerFunc:
 * @graph: in an attribute of a node of @outer's graph
 * @captured: (element-type VnValue): values that @outer knows and @graph uses
 *
 * Plans a graph inside a node. Passes get it as an argument, for it runs all of them on that graph.
 *
 * Returns: (transfer full) (nullable): how the graph is run, or %NULL with an error as vn_plan_new()
 */
typedef VnPlan *(*VnPlanInnerFunc) (VnPlan         *outer,
                                    const VnGraph  *graph,
                                    GPtrArray      *captured,
                                    GError        **error);

gboolean  vn_plan_select        (VnPlan               *self,
                                 const VnPlanOptions  *options,
                                 VnNotes              *notes,
                                 GError              **error);
GPtrArray *vn_plan_sort_needed  (VnPlan               *self,
                                 GError              **error);
gboolean  vn_plan_resolve       (VnPlan               *self,
                                 GPtrArray            *nodes,
                                 const VnOp          **ops,
                                 GError              **error);
gboolean  vn_plan_set_inputs    (VnPlan               *self,
                                 const VnPlanOptions  *options,
                                 VnNotes              *notes,
                                 GError              **error);
gboolean  vn_plan_set_formals   (VnPlan               *self,
                                 GError              **error);
gboolean  vn_plan_infer         (VnPlan               *self,
                                 GPtrArray            *nodes,
                                 const VnOp * const   *ops,
                                 VnPlanInnerFunc       plan_inner,
                                 GError              **error);
gboolean  vn_plan_bodies        (VnPlan               *self,
                                 VnStep               *step,
                                 GPtrArray            *captured,
                                 VnPlanInnerFunc       plan_inner,
                                 GError              **error);
void      vn_plan_imitate       (VnPlan               *self);
void      vn_plan_drop_unused   (VnPlan               *self);
gboolean  vn_plan_take_backend  (VnPlan               *self,
                                 gboolean              own_engine,
                                 VnNotes              *notes,
                                 GError              **error);
void      vn_plan_fuse          (VnPlan               *self);
void      vn_plan_lay_out       (VnPlan               *self);
gboolean  vn_plan_place         (VnPlan               *self,
                                 GError              **error);
gboolean  vn_plan_prepare       (VnPlan               *self,
                                 GError              **error);

G_END_DECLS
