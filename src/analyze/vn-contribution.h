/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring where error starts. */
#pragma once

#include "vn-channel-stats.h"
#include "vn-contributions.h"
#include "vn-parts.h"

G_BEGIN_DECLS

/**
 * VnContributionFunc:
 * @so_far: all tensors: those that were measured, and estimates of the others
 *
 * Called on the thread of vn_contribution_measure() whenever more is known.
 */
typedef void (*VnContributionFunc) (VnContributions *so_far,
                                    gpointer         data);

/**
 * VnContributionOptions:
 * @found, @data: (nullable): who wants to know in the meantime
 * @estimate: measure nothing: the first order alone
 * @thorough: measure every tensor on every sample, those too that do not matter
 * @n_copies, @make_copy: where there is one input, each sample counts so often, the first time as it is; 0: once
 * @parts: (nullable): of the outputs: where one has parts, what tensors cost is told of that which most noise comes to, as it
 *   speaks for the output
 * @n_numbers: differences that are kept of each output of a sample, for VnContribution.differences
 */
typedef struct
{
  VnContributionFunc found;
  gpointer           data;
  gboolean           estimate, thorough;
  guint              n_numbers, n_copies;
  VnTensor        *(*make_copy) (const VnTensor *tensor, guint copy, GError **error);
  VnParts           *parts;
} VnContributionOptions;

VnContributions *vn_contribution_measure (const VnModel                *prepared,
                                          const VnModel                *written,
                                          VnQuantPlan                  *plan,
                                          const VnSamples              *run,
                                          const VnContributionOptions  *options,   /* nullable */
                                          GCancellable                 *cancellable,
                                          GError                      **error);

G_END_DECLS
