/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether outputs of a float network tell samples apart: what does not, gets something else than it was trained with. */

#include "vn-note.h"
#include "vn-tensor.h"

G_BEGIN_DECLS

/**
 * VnOutputLook: what the samples have made of the outputs of a network so far.
 */
typedef struct _VnOutputLook VnOutputLook;

VnOutputLook *vn_output_look_new          (guint               n_outputs);
void          vn_output_look_free         (VnOutputLook       *self);
void          vn_output_look_add          (VnOutputLook       *self,
                                           guint               output,
                                           const VnTensor     *tensor);
double        vn_output_look_get_reaction (const VnOutputLook *self);
void          vn_output_look_note         (const VnOutputLook *self,
                                           VnNotes            *notes);      /* nullable */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnOutputLook, vn_output_look_free)

G_END_DECLS
