/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where error starts: what quantizing one tensor alone does to the outputs of a network that is float otherwise. */
#pragma once

#include "vn-error-table.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnContribution: one tensor.
 * @name: of the activation, weight or bias in the prepared network
 * @node: vn_node_dup_label() of the node that computes the activation, or that has the weight; "" for an input
 * @value: in the prepared network: whose row in a table of errors speaks for it: the activation, or what the layer with the
 *   weight gives behind its clamp
 * @local_db: signal to noise of what was changed: the activation itself, or what the layer computes with the weight or bias
 * @alone_db: signal to noise of the outputs when nothing else is quantized, averaged over the outputs
 * @share: of the noise that all tensors alone bring to an output, averaged over the outputs; 0 to 1
 * @n_samples: that it was measured on; 0: @local_db, @alone_db and @share are estimates of the first order
 * @share_error: standard error of @share over the samples; NaN where it is not known
 * @differences: (nullable) (element-type float): at @n_numbers of each output, the same for all tensors, on samples that all were
 *   measured on; by sample and output; not kept in files
 * @noise: (nullable) (element-type double): what @alone_db is the mean of: noise to signal of each output; not kept in files
 */
typedef struct
{
  char        *name, *node, *value;
  VnTensorRole role;
  double       local_db, alone_db, share, share_error;
  guint        n_samples;
  GArray      *noise, *differences;
  guint        n_numbers;
} VnContribution;

/**
 * VnContributions: all quantized tensors, in the order of the network. Immutable.
 */
typedef struct _VnContributions VnContributions;

VnContributions      *vn_contributions_new_empty (void);
void                  vn_contributions_add   (VnContributions         *self,
                                              VnContribution          *item);
VnContributions      *vn_contributions_ref   (VnContributions         *self);
void                  vn_contributions_unref (VnContributions         *self);
void                  vn_contributions_set_noise_gain (VnContributions *self,
                                              double                   gain_db);
/* of the float network, in dB; NaN: not measured */
double                vn_contributions_get_noise_gain (VnContributions *self);
guint                 vn_contributions_get_n (VnContributions         *self);
const VnContribution *vn_contributions_get   (VnContributions         *self,
                                              guint                    i);
GArray               *vn_contributions_sort  (VnContributions         *self);   /* of guint: largest share first */
GArray               *vn_contributions_find  (VnContributions         *self,
                                              /* of guint: those of a row, largest share first */
                                              const char              *value);
VnErrorTable         *vn_contributions_mark  (VnContributions         *self,
                                              VnErrorTable            *errors);
VnContributions      *vn_contributions_expect (VnContributions       *self,
                                               VnQuantPlan           *before,
                                               VnQuantPlan           *after);
const char           *vn_contribution_role_get_id    (VnTensorRole    role);
const char           *vn_contribution_role_get_title (VnTensorRole    role);
gboolean              vn_contribution_role_find      (const char     *id,
                                                      VnTensorRole   *role);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnContributions, vn_contributions_unref)

G_END_DECLS
