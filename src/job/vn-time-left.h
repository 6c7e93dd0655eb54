/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a job still takes: from what its parts are expected to cost, and how fast those behind went. */
#pragma once

#include "vn-job.h"

G_BEGIN_DECLS

/**
 * VnTimeLeft: begins as zeros. Costs are on any scale, the same for all parts.
 * @done, @seconds: costs of parts that have ended, and how long they took
 * @cost, @began, @fraction: of the present part: its cost; when it began; how much is done, negative: it does not tell
 * @rest: cost of the parts behind it
 * @in_seconds: costs are seconds of some machine: before anything has ended they are a guess at those of this one
 * @known: a part has begun whose cost, and those of the parts behind it, are known
 */
typedef struct
{
  double   done, seconds;
  double   cost, began, fraction, rest;
  gboolean in_seconds, known;
} VnTimeLeft;

/**
 * VnStageCosts:
 * @cost, @rest: of what begins, and of all behind it, on one scale
 * @in_seconds: that of #VnTimeLeft
 * @known: they are more than a way to divide a bar
 */
typedef struct
{
  double   cost, rest;
  gboolean in_seconds, known;
} VnStageCosts;

void   vn_stage_find_costs  (VnJob            *job,
                             const VnJobKind  *kind,
                             const VnStage    *stage,
                             guint             part,
                             VnStageCosts     *costs);

void   vn_time_left_begin   (VnTimeLeft       *self,
                             double            cost,
                             double            rest,
                             gboolean          in_seconds,
                             double            now);
void   vn_time_left_begin_unknown (VnTimeLeft *self);
void   vn_time_left_report  (VnTimeLeft       *self,
                             double            fraction);
double vn_time_left_get     (const VnTimeLeft *self,
                             double            now);     /* negative: unknown */

G_END_DECLS
