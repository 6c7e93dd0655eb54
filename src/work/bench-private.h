/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the bench share, lowest first: a file calls those above it in this list alone. What lies below is reached by
 * these tables of functions. */

#include "vn-bench-export.h"
#include "vn-bench-files.h"
#include "vn-bench-instance.h"
#include "vn-bench-rules.h"

G_BEGIN_DECLS

extern const VnOutlookFuncs vn_bench_outlook_funcs;      /* bench-recipe.c */
extern const VnWorksFuncs   vn_bench_works_funcs;        /* bench-start.c */
extern const VnKeeperFuncs  vn_bench_keeper_funcs;       /* bench-project.c */

/**
 * VnBenchWork: what a bench does for a line of vn-works.def.
 * @start: (nullable): begins it from what the bench is now
 * @take: what becomes of the job that has ended; @subject: what it was started with
 */
typedef struct
{
  gboolean (*start) (VnBench *self, GError **error);
  void     (*take)  (VnBench *self, VnJob *job, gpointer subject);
} VnBenchWork;

extern const VnBenchWork vn_bench_works[VN_N_WORKS];     /* bench-take.c */

/* ---- vn-bench.c ---- */

void vn_bench_hold    (VnBench *self);
void vn_bench_release (VnBench *self);
void vn_bench_changed (VnBench *self,
                       guint    what);
void vn_bench_let_go  (VnBench        *self,
                       gpointer        data,   /* nullable */
                       GDestroyNotify  unref);
void vn_bench_notify  (VnBench        *self,
                       const VnNotice *notice);

/* ---- bench-shown.c ---- */

VnRun    *vn_bench_dup_named       (VnBench  *self,
                                    VnRun    *result);
void      vn_bench_name_results    (VnBench *self);
void      vn_bench_set_run         (VnBench  *self,
                                    VnRun    *result);   /* nullable */
void      vn_bench_renew_run       (VnBench  *self,
                                    VnRun    *result);
void      vn_bench_show_expected   (VnBench  *self,
                                    VnRun    *expected);   /* nullable */
void      vn_bench_stop_expecting  (VnBench *self);
void      vn_bench_forget_expected (VnBench *self);
int       vn_bench_find_curve      (const VnCurve  *curve,   /* nullable */
                                    const VnRecipe *recipe);   /* -1: it is none of its points */
VnNotes  *vn_bench_get_run_notes   (VnBench *self);
gboolean  vn_bench_fits            (VnBench *self);
gboolean  vn_bench_is_present      (VnBench        *self,
                                    const VnRecipe *recipe);
void      vn_bench_set_recipe      (VnBench  *self,
                                    VnRecipe *recipe);
void      vn_bench_refuse          (VnBench    *self,
                                    const char *reason);
void      vn_bench_show_past       (VnBench  *self,
                                    VnRun    *past);
gboolean  vn_bench_has_network     (VnBench  *self,
                                    GError  **error);
void      vn_bench_take_recipe     (VnBench    *self,
                                    VnRecipe   *recipe,
                                    const char *title);
void      vn_bench_take_measured   (VnBench  *self,
                                    VnRun    *result);   /* nullable */

/* ---- bench-samples.c ---- */

void vn_bench_set_subject (VnBench   *self,
                           VnSubject *subject);
void vn_bench_take_sizes  (VnBench    *self,
                           GHashTable *sizes);   /* nullable */

/* ---- bench-start.c: long work ---- */

/* Settings of a run, and what they borrow. */
typedef struct
{
  VnDataSpec        *data;
  GHashTable        *given;      /* nullable */
  VnQuantizeSettings settings;
} VnBenchPrepared;

void     vn_bench_start          (VnBench *self,
                                  VnWork   work,
                                  VnJob   *job);
gboolean vn_bench_is_idle        (VnBench  *self,
                                  GError  **error);
void     vn_bench_drop_check     (VnBench *self);
void     vn_bench_drop_front     (VnBench *self);
void     vn_bench_drop_stale     (VnBench *self);
void     vn_bench_make_room      (VnBench *self);
void     vn_bench_prepare        (VnBench         *self,
                                  VnBenchPrepared *prepared);
void     vn_bench_clear_prepared (VnBenchPrepared *prepared);
VnJob   *vn_bench_make_run       (VnBench *self);
void     vn_bench_find_origins   (VnBench       *self,
                                  VnJob         *run);
void        vn_bench_verify_usually   (VnBench          *self);

/* ---- bench-take.c: what becomes of it ---- */

void vn_bench_take_model (VnBench  *self,
                          VnJob    *job,
                          gpointer  subject);   /* bench-open.c */
void vn_bench_take_weights (VnBench  *self,
                            VnJob    *job,
                            gpointer  subject);   /* bench-open.c */

void vn_bench_take_known (VnBench  *self,
                          VnRun    *known);

/* ---- bench-recipe.c ---- */

void vn_bench_edit_and_keep (VnBench    *self,
                             VnRecipe   *recipe,
                             const char *title,
                             const char *key);   /* nullable */
void vn_bench_bring_back    (VnBench    *self,
                             VnRun      *past,
                             const char *title);

/* ---- bench-rules.c ---- */

void vn_bench_add_rules (VnBench    *self,
                         VnRecipe   *recipe,
                         const char *title);

/* ---- bench-project.c ---- */

void        vn_bench_show_last_run   (VnBench *self);
const char *vn_bench_get_save_ending (const char *kind);   /* NULL: there is no such kind */

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnBenchPrepared, vn_bench_clear_prepared)

G_END_DECLS
