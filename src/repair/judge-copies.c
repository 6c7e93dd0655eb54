/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures are moved by some pixels and mirrored: what a network makes of them has errors of its own, of the same size. Where
 * samples must stay what they are, they are moved by hardly any. */
#include "judge-copies.h"

/* Numbers of outputs that an error is told from, if copies of samples can give them; and how many of a sample at most. */
#define ENOUGH_NUMBERS 4096
#define MOST_COPIES 8

/* Sizes that are open count as 1. */
static gsize
judge_copies_count_least (const VnShape *shape)
{
  gsize n = 1;

  for (int i = 0; i < shape->rank; i++)
    n = MIN (n * (gsize) MAX (shape->dims[i], 1), ENOUGH_NUMBERS);
  return n;
}

/*< private >
 * vn_judge_get_most_copies:
 * @plan: of the float network
 *
 * Returns: how often a sample can be run, itself counted: 1 unless the only input is a picture
 */
guint
vn_judge_get_most_copies (VnPlan *plan)
{
  const VnTensorType *input;

  g_return_val_if_fail (plan != NULL, 1);

  input = vn_plan_get_n_inputs (plan) == 1 ? vn_plan_get_input_type (plan, 0) : NULL;
  return input != NULL && input->dtype == VN_DTYPE_F32 && input->shape.rank == 4 ? MOST_COPIES : 1;
}

/*< private >
 * vn_judge_count_copies:
 * @plan: of the float network
 *
 * Returns: how often each sample is to be run, itself counted; 1 unless the only input is a picture
 */
guint
vn_judge_count_copies (VnPlan *plan,
                       guint   n_samples)
{
  gsize numbers = 0;

  g_return_val_if_fail (plan != NULL, 1);

  if (n_samples == 0)
    return 1;
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    numbers += judge_copies_count_least (&vn_plan_get_output (plan, i)->type.shape);
  return (guint) CLAMP (ENOUGH_NUMBERS / MAX (numbers, 1) / n_samples, 1, vn_judge_get_most_copies (plan));
}

/* Which number of the sample stands at a place of the copy: channels are the shortest axis but the first. */
static gsize
judge_copies_find_source (const VnShape *shape,
                          const gint64  *at,
                          guint          copy)
{
  int channels = shape->dims[1] <= shape->dims[2] && shape->dims[1] <= shape->dims[3] ? 1 : 3;
  gsize source = (gsize) at[0];

  for (int axis = 1; axis < 4; axis++)
    {
      gint64 n = shape->dims[axis], from = at[axis];

      if (axis != channels)
        from = (from + (gint64) copy * (axis == 2 ? 3 : 5)) % n;
      if (axis == (channels == 1 ? 3 : 2) && copy % 2 == 1)
        from = n - 1 - from;
      source = source * (gsize) n + (gsize) from;
    }
  return source;
}

/*< private >
 * vn_judge_make_copy:
 * @tensor: float32, of rank 4
 * @copy: from 1
 *
 * Returns: (transfer full) (nullable): @tensor, moved around its edges; odd copies are mirrored
 */
VnTensor *
vn_judge_make_copy (const VnTensor  *tensor,
                    guint            copy,
                    GError         **error)
{
  VnTensor *result;
  const gint64 *dims;
  gsize i = 0;

  g_return_val_if_fail (tensor != NULL && tensor->shape.rank == 4, NULL);

  dims = tensor->shape.dims;
  result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, error);
  for (gint64 a = 0; result != NULL && a < dims[0]; a++)
    for (gint64 b = 0; b < dims[1]; b++)
      for (gint64 c = 0; c < dims[2]; c++)
        for (gint64 d = 0; d < dims[3]; d++)
          {
            const gint64 at[] = { a, b, c, d };

            ((float *) result->data)[i++] = ((const float *) tensor->data)[judge_copies_find_source (&tensor->shape, at, copy)];
          }
  return result;
}

/* ---- near ones ---- */

/* Pictures are moved by as many pixels at most, as their size allows; signals get weaker, a hundredth for each copy. */
#define MOST_NEAR 3
#define PIXELS_FOR_NEAR 24
#define WEAKER_COPIES 24

/* How far pictures are moved at most. */
static gint64
judge_copies_get_reach (const VnShape *shape)
{
  gint64 most = MAX (MAX (shape->dims[1], shape->dims[2]), shape->dims[3]);

  return CLAMP (most / PIXELS_FOR_NEAR, 1, MOST_NEAR);
}

/*< private >
 * vn_judge_count_near_copies:
 * @plan: of the float network
 *
 * Returns: how often each sample can be run, itself counted, with copies that vn_judge_make_near_copy() makes; 1 unless the only
 *   input is of float32
 */
guint
vn_judge_count_near_copies (VnPlan *plan)
{
  const VnTensorType *input;
  gint64 reach;

  g_return_val_if_fail (plan != NULL, 1);

  input = vn_plan_get_n_inputs (plan) == 1 ? vn_plan_get_input_type (plan, 0) : NULL;
  if (input == NULL || input->dtype != VN_DTYPE_F32)
    return 1;
  if (input->shape.rank != 4)
    return WEAKER_COPIES + 1;
  reach = judge_copies_get_reach (&input->shape);
  return (guint) ((2 * reach + 1) * (2 * reach + 1));
}

/* Squares around the middle, from the smallest on; each of their sides in turn. */
static void
judge_copies_find_step (guint   copy,
                        gint64 *down,
                        gint64 *right)
{
  gint64 ring = 1, at = (gint64) copy - 1, turned;

  for (; at >= 8 * ring; ring++)
    at -= 8 * ring;
  *down = at / 4 - ring + 1;
  *right = ring;
  for (gint64 i = 0; i < at % 4; i++)
    {
      turned = *down;
      *down = *right;
      *right = -turned;
    }
}

static void
judge_copies_move (const VnTensor *tensor,
                   guint           copy,
                   float          *to)
{
  const VnShape *shape = &tensor->shape;
  const gint64 *dims = shape->dims;
  int channels = dims[1] <= dims[2] && dims[1] <= dims[3] ? 1 : 3;
  gint64 step[4] = { 0 };
  gsize i = 0;

  judge_copies_find_step (copy, &step[channels == 1 ? 2 : 1], &step[channels == 1 ? 3 : 2]);
  for (gint64 a = 0; a < dims[0]; a++)
    for (gint64 b = 0; b < dims[1]; b++)
      for (gint64 c = 0; c < dims[2]; c++)
        for (gint64 d = 0; d < dims[3]; d++)
          {
            gint64 from_b = CLAMP (b + step[1], 0, dims[1] - 1), from_c = CLAMP (c + step[2], 0, dims[2] - 1),
            from_d = CLAMP (d + step[3], 0, dims[3] - 1);

            to[i++] = ((const float *) tensor->data)[((a * dims[1] + from_b) * dims[2] + from_c) * dims[3] + from_d];
          }
}

/*< private >
 * vn_judge_make_near_copy:
 * @tensor: float32
 * @copy: from 1
 *
 * What errors rounding makes depends on the last bit of a sample: a copy that hardly differs has others, of the same size, and is
 * as natural.
 *
 * Returns: (transfer full) (nullable): @tensor, a picture moved by a few pixels, with its edge repeated; of another rank than 4:
 * weaker
 */
VnTensor *
vn_judge_make_near_copy (const VnTensor  *tensor,
                         guint            copy,
                         GError         **error)
{
  VnTensor *result;

  g_return_val_if_fail (tensor != NULL && copy > 0, NULL);

  result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, error);
  if (result != NULL && tensor->shape.rank == 4)
    judge_copies_move (tensor, copy, result->data);
  for (gsize i = 0; result != NULL && tensor->shape.rank != 4 && i < tensor->n_elements; i++)
    ((float *) result->data)[i] = ((const float *) tensor->data)[i] * (1 - 0.01f * (float) copy);
  return result;
}
