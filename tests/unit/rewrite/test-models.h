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
