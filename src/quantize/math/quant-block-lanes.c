/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of blocks into lanes: number k of lane l is at k * LANES + l. */
#include "quant-block-lanes.h"

#include <string.h>

/*< private >
 * vn_block_lanes_load:
 * @x: the tensor
 * @first: the block in the first lane; blocks are counted as their scales lie
 * @n_blocks: at most LANES
 * @n: numbers of a lane, a block or more
 * @lanes: (out): LANES x @n, with zeros behind the ends of blocks and for blocks there are not
 */
void
vn_block_lanes_load (const VnBlockCut *cut,
                     const float      *x,
                     gsize             first,
                     gsize             n_blocks,
                     gsize             n,
                     float            *lanes)
{
  g_return_if_fail (cut != NULL && lanes != NULL && n_blocks <= LANES && n >= cut->block);

  memset (lanes, 0, n * LANES * sizeof *lanes);
  for (gsize l = 0; l < n_blocks; l++)
    {
      const gsize b = first + l, row = b / cut->inner, begin = row % cut->n_blocks * cut->block;
      const float *from = x + (row / cut->n_blocks * cut->length + begin) * cut->inner + b % cut->inner;

      for (gsize k = 0; k < MIN (cut->block, cut->length - begin); k++)
        lanes[k * LANES + l] = from[k * cut->inner];
    }
}

/*< private >
 * vn_block_lanes_load_weights:
 * @weights: (nullable): by place along the axis of the blocks; %NULL: all 1
 *
 * The same of weights of the numbers. What fills a block up counts nothing.
 */
void
vn_block_lanes_load_weights (const VnBlockCut *cut,
                             const float      *weights,
                             gsize             first,
                             gsize             n_blocks,
                             gsize             n,
                             float            *lanes)
{
  g_return_if_fail (cut != NULL && lanes != NULL && n_blocks <= LANES && n >= cut->block);

  memset (lanes, 0, n * LANES * sizeof *lanes);
  for (gsize l = 0; l < n_blocks; l++)
    {
      const gsize begin = (first + l) / cut->inner % cut->n_blocks * cut->block;

      for (gsize k = 0; k < MIN (cut->block, cut->length - begin); k++)
        lanes[k * LANES + l] = weights != NULL ? weights[begin + k] : 1;
    }
}
