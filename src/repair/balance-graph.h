/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which channels of a network can be scaled together without a change of what it computes. */
#pragma once

#include "vn-recipe.h"

G_BEGIN_DECLS

/* What becomes of the factors of a tensor's channels at a node that reads it. */
typedef enum
{
  VN_BALANCE_PINS,       /* nothing can take them: there must be none */
  VN_BALANCE_PASSES,     /* its result has them, too */
  VN_BALANCE_JOINS,      /* its result has those of all that it joins, one behind the other */
  VN_BALANCE_SPLITS,     /* its results have parts of them */
  VN_BALANCE_SHUFFLES,   /* the result two nodes behind has them in another order */
  VN_BALANCE_WEIGHT,     /* its weights take them */
  VN_BALANCE_CONSTANT,   /* what it adds is divided by them */
  VN_BALANCE_RESTORES,   /* it must read the tensor as it was */
} VnBalanceRole;

/**
 * VnBalanceChannel: channels with one factor.
 * @parent: index of a channel that has the same factor; its own: it stands for all
 * @unit: what is balanced as one: index of a unit, or %G_MAXUINT
 * @largest: largest number of any of them, as a share of the largest of its tensor; 0: nothing was ever seen
 * @weight: the same of the weights that read them, as a share of their row; 0: no weights that add channels up
 * @widest: id of the value with the most channels of which it is one
 * @factor: what they are divided by
 */
typedef struct
{
  guint    parent, unit, widest;
  gboolean pinned;
  double   largest, weight, factor;
} VnBalanceChannel;

/**
 * VnBalanceGate: a function of one tensor, as x sigmoid (x), that factors do not pass through.
 * @nodes: of VnNode, from the first to the last
 */
typedef struct
{
  const VnValue *input, *output;
  GPtrArray     *nodes;
} VnBalanceGate;

/**
 * VnBalanceWriter: the constants of a node that what it writes is proportional to.
 * @weight: input
 * @bias: input, or -1
 * @inner: how many numbers of the weight lie between those of a channel and of the next
 */
typedef struct
{
  int   weight, bias;
  gsize inner;
} VnBalanceWriter;

/**
 * VnBalanceGraph:
 * @first, @n: by VnValue.id: channels of a value in @channels; @n 0: none
 * @axis: by VnValue.id: which axis holds channels
 * @heads: by VnValue.id: which axis holds groups of as many channels as @axis has, as attention cuts them; -1: none
 * @whole: (nullable) by VnValue.id: the tensor whose channels these are where @heads holds groups: it has the same numbers
 * @gates: of VnBalanceGate: computed in float, on the tensor as it was; what they write is divided anew
 * @n_units: how many can be balanced on their own
 */
typedef struct
{
  const VnGraph *graph;
  GHashTable    *captured;
  gboolean       restores;
  GArray        *channels;
  guint         *first, *n;
  int           *axis, *heads;
  const VnValue **whole;
  GPtrArray     *gates;
  GHashTable    *between;    /* set of VnNode: those of @gates */
  guint          n_units;
} VnBalanceGraph;

VnBalanceGraph   *vn_balance_graph_new           (const VnGraph         *graph,
                                                  const VnRecipe        *recipe);
void              vn_balance_graph_free          (VnBalanceGraph        *self);
VnBalanceRole     vn_balance_graph_get_role      (const VnBalanceGraph  *self,
                                                  const VnNode          *node,
                                                  guint                  input);
VnBalanceChannel *vn_balance_graph_get_channel   (const VnBalanceGraph  *self,
                                                  const VnValue         *value,
                                                  guint                  channel);
guint             vn_balance_graph_get_unit      (const VnBalanceGraph  *self,
                                                  const VnValue         *value);
gboolean          vn_balance_graph_is_quantized  (const VnBalanceGraph  *self,
                                                  const VnValue         *value);
void              vn_balance_graph_number_units  (VnBalanceGraph        *self);
gboolean         *vn_balance_list_left_alone     (const VnRecipe        *recipe,
                                                  const VnGraph         *graph);

/* ---- balance-axes.c ---- */

int              *vn_balance_find_axes           (const VnGraph         *graph);

/* ---- balance-roles.c ---- */

guint             vn_balance_count_channels      (const VnValue         *value,
                                                  int                    axis);
guint             vn_balance_graph_count         (const VnBalanceGraph  *self,
                                                  const VnValue         *value);
const VnNode     *vn_balance_find_unshuffled     (const VnNode          *node,
                                                  gsize                 *groups);
VnBalanceRole     vn_balance_find_role           (const VnBalanceGraph  *self,
                                                  const VnNode          *node,
                                                  guint                  input,
                                                  const VnValue         *value);

/* ---- balance-writers.c ---- */

int               vn_balance_find_scale          (const VnNode          *node);
gboolean          vn_balance_find_writer         (const VnValue         *value,
                                                  int                    axis,
                                                  VnBalanceWriter       *writer);
gboolean          vn_balance_is_written_by_layer (const VnValue         *value,
                                                  int                    axis);

/* ---- balance-heads.c ---- */

void              vn_balance_graph_find_heads    (VnBalanceGraph        *self);
gboolean          vn_balance_is_in_heads         (const VnBalanceGraph  *self,
                                                  const VnNode          *node,
                                                  const VnValue         *value);
VnBalanceRole     vn_balance_find_role_of_heads  (const VnBalanceGraph  *self,
                                                  const VnNode          *node,
                                                  guint                  input,
                                                  const VnValue         *value);

/* ---- balance-gates.c ---- */

void              vn_balance_graph_find_gates    (VnBalanceGraph        *self);
const VnBalanceGate *vn_balance_graph_find_gate  (const VnBalanceGraph  *self,
                                                  const VnValue         *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBalanceGraph, vn_balance_graph_free)

G_END_DECLS
