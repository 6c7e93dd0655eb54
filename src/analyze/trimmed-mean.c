/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean without the smallest and the largest numbers. Those are few: the least number of each block tells which blocks can
 * hold one of them, so that nothing is sorted but these. */
#include "trimmed-mean.h"

#include "vn-memory.h"
#include "vn-multiversion.h"

#include <math.h>
#include <string.h>

#define BLOCK 64
#define LANES 16
#define PART 4      /* in a vector: wider ones are taken to pieces where the instruction set has none */
#define SUMS 8      /* side by side, whatever the processor: so the mean is the same on all */

/* Moves the @k smallest of @n finite numbers to the front. */
static void
trimmed_mean_select (float *numbers,
                     gsize  n,
                     gsize  k)
{
  gssize low = 0, high = (gssize) n - 1;

  while (low < high)
    {
      float pivot = numbers[low + (high - low) / 2];
      gssize i = low, j = high;

      while (i <= j)
        {
          while (numbers[i] < pivot)
            i++;
          while (numbers[j] > pivot)
            j--;
          if (i <= j)
            {
              float swapped = numbers[i];

              numbers[i++] = numbers[j];
              numbers[j--] = swapped;
            }
        }
      if ((gssize) k <= j)
        high = j;
      else if ((gssize) k >= i)
        low = i;
      else
        return;
    }
}

/* The largest of the @k smallest. */
static float
trimmed_mean_get_kth (float *numbers,
                      gsize  n,
                      gsize  k)
{
  float largest = -INFINITY;

  trimmed_mean_select (numbers, n, k);
  for (gsize i = 0; i < k; i++)
    largest = numbers[i] > largest ? numbers[i] : largest;
  return largest;
}

/* The least number of each block, and the greatest with its sign changed; the last block may be smaller. */
static VN_MULTIVERSION void
trimmed_mean_find_ends (const float *numbers,
                        gsize        n,
                        float       *least,
                        float       *most)
{
  for (gsize block = 0; block * BLOCK < n; block++)
    {
      const float *x = numbers + block * BLOCK;
      const gsize n_here = n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK;
      float low[LANES], high[LANES];

      for (guint k = 0; k < LANES; k++)
        low[k] = high[k] = x[0];
      for (gsize i = 0; i + LANES <= n_here; i += LANES)
        for (guint k = 0; k < LANES; k++)
          {
            low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
            high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
          }
      for (gsize i = n_here / LANES * LANES; i < n_here; i++)
        {
          low[0] = x[i] < low[0] ? x[i] : low[0];
          high[0] = x[i] > high[0] ? x[i] : high[0];
        }
      least[block] = low[0];
      most[block] = -high[0];
      for (guint k = 1; k < LANES; k++)
        {
          least[block] = low[k] < least[block] ? low[k] : least[block];
          most[block] = -high[k] < most[block] ? -high[k] : most[block];
        }
    }
}

/* The @k-th smallest of the numbers times @sign, where @ends are the least ones of the blocks: it is at most the @k-th
 * smallest of those, and if it is less, fewer than @k blocks can hold it. */
static float
trimmed_mean_find_kth (const float *numbers,
                       gsize        n,
                       float        sign,
                       const float *ends,
                       gsize        k,
                       float       *room)
{
  const gsize n_blocks = (n + BLOCK - 1) / BLOCK;
  gsize n_below = 0;
  float bound;

  memcpy (room, ends, n_blocks * sizeof *room);
  bound = trimmed_mean_get_kth (room, n_blocks, k);
  for (gsize block = 0; block < n_blocks; block++)
    for (gsize i = block * BLOCK; ends[block] < bound && i < n && i < (block + 1) * BLOCK; i++)
      {
        room[n_below] = sign * numbers[i];
        n_below += room[n_below] < bound;
      }
  return n_below >= k ? trimmed_mean_get_kth (room, n_below, k) : bound;
}

/* Sum of what lies between. */
static VN_MULTIVERSION double
trimmed_mean_sum_between (const float *numbers,
                          gsize        n,
                          float        low,
                          float        high,
                          gsize       *n_between)
{
  typedef float Floats __attribute__ ((vector_size (PART * sizeof (float))));
  typedef gint32 Ints __attribute__ ((vector_size (PART * sizeof (gint32))));
  typedef double Doubles __attribute__ ((vector_size (PART * sizeof (double))));
  Doubles sums[SUMS / PART] = { 0 };
  Ints counts[SUMS / PART] = { 0 };
  double sum = 0;
  gsize i = 0;

  for (; i + SUMS <= n; i += SUMS)
    for (guint v = 0; v < SUMS / PART; v++)
      {
        Floats x;
        Ints between;

        memcpy (&x, numbers + i + v * PART, sizeof x);
        between = (x > low) & (x < high);
        x = (Floats) ((Ints) x & between);
        sums[v] += __builtin_convertvector (x, Doubles);
        counts[v] -= between;
      }
  *n_between = 0;
  for (guint k = 0; k < SUMS; k++)
    {
      sum += sums[k / PART][k % PART];
      *n_between += (gsize) counts[k / PART][k % PART];
    }
  for (; i < n; i++)
    if (numbers[i] > low && numbers[i] < high)
      {
        sum += (double) numbers[i];
        (*n_between)++;
      }
  return sum;
}

static gsize
trimmed_mean_count_up_to (const float *numbers,
                          gsize        n,
                          float        high)
{
  gsize count = 0;

  for (gsize i = 0; i < n; i++)
    count += numbers[i] <= high;
  return count;
}

/**
 * vn_trimmed_mean:
 * @numbers: finite
 * @k: how many are left out at either end: at least 1, less than @n / %BLOCK
 *
 * Returns: the mean of the others; 0 if memory is refused
 */
double
vn_trimmed_mean (const float *numbers,
                 gsize        n,
                 gsize        k)
{
  const gsize n_blocks = (n + BLOCK - 1) / BLOCK;
  g_autofree float *room = NULL;
  float *least, *most, low, high;
  gsize n_between, n_low;
  double sum;

  g_return_val_if_fail (numbers != NULL && k > 0 && k < n_blocks, 0);

  room = vn_try_new (float, 2 * n_blocks + n_blocks + k * BLOCK, NULL);
  if (room == NULL)
    return 0;
  least = room;
  most = room + n_blocks;
  trimmed_mean_find_ends (numbers, n, least, most);
  low = trimmed_mean_find_kth (numbers, n, 1, least, k, room + 2 * n_blocks);
  high = -trimmed_mean_find_kth (numbers, n, -1, most, k, room + 2 * n_blocks);
  if (low == high)
    return (double) low;
  sum = trimmed_mean_sum_between (numbers, n, low, high, &n_between);
  /* those that equal the last one left out belong to the mean as far as they are more */
  if (n_between < n - 2 * k)
    {
      n_low = trimmed_mean_count_up_to (numbers, n, low) - k;
      sum += (double) n_low * (double) low + (double) (n - 2 * k - n_between - n_low) * (double) high;
    }
  return sum / (double) (n - 2 * k);
}
