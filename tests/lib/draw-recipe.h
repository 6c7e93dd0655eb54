/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random values of settings, out of what their table allows and of what a network has. */
#pragma once

#include "vn-setting.h"

G_BEGIN_DECLS

/* Nullable: there is nothing to draw, such as a file. Of a list: one element. */
char *draw_setting_value (GRand           *rand,
                          const VnModel   *model,
                          const VnSetting *setting);
/* Sets about @share of @settings; what is not allowed is left out. */
void  draw_settings      (GRand           *rand,
                          const VnModel   *model,
                          const VnSetting *settings,
                          guint            n,
                          gpointer         object,
                          double           share);
/* Makes a rule about one tensor of @rule, maybe with a range or a scale, and with those of its other type if it has one. No
 * lists of rules are drawn but here. */
void  draw_tensor_rule   (GRand           *rand,
                          const VnModel   *model,
                          VnOverride      *rule);
/* A table of ranges of a few tensors, for the setting “ranges”. */
char *draw_ranges        (GRand           *rand,
                          const VnModel   *model);

G_END_DECLS
