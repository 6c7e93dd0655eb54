/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a person sees of samples before they are calibrated on: what is suspicious, what can be done about it with what effect,
 * and how the values are spread that the network gets. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

#define VN_DATA_LOOK_BINS     128u
#define VN_DATA_LOOK_CHANNELS 4u

/**
 * VnDataCure: other settings for the samples.
 * @input: whose settings they are
 * @settings: with what is to be changed changed
 * @title: short, translated: "−1 … 1", "BGR"
 * @effect: (nullable): what the number of the finding would be, a translated sentence
 */
typedef struct
{
  char         *input;
  VnPreprocess  settings;
  char         *title, *effect;
} VnDataCure;

/**
 * VnDataFinding: something to decide on before calibration.
 * @level: %VN_NOTE_INFO: samples are few
 * @code: of the note that vn_data_check() would add
 * @title: some words, translated
 * @text: one sentence with the number
 * @remedy: what to do, one sentence
 * @cures: (element-type VnDataCure): what can be applied, best first; empty where only other samples help. Where @is_certain is
 *   %FALSE each of them may be right
 */
typedef struct
{
  VnNoteLevel  level;
  char        *code, *title, *text, *remedy;
  gboolean     is_certain;
  GPtrArray   *cures;
} VnDataFinding;

/**
 * VnDataValues: what the network gets at its first input of floats, for a chart.
 * @n_channels: 0: there is no such input; 1 where the input is no picture
 * @low, @high: of all; the counts are of equal parts between them
 * @suits_low, @suits_high: what the first layer seems to be made for; NaN where it does not tell
 */
typedef struct
{
  char     *input;
  guint     n_channels;
  double    low, high;
  double    counts[VN_DATA_LOOK_CHANNELS][VN_DATA_LOOK_BINS];
  double    suits_low, suits_high;
} VnDataValues;

/**
 * VnDataLook:
 * @findings: (element-type VnDataFinding): worst first
 */
typedef struct
{
  GPtrArray    *findings;
  VnDataValues  values;
} VnDataLook;

VnDataLook *vn_data_look               (VnModel        *model,
                                        const VnModel  *fed,
                                        GHashTable     *shapes,       /* nullable */
                                        VnDataset      *dataset,
                                        GCancellable   *cancellable,
                                        GError        **error);
void        vn_data_look_free          (VnDataLook     *self);
gboolean    vn_data_look_is_suspicious (const VnDataLook *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDataLook, vn_data_look_free)

G_END_DECLS
