/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Parts of the file of a run: each is written and read beside each other. */

#include "vn-json-fields.h"
#include "vn-run.h"

G_BEGIN_DECLS

typedef void (*VnRunFileFunc) (gpointer to, VnJsonFields *fields);

/* Every object of the list @id, until one is wrong. */
void               _vn_run_file_read_each      (VnJsonFields      *parent,
                                                const char        *id,
                                                VnRunFileFunc      read,
                                                gpointer           to);
double             _vn_run_file_get_number     (VnJsonFields      *fields,
                                                const char        *id);       /* NaN if it is not there */
void               _vn_run_file_add_number     (JsonBuilder       *json,
                                                const char        *id,
                                                double             number);   /* unless it is NaN */

/* run-file-errors.c */
VnErrorPart       *_vn_run_file_read_part      (VnJsonFields      *fields);
VnErrorTable      *_vn_run_file_read_errors    (VnJsonFields      *fields);
void               _vn_run_file_read_contribution (gpointer        contributions,
                                                VnJsonFields      *fields);

/* run-file-plan.c */
void               _vn_run_file_add_plan       (JsonBuilder       *json,
                                                VnQuantPlan       *plan);
VnQuantPlan       *_vn_run_file_read_plan      (VnJsonFields      *fields);
void               _vn_run_file_add_runtime    (JsonBuilder       *json,
                                                const VnRuntimeForecast *forecast);
VnRuntimeForecast *_vn_run_file_read_runtime   (VnJsonFields      *fields);

/* run-file-diagnosis.c */
void               _vn_run_file_add_diagnosis  (JsonBuilder       *json,
                                                VnDiagnosis       *diagnosis);
VnDiagnosis       *_vn_run_file_read_diagnosis (VnJsonFields      *fields);
void               _vn_run_file_add_steps      (JsonBuilder       *json,
                                                GPtrArray         *steps);
GPtrArray         *_vn_run_file_read_steps     (VnJsonFields      *fields);
void               _vn_run_file_add_spreads    (JsonBuilder       *json,
                                                GPtrArray         *spreads);
GPtrArray         *_vn_run_file_read_spreads   (VnJsonFields      *fields);

/* run-file-curve.c */
void               _vn_run_file_add_curve      (JsonBuilder       *json,
                                                const VnCurve     *curve);
VnCurve           *_vn_run_file_read_curve     (VnJsonFields      *fields);

G_END_DECLS
