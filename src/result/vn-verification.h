/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What was measured of an export in ONNX Runtime, and what that leaves of the forecast. */

#include "vn-parts.h"
#include "vn-runtime.h"

G_BEGIN_DECLS

/**
 * VnVerifiedOutput:
 * @part: (nullable): of the output: which the figures are of; %NULL: of all its elements
 * @sqnr_db: signal to noise between ONNX Runtime's output and ours; INFINITY: the same bits
 * @our_db, @their_db: against the output of the float network; NAN without that
 */
typedef struct
{
  char        *name;
  VnErrorPart *part;
  double       sqnr_db, our_db, their_db;
  double       largest;   /* difference */
} VnVerifiedOutput;

/**
 * VnAgreement: how what ONNX Runtime computes lies to what we do, from the same to something else.
 * @VN_AGREEMENT_SAME: what is between is small beside what quantizing costs: errors measured here hold there
 * @VN_AGREEMENT_ALIKE: errors of the same size, but other ones: those measured there are told
 * @VN_AGREEMENT_OTHER: another result
 */
typedef enum
{
  VN_AGREEMENT_SAME,
  VN_AGREEMENT_ALIKE,
  VN_AGREEMENT_OTHER
} VnAgreement;

/**
 * VnVerification: immutable, once others have it.
 * @version: of onnxruntime; NULL: not known
 * @refusal: (nullable): why ONNX Runtime does not load or run it; then nothing is measured
 * @outputs: of VnVerifiedOutput: of each output the part that is worst in ONNX Runtime, and behind it another where it agrees
 * less, if there is one
 * @load_seconds: of the export
 * @seconds, @float_seconds: of one run, one thread; @float_seconds 0 without float network
 * @integer_share: of multiplications, by the kernels of the graph that ONNX Runtime made; 0 to 1; NAN: not found out
 * @saturates: the processor's kernels add two products of 8 bit up in 16 bit, which saturate (x86 without VNNI)
 * @exact_db: there also the least signal to noise between ours and its outputs with kernels that do not; NAN: not found out
 * @exact_agrees: whether that counts as the same
 */
typedef struct
{
  char      *version, *refusal;
  GPtrArray *outputs;
  guint      n_samples;
  double     load_seconds, seconds, float_seconds, integer_share;
  gboolean   saturates, exact_agrees;
  double     exact_db;
  /*< private >*/
  gatomicrefcount ref;
} VnVerification;

VnVerification *vn_verification_new          (void);
VnVerification *vn_verification_ref          (VnVerification         *self);
void            vn_verification_unref        (VnVerification         *self);
void            vn_verification_add          (VnVerification         *self,
                                              const VnVerifiedOutput *output);
VnVerification *vn_verification_new_refused  (const char             *refusal);
VnAgreement     vn_verification_judge        (const VnVerification   *self);
double          vn_verification_get_shift_db (const VnVerification   *self,      /* nullable */
                                              const char             *output);
double          vn_verification_get_worst_db (const VnVerification   *self);   /* of all outputs; NAN without any */
gboolean        vn_verification_is_saturated (const VnVerification   *self);
/* "1.13 times the time of float, agrees to 60 dB" */
char           *vn_verification_dup_text     (const VnVerification   *self);
char           *vn_verification_dup_fault    (const VnVerification   *self);   /* NULL: it agrees */
char           *vn_verification_dup_remedy   (const VnVerification   *self);   /* NULL: there is none */
VnAgreement     vn_verified_output_judge     (const VnVerifiedOutput *self);
char           *vn_verified_output_dup_title (const VnVerifiedOutput *self);
const char     *vn_agreement_get_id          (VnAgreement             self);
const char     *vn_agreement_get_title       (VnAgreement             self);

#define VN_NOTE_CODE_NOT_VERIFIED "not-verified"   /* of the note that ONNX Runtime could not be asked */

/**
 * VnRuntimeFigures: what is known of an export in ONNX Runtime: measured where it was run there, otherwise forecast.
 * @integer_share: of multiplications, 0 to 1
 * @seconds, @float_seconds: of one run, one thread, of the export and of the float network
 * @ratio: of these
 * @least_ratio, @most_ratio: what a forecast allows for; @ratio where it was measured
 * @conversion_share: of the time, for conversions and changes of layout; always forecast
 * @time_measured: @seconds, @float_seconds and @ratio
 * @share_measured: @integer_share, and the kernels of all nodes
 *
 * What is not known is NAN. Whoever tells these figures takes them from here.
 */
typedef struct
{
  double   integer_share, seconds, float_seconds, ratio, least_ratio, most_ratio, conversion_share;
  gboolean time_measured, share_measured;
} VnRuntimeFigures;

void            vn_runtime_figures_init      (VnRuntimeFigures        *self,
                                              const VnRuntimeForecast *forecast,        /* nullable */
                                              const VnVerification    *verification);   /* nullable */
/* "about 1.3 times the time of the float network (0.9 to 1.8)" */
char           *vn_runtime_figures_dup_ratio (const VnRuntimeFigures  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnVerification, vn_verification_unref)

G_END_DECLS
