/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What was measured of an export in a runtime, and what that leaves of the forecast. */

#include "vn-parts.h"
#include "vn-runtime.h"
#include "vn-target-runtime.h"

G_BEGIN_DECLS

/**
 * VnVerifiedNode: a node that the runtime does not compute in integers.
 * @name, @op_type: as the runtime calls it
 * @type, @kernel: (nullable): in which it computes: "f32"; and by what
 * @reason: (nullable): why it fell back, as the runtime says
 * @macs: multiplications; 0: not known
 */
typedef struct
{
  char   *name, *op_type, *type, *kernel, *reason;
  double  macs;
} VnVerifiedNode;

/**
 * VnVerifiedOutput:
 * @part: (nullable): of the output: which the figures are of; %NULL: of all its elements
 * @sqnr_db: signal to noise between the runtime's output and ours; INFINITY: the same bits
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
 * VnAgreement: how what the runtime computes lies to what we do, from the same to something else.
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
 * @runtime: in which it was run
 * @version: of that; NULL: not known
 * @refusal: (nullable): why the runtime does not load or run it; then nothing is measured
 * @outputs: of VnVerifiedOutput: of each output the part that is worst in the runtime, and behind it another where it agrees
 * less, if there is one
 * @load_seconds: of the export
 * @seconds, @float_seconds: of one run, one thread; 0: not measured, as it means nothing there, or without float network
 * @integer_share: of multiplications, by what the runtime tells of its kernels; 0 to 1; NAN: not found out
 * @floats: of VnVerifiedNode: nodes that multiply and are not on integers, that with most multiplications first
 * @fallen: of VnVerifiedNode: nodes that fell back to another processor
 * @n_products, @n_integer_products: nodes that multiply, and those on integers; 0 with @integer_share NAN
 * @n_partitions: parts that the runtime cut the network into; 0: it does not tell
 * @saturates: the processor's kernels add two products of 8 bit up in 16 bit, which saturate (x86 without VNNI)
 * @exact_db: there also the least signal to noise between ours and its outputs with kernels that do not; NAN: not found out
 * @exact_agrees: whether that counts as the same
 */
typedef struct
{
  const VnTargetRuntime *runtime;
  char      *version, *refusal;
  GPtrArray *outputs, *floats, *fallen;
  guint      n_samples, n_products, n_integer_products, n_partitions;
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
void            vn_verification_add_node     (GPtrArray              *nodes,       /* @floats or @fallen */
                                              const VnVerifiedNode   *node);
VnVerification *vn_verification_new_refused  (const VnTargetRuntime  *runtime,
                                              const char             *refusal);
gboolean        vn_verification_has_time     (const VnVerification   *self);
char           *vn_verified_node_dup_text    (const VnVerifiedNode   *self);   /* "conv1 (Convolution, f32)" */
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

#define VN_NOTE_CODE_NOT_VERIFIED "not-verified"   /* of the note that no runtime could be asked */

/**
 * VnRuntimeFigures: what is known of an export in a runtime: measured where it was run there, otherwise forecast, for ONNX
 * Runtime.
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
