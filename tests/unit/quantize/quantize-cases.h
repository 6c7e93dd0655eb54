/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Small networks to quantize, each with a recipe. */

#include "quantize-fixture.h"

G_BEGIN_DECLS

/**
 * QuantizeCase:
 * @id: of its expected text
 * @adjust: (nullable): changes the recipe of the preset
 */
typedef struct
{
  const char *id;
  gint64      opset;
  const char *preset;
  void      (*build) (Fixture *f);
  void      (*adjust) (VnRecipe *recipe);
} QuantizeCase;

const QuantizeCase *quantize_cases_list (guint *n);

void build_conv_relu      (Fixture  *f);
void build_shared_weights (Fixture  *f);
void build_two_convs      (Fixture  *f);
void recipe_exclude_first (VnRecipe *recipe);

G_END_DECLS
