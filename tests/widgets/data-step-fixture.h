/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "window-fixture.h"

G_BEGIN_DECLS

/* The wizard's step where samples are chosen, with a network that wants pictures from -1 to 1, and pictures from 0 to 255. */
char *vn_data_step_write_model    (const char *folder);
char *vn_data_step_write_decoder  (const char *folder);   /* a language model of no layers, and 40 tokens a file in tokens/ */
char *vn_data_step_write_pictures (const char *folder,
                                   guint       n);
void  vn_data_step_remove_folder  (const char *path);
void  vn_data_step_show           (Fixture    *fixture,
                                   const char *model,
                                   const char *samples);

G_END_DECLS
