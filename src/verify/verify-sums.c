/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares what ONNX Runtime has written with our own outputs of the same samples, part by part. */
#include "verify-sums.h"

#include "verify-folder.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-onnx.h"

#include <math.h>

/*< private >
 * vn_verify_sums_init:
 * @name: of the output; it and @parts live longer than @self
 * @parts: (nullable): of the outputs
 * @has_float: outputs of the float network are looked for in the folder
 * @saturates: outputs of kernels that do not saturate are looked for
 */
void
vn_verify_sums_init (VnVerifySums *self,
                     const char   *name,
                     VnParts      *parts,
                     gboolean      has_float,
                     gboolean      saturates)
{
  g_return_if_fail (self != NULL && name != NULL);

  *self = (VnVerifySums) { .name = name, .partition = vn_parts_get (parts, name), .has_float = has_float,
                           .saturates = saturates };
  vn_part_sums_init (self->between, self->partition);
  vn_part_sums_init (self->ours, self->partition);
  vn_part_sums_init (self->theirs, self->partition);
  vn_part_sums_init (self->exact, self->partition);
  vn_part_sums_init (self->exactly, self->partition);
}

static VnTensor *
verify_sums_read (const char  *folder,
                  const char  *prefix,
                  guint        sample,
                  guint        output,
                  GError     **error)
{
  g_autofree char *path = vn_verify_folder_dup_tensor (folder, prefix, sample, output);
  g_autoptr(VnTensor) read = vn_npy_read (path, error);

  return read != NULL ? vn_tensor_convert (read, VN_DTYPE_F32, error) : NULL;
}

static gboolean
verify_sums_check_shape (const VnVerifySums  *self,
                         const VnTensor      *ours,
                         const VnTensor      *theirs,
                         GError             **error)
{
  g_autofree char *a = NULL, *b = NULL;

  if (vn_shape_equal (&ours->shape, &theirs->shape))
    return TRUE;
  a = vn_shape_to_string (&ours->shape, "×");
  b = vn_shape_to_string (&theirs->shape, "×");
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("Output “%s” has the shape %s here, but %s in ONNX Runtime"), self->name, a, b);
  return FALSE;
}

/*< private >
 * vn_verify_sums_add:
 * @folder: that the process has written into
 * @output: its number
 * @ours: of the same sample
 *
 * Returns: %FALSE if their output cannot be read, or has another shape
 */
gboolean
vn_verify_sums_add (VnVerifySums  *self,
                    const char    *folder,
                    guint          sample,
                    guint          output,
                    VnTensor      *ours,
                    GError       **error)
{
  g_autoptr(VnTensor) mine = NULL, other = NULL, wanted = NULL, exact = NULL;
  gboolean is_exact;

  g_return_val_if_fail (self != NULL && folder != NULL && ours != NULL, FALSE);

  mine = vn_tensor_convert (ours, VN_DTYPE_F32, error);
  other = mine != NULL ? verify_sums_read (folder, "out-", sample, output, error) : NULL;
  if (other == NULL || !verify_sums_check_shape (self, mine, other, error))
    return FALSE;
  wanted = self->has_float ? verify_sums_read (folder, "float-", sample, output, NULL) : NULL;
  exact = self->saturates ? verify_sums_read (folder, "exact-", sample, output, NULL) : NULL;
  vn_part_sums_add (self->between, self->partition, &mine->shape, mine->data, other->data);
  is_exact = exact != NULL && vn_shape_equal (&mine->shape, &exact->shape);
  if (is_exact)
    vn_part_sums_add (self->exact, self->partition, &mine->shape, mine->data, exact->data);
  if (wanted == NULL || !vn_shape_equal (&mine->shape, &wanted->shape))
    return TRUE;
  vn_part_sums_add (self->ours, self->partition, &mine->shape, wanted->data, mine->data);
  vn_part_sums_add (self->theirs, self->partition, &mine->shape, wanted->data, other->data);
  if (is_exact)
    vn_part_sums_add (self->exactly, self->partition, &mine->shape, wanted->data, exact->data);
  return TRUE;
}

static double
verify_sums_get_db (const VnErrorSum *sum)
{
  return sum->n > 0 ? vn_error_sum_sqnr (sum) : NAN;
}

/* Of what ONNX Runtime computes, against the float network; without that against ours. */
static const VnErrorSum *
verify_sums_get_judged (const VnVerifySums *self)
{
  return self->theirs[0].n > 0 ? self->theirs : self->between;
}

static VnVerifiedOutput
verify_sums_get_output (const VnVerifySums *self,
                        guint               part)
{
  return (VnVerifiedOutput) { .name = (char *) self->name, .sqnr_db = vn_error_sum_sqnr (&self->between[part]),
                              .our_db = verify_sums_get_db (&self->ours[part]),
                              .their_db = verify_sums_get_db (&self->theirs[part]),
                              .largest = self->between[part].max_error };
}

/* The part that agrees least; of those that agree alike the one with the least signal to noise between both. */
static guint
verify_sums_find_other (const VnVerifySums *self,
                        guint               worst)
{
  const VnVerifiedOutput first = verify_sums_get_output (self, worst);
  VnAgreement agreement = vn_verified_output_judge (&first);
  guint found = worst;

  for (guint i = 1; i < vn_part_sums_count (self->partition); i++)
    {
      const VnVerifiedOutput output = verify_sums_get_output (self, i);
      const VnAgreement own = vn_verified_output_judge (&output);

      if (self->between[i].n == 0 || own < agreement ||
          (own == agreement && (found == worst || output.sqnr_db >= vn_error_sum_sqnr (&self->between[found]))))
        continue;
      found = i;
      agreement = own;
    }
  return found;
}

/*< private >
 * vn_verify_sums_find:
 * @parts: (out caller-allocates) (array fixed-size=2): what is to be told of: the part that is worst in ONNX Runtime, and another
 *   where the output agrees less with ours than there
 *
 * Returns: how many these are, 1 or 2
 */
guint
vn_verify_sums_find (const VnVerifySums *self,
                     guint               parts[2])
{
  g_return_val_if_fail (self != NULL && parts != NULL, 0);

  parts[0] = vn_part_sums_find_worst (verify_sums_get_judged (self), self->partition);
  parts[1] = verify_sums_find_other (self, parts[0]);
  return parts[1] != parts[0] ? 2 : 1;
}

/*< private >
 * vn_verify_sums_report:
 * @which: of vn_verify_sums_find()
 * @output: (out caller-allocates): what was found of it; its strings are borrowed
 * @part: (out) (nullable): owns the part that @output speaks of
 */
void
vn_verify_sums_report (const VnVerifySums  *self,
                       guint                which,
                       VnVerifiedOutput    *output,
                       VnErrorPart        **part)
{
  g_return_if_fail (self != NULL && output != NULL && part != NULL);

  *part = which > 0 ? vn_part_sums_make_part (verify_sums_get_judged (self), self->partition, which) : NULL;
  *output = verify_sums_get_output (self, which);
  output->part = *part;
}

/*< private >
 * vn_verify_sums_report_exact:
 * @which: of vn_verify_sums_find()
 * @output: (out caller-allocates): the same with kernels that do not saturate, without a name
 *
 * Returns: whether that was measured
 */
gboolean
vn_verify_sums_report_exact (const VnVerifySums *self,
                             guint               which,
                             VnVerifiedOutput   *output)
{
  g_return_val_if_fail (self != NULL && output != NULL, FALSE);

  *output = (VnVerifiedOutput) { .sqnr_db = verify_sums_get_db (&self->exact[which]),
                                 .our_db = verify_sums_get_db (&self->ours[which]),
                                 .their_db = verify_sums_get_db (&self->exactly[which]) };
  return self->exact[which].n > 0;
}
