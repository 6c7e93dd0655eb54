/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-progress.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* A job is an object with a synchronous run(). The thread it runs on belongs to whoever starts it: tests call
 * vn_job_run() in place, the window and the command line vn_job_start(). Its inputs are immutable, its result is a
 * new object. Progress may be set from any thread and is announced on the main context in which the job was made. */

#define VN_TYPE_JOB (vn_job_get_type ())
G_DECLARE_DERIVABLE_TYPE (VnJob, vn_job, VN, JOB, GObject)

struct _VnJobClass
{
  GObjectClass parent_class;
  gboolean (*run) (VnJob *self, GCancellable *cancellable, GError **error);
};

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

const char *vn_job_get_title    (VnJob                *self);
double      vn_job_get_progress (VnJob                *self);     /* 0 .. 1, over all phases */
char       *vn_job_dup_phase    (VnJob                *self);     /* "Calibrating" */
char       *vn_job_dup_detail   (VnJob                *self);     /* "62 of 100 samples", or NULL */
void        vn_job_get_counts   (VnJob                *self,
                                 guint64              *done,
                                 guint64              *total);     /* of the present phase; 0: it does not count */
double      vn_job_get_seconds_left (VnJob            *self);     /* estimate; negative: unknown */

/* For subclasses: a job announces phases of known weight; vn_job_get_reporter() gives the VnProgress that the core's
 * functions take, filling the current phase. */
void        vn_job_set_title    (VnJob                *self,
                                 const char           *title);
void        vn_job_begin_phase  (VnJob                *self,
                                 const char           *phase,     /* translated */
                                 double                from,      /* of the whole job, 0 .. 1 */
                                 double                to);
VnProgress  vn_job_get_reporter (VnJob                *self);

G_END_DECLS
