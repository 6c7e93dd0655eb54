/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"
#include "vn-progress.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* A job is an object with a synchronous run(). The thread it runs on belongs to whoever starts it: tests call
 * vn_job_run() in place, the window and the command line vn_job_start(). Its inputs are immutable, its result is a
 * new object. Progress may be set from any thread and is announced on the main context in which the job was made.
 *
 * What it does is of its kind (VnJobKind), which each kind's file defines: the stages, and the state they fill, which
 * the functions of that file set and read. */

#define VN_TYPE_JOB (vn_job_get_type ())
G_DECLARE_FINAL_TYPE (VnJob, vn_job, VN, JOB, GObject)

/* The lines of vn-job-kinds.def. */
typedef enum
{
#define VN_JOB_KIND(id, title, failure) VN_JOB_##id,
#include "vn-job-kinds.def"
#undef VN_JOB_KIND
  VN_N_JOB_KINDS
} VnJobId;

/**
 * VnStage: one part of the work of a job. Where a job says it stands, how much time is left and how long its parts took
 * comes from its table of these.
 * @id: "calibrate"; %NULL ends a table
 * @title: N_(): "Calibrating"
 * @weight: its part of the time of a usual run, on any scale
 * @is_wanted: (nullable): whether this run has it; %NULL: always. Asked when an earlier stage begins, by what is known
 *   then, and when its turn comes
 * @run: does it, on the thread of the job; vn_job_get_reporter() tells how far it is
 */
typedef struct
{
  const char *id;
  const char *title;
  double      weight;
  gboolean  (*is_wanted) (VnJob         *job);
  gboolean  (*run)       (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error);
} VnStage;

/**
 * VnJobKind: what jobs of a kind do. Static; a job keeps it.
 * @id: its line in vn-job-kinds.def
 * @state_size: bytes of the state, which begins as zeros
 * @stages: what the job does, in this order
 * @clear: frees what the state owns, when the job goes
 * @run: (nullable): what vn_job_run() calls instead of vn_job_run_stages(), which it calls itself
 * @cost: (nullable): instead of the weights of the stages: seconds that one takes on some machine, the same for all of a table,
 *   by what is known when a stage or a part of one begins; negative: nobody knows yet, and the weights only divide the bar.
 *   @part: how often vn_job_begin_part() was called in the stage; @behind: (out): what parts of the stage behind @part cost
 * @can_be_left: (nullable): whether nothing is lost if the process ends while the job, which was cancelled, still runs; %NULL: no
 */
typedef struct
{
  VnJobId        id;
  gsize          state_size;
  const VnStage *stages;
  void         (*clear) (gpointer       state);
  gboolean     (*run)   (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error);
  double       (*cost) (VnJob         *job,
                        const VnStage *stage,
                        guint          part,
                        double        *behind);
  gboolean     (*can_be_left) (VnJob *job);
} VnJobKind;

/* Signals and properties: "progress" (double 0..1, notify). */

gboolean    vn_job_run          (VnJob                *self,
                                 GCancellable         *cancellable,
                                 GError              **error);
void        vn_job_start        (VnJob                *self,
                                 GCancellable         *cancellable,
                                 GAsyncReadyCallback   callback,
                                 gpointer              user_data);
gboolean    vn_job_finish       (VnJob                *self,
                                 GAsyncResult         *result,
                                 GError              **error);

gboolean    vn_job_is           (VnJob                *self,      /* nullable */
                                 VnJobId               id);
VnJobId     vn_job_get_id       (VnJob                *self);
gboolean    vn_job_can_be_left  (VnJob                *self);
const char *vn_job_id_get_failure (VnJobId             id);       /* "Quantization failed" */
const char *vn_job_get_title    (VnJob                *self);
double      vn_job_get_progress (VnJob                *self);     /* 0 .. 1, over all stages */
char       *vn_job_dup_stage    (VnJob                *self);     /* "Calibrating" */
char       *vn_job_dup_detail   (VnJob                *self);     /* "62 of 100 samples", or NULL */
void        vn_job_get_counts   (VnJob                *self,
                                 guint64              *done,
                                 guint64              *total);     /* of the present stage; 0: it does not count */
double      vn_job_get_seconds_left (VnJob            *self);     /* estimate; negative: unknown */

GArray     *vn_job_dup_timings  (VnJob                *self);     /* of VnTiming; after the end */

/* For the files of kinds. */
VnJob      *vn_job_new          (const VnJobKind      *kind);
gpointer    vn_job_get_state    (VnJob                *self,
                                 const VnJobKind      *kind);
gboolean    vn_job_run_stages   (VnJob                *self,
                                 GCancellable         *cancellable,
                                 GError              **error);
void        vn_job_set_title    (VnJob                *self,
                                 const char           *title);
void        vn_job_add_source   (VnJob                *self,
                                 VnModel              *model);     /* nullable */
gboolean    vn_job_check_sources (VnJob               *self,
                                 GError              **error);
VnProgress  vn_job_get_reporter (VnJob                *self);
void        vn_job_begin_part   (VnJob                *self);

G_END_DECLS
