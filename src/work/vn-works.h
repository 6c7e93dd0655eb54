/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The long work that is under way, one in each place. */

#include "vn-job.h"

G_BEGIN_DECLS

/* Works in different places run beside each other: what the user waits for, the search for where error starts, ONNX Runtime
 * running what would be exported, its installation, and looking at the weights of the model. */
typedef enum
{
  VN_PLACE_FRONT, VN_PLACE_SEARCH, VN_PLACE_CHECK, VN_PLACE_INSTALL, VN_PLACE_WEIGHTS, VN_N_PLACES
} VnWorkPlace;

typedef enum
{
  VN_WORK_NONE,
#define VN_WORK(name, ...) VN_WORK_##name,
#include "vn-works.def"
#undef VN_WORK
  VN_N_WORKS
} VnWork;

typedef enum { VN_WORK_STALE = 1 << 0, VN_WORK_TRIES = 1 << 1 } VnWorkFlags;

/**
 * VnWorkInfo: a line of vn-works.def.
 * @id: its name
 * @done: (nullable): N_()
 */
typedef struct
{
  const char  *id;
  VnWorkPlace  place;
  VnWorkFlags  flags;
  const char  *done;
} VnWorkInfo;

/**
 * VnWorks: of the main thread.
 */
typedef struct _VnWorks VnWorks;

/**
 * VnWorksFuncs: called on the main thread.
 * @ended: @subject: what vn_works_start() was told; @error: (nullable): %NULL: it ended well
 */
typedef struct
{
  void (*ended) (gpointer      owner,
                 VnWork        work,
                 VnJob        *job,
                 gpointer      subject,
                 const GError *error);
} VnWorksFuncs;

const VnWorkInfo *vn_work_get_info (VnWork work);

VnWorks *vn_works_new         (GObject            *owner,
                               const VnWorksFuncs *funcs);
void     vn_works_free        (VnWorks *self);
void     vn_works_start       (VnWorks        *self,
                               VnWork          work,
                               VnJob          *job,
                               gpointer        subject,   /* nullable */
                               GDestroyNotify  unref);
void     vn_works_cancel      (VnWorks     *self,
                               VnWorkPlace  place);
gboolean vn_works_drop        (VnWorks     *self,
                               VnWorkPlace  place);
VnJob   *vn_works_get_job     (VnWorks     *self,
                               VnWorkPlace  place);   /* NULL: nothing is under way there */
VnWork   vn_works_get_work    (VnWorks     *self,
                               VnWorkPlace  place);
gpointer vn_works_get_subject (VnWorks     *self,
                               VnWorkPlace  place);

G_END_DECLS
