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

G_END_DECLS
