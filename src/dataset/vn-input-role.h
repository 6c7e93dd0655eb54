/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What an input of a network is for, as far as names, types and uses tell, and what it is filled with where samples have nothing
 * for it. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

void        vn_input_spec_init        (VnInputSpec       *self,
                                       const VnValue     *input);
void        vn_input_spec_fill_cache  (VnInputSpec       *self,
                                       const VnValue     *input);
gboolean    vn_input_spec_slides      (const VnInputSpec *self);
VnInputRole vn_input_role_find        (const VnInputSpec *spec);
VnFill      vn_input_role_get_fill    (VnInputRole        role);
const char *vn_input_role_get_title   (VnInputRole        role);
gint64      vn_fill_get_value         (VnFill             fill,
                                       gsize              i,
                                       gsize              row,
                                       gint64             length,
                                       guint              rate);
const char *vn_fill_get_title         (VnFill             fill);
char       *vn_input_spec_describe    (const VnInputSpec *self);
gboolean    vn_input_specs_may_take_pictures (const VnInputSpec *specs,
                                              guint              n);

G_END_DECLS
