/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small networks for the tests of passes. */
#pragma once

#include "vn-graph-edit.h"

typedef struct
{
  const char *name;
  VnModel  *(*build) (void);
} TestModel;

extern const TestModel test_models[];
extern const guint n_test_models;

/* What passes that optimize, or run on request, are for. */
extern const TestModel test_models_more[];
extern const guint n_test_models_more;

/* For passes on request. */
VnModel *test_forms       (void);
VnModel *test_shared      (void);
VnModel *test_peculiar    (void);
VnModel *test_masked      (void);
VnModel *test_strided     (void);
VnModel *test_layers      (void);
VnModel *test_fused       (void);
VnModel *test_qdq         (void);
VnModel *test_written_out (void);

/* ---- building them ---- */

#define END ((VnValue *) 1)

#define add test_add
#define out test_out
#define weights test_weights
#define ints test_ints
#define new_model test_new_model
#define finish test_finish

/* Inputs up to END; NULL is an omitted input. Returns the one output. */
VnNode  *test_add       (VnGraph       *graph,
                         const char    *name,
                         const char    *op_type,
                         const char    *output,
                         ...);
VnValue *test_out       (VnNode        *node);
/* Numbers between 0.25 and 1.25, different for each name. */
VnValue *test_weights   (VnGraph       *graph,
                         const char    *name,
                         const VnShape *shape);
VnValue *test_ints      (VnGraph       *graph,
                         const char    *name,
                         const gint64  *values,
                         gint64         n);
/* One input, “x”. */
VnModel *test_new_model (VnValue      **x,
                         const VnShape *shape);
VnModel *test_finish    (VnModel       *model,
                         VnNode        *last);
