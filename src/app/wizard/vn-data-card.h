/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is to be decided about the samples before calibration: one thing at a time, the worst first. */

#include "vn-data-look.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnDataCard: invisible while there is nothing to say.
 *
 * Signals:
 * - apply (VnDataCure): these settings are wanted
 * - choose: other samples are wanted
 * - preprocess: other preprocessing is wanted
 * - sizes: other sizes of the inputs are wanted
 */
#define VN_TYPE_DATA_CARD (vn_data_card_get_type ())
G_DECLARE_FINAL_TYPE (VnDataCard, vn_data_card, VN, DATA_CARD, AdwBin)

void vn_data_card_show_problem (VnDataCard       *self,
                                const char       *title,
                                const char       *text,
                                gboolean          is_of_size);
void vn_data_card_show_look    (VnDataCard       *self,
                                const VnDataLook *look,      /* nullable */
                                VnNotes          *notes,     /* nullable */
                                gboolean          has_preprocessing);
void vn_data_card_forget       (VnDataCard       *self);

G_END_DECLS
