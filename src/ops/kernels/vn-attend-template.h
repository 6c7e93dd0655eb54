/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention for one element type. Included with T, its type; NAME (x), its names; GEMM, its product. */

/* In the precision asked for, step by step; also where a sink or a key that is none takes part. */
static void
NAME (attend_softmax_general) (const VnAttend *self,
                               gsize           h,
                               T              *line,
                               gsize           n)
{
  VnDType precision = self->precision;
  double max = self->smooth ? 0. : self->sink != NULL ? self->sink[h] : -INFINITY, sum;

  for (gsize j = 0; j < n; j++)
    {
      line[j] = (T) vn_attend_round (precision, line[j]);
      max = line[j] > max ? line[j] : max;
    }
  sum = self->smooth ? exp (-max) : self->sink != NULL ? exp (self->sink[h] - max) : 0.;
  for (gsize j = 0; j < n; j++)
    sum += vn_attend_round (precision, exp (line[j] - max));
  for (gsize j = 0; j < n; j++)
    line[j] = max == -INFINITY ? (T) 0
            : (T) vn_attend_round (precision, vn_attend_round (precision, exp (line[j] - max)) / sum);
}

static gboolean
NAME (attend_is_hopeless) (const T *line,
                           gsize    n)
{
  for (gsize j = 0; j < n; j++)
    if (!(line[j] == (T) -INFINITY))
      return FALSE;
  return TRUE;
}

/* Returns whether the term leaves a key to be looked at. */
static gboolean
NAME (attend_add_term) (const VnScoreTerm *term,
                        gsize              at,
                        T                 *line,
                        gsize              low,
                        gsize              high)
{
  gboolean seen = FALSE;

  if (term->tensor->dtype == VN_DTYPE_F32 || term->tensor->dtype == VN_DTYPE_F64)
    for (gsize j = low; j < high; j++)
      {
        T value = term->tensor->dtype == VN_DTYPE_F32 ? (T) ((const float *) term->tensor->data)[at + j]
                                                      : (T) ((const double *) term->tensor->data)[at + j];

        line[j] += value;
        seen |= value != (T) -INFINITY;
      }
  else if (term->additive)
    for (gsize j = low; j < high; j++)
      {
        line[j] += (T) vn_tensor_get_double (term->tensor, at + j);
        seen = TRUE;
      }
  else
    for (gsize j = low; j < high; j++)
      if (vn_attend_truth (term->tensor, at + j))
        seen = TRUE;
      else if (term->hidden == -INFINITY)
        line[j] = (T) -INFINITY;
      else
        {
          line[j] += (T) term->hidden;
          seen = TRUE;
        }
  return seen;
}

static void
NAME (attend_show) (const VnAttend *self,
                    VnScoreStage    stage,
                    gsize           at,
                    const T        *line)
{
  if (self->scores != NULL && self->stage == stage)
    memcpy ((T *) self->scores + at * self->total, line, self->total * sizeof (T));
}

/* Scores of one query become weights. Only keys from @first to @last were computed. */
static void
NAME (attend_weigh) (const VnAttend *self,
                     gsize           b,
                     gsize           h,
                     gsize           q,
                     T              *line,
                     gsize           first,
                     gsize           last)
{
  gsize low, high, at = (b * self->heads + h) * self->length + q;
  gboolean seen;

  vn_attend_visible (self, b, q, &low, &high);
  NAME (attend_show) (self, VN_SCORES_RAW, at, line);
  if (self->softcap > 0)
    for (gsize j = first; j < last; j++)
      line[j] = (T) (self->softcap * tanh (line[j] / self->softcap));
  NAME (attend_show) (self, VN_SCORES_CAPPED, at, line);
  seen = low < high;
  for (guint i = 0; i < VN_ATTEND_TERMS; i++)
    {
      const VnScoreTerm *term = &self->terms[i];

      if (term->tensor != NULL)
        seen &= NAME (attend_add_term) (term, term->start + b * term->batch + h * term->head + q * term->row, line, low, high);
    }
  for (gsize j = first; j < last; j++)
    if (j < low || j >= high)
      line[j] = (T) -INFINITY;
  NAME (attend_show) (self, VN_SCORES_BIASED, at, line);
  if (!seen || (line[low] == (T) -INFINITY && NAME (attend_is_hopeless) (line + low, high - low)))
    low = high = last;
  else if (self->precision != self->dtype || self->sink != NULL || self->smooth)
    NAME (attend_softmax_general) (self, h, line + low, high - low);
  else
    NAME (attend_softmax) (line + low, high - low);
  for (gsize j = first; j < last; j++)
    if (j < low || j >= high)
      line[j] = 0;
  NAME (attend_show) (self, VN_SCORES_PROBABILITIES, at, line);
}

static void
NAME (attend_block) (const VnAttend *self,
                     gsize           b,
                     gsize           h,
                     gsize           first,
                     gsize           rows,
                     T              *scores)
{
  gsize kv = h / (self->heads / self->kv_heads), low = self->total, high = 0;
  const T *q = (const T *) self->q.data + b * self->q.batch + h * self->q.head + first * self->q.row;
  const T *k = (const T *) self->k.data + b * self->k.batch + kv * self->k.head;
  const T *v = (const T *) self->v.data + b * self->v.batch + kv * self->v.head;
  T *y = (T *) self->y.data + b * self->y.batch + h * self->y.head + first * self->y.row;

  attend_find_window (self, b, first, rows, &low, &high);
  if (low >= high)
    {
      for (gsize i = 0; i < rows; i++)
        memset (y + i * self->y.row, 0, self->v_depth * sizeof (T));
      return;
    }
  GEMM (FALSE, TRUE, rows, high - low, self->depth, (T) self->scale, q, self->q.row, k + low * self->k.row,
        self->k.row, 0, scores + low, self->total);
  for (gsize i = 0; i < rows; i++)
    NAME (attend_weigh) (self, b, h, first + i, scores + i * self->total, low, high);
  GEMM (FALSE, FALSE, rows, self->v_depth, high - low, 1, scores + low, self->total, v + low * self->v.row,
        self->v.row, 0, y, self->y.row);
}
