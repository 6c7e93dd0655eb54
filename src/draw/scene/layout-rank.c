/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank a node belongs to, and what else occupies the ranks: lanes of passing edges and stubs of cut
 * ones. */
#include "vn-graph-layout-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define CUT_NODES 2000
#define CUT_SPAN  40

static gboolean
layout_rank_check_edges (const VnGraphLayoutInput  *input,
                         GError              **error)
{
  for (guint i = 0; i < input->n_edges; i++)
    {
      const VnGraphLayoutEdge *edge = &input->edges[i];

      if (edge->from >= input->n_nodes || edge->to >= input->n_nodes)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                       ngettext ("Edge %u leads from node %u to node %u, but there is only %u node",
                                 "Edge %u leads from node %u to node %u, but there are only %u nodes", input->n_nodes),
                       i, edge->from, edge->to, input->n_nodes);
          return FALSE;
        }
      if (edge->from == edge->to)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                       _("Edge %u leads from node %u to itself; such a graph cannot be run or drawn"),
                       i, edge->from);
          return FALSE;
        }
    }
  return TRUE;
}

/* Compressed rows: edges of node i (as source, or as target) in list[first[i] … first[i + 1]). */
static void
layout_rank_group_edges (const VnGraphLayoutInput  *input,
                         gboolean              by_target,
                         guint               **first,
                         guint               **list)
{
  g_autofree guint *fill = g_new0 (guint, input->n_nodes + 1);

  *first = g_new0 (guint, input->n_nodes + 1);
  *list = g_new0 (guint, input->n_edges + 1);
  for (guint i = 0; i < input->n_edges; i++)
    (*first)[(by_target ? input->edges[i].to : input->edges[i].from) + 1]++;
  for (guint i = 0; i < input->n_nodes; i++)
    (*first)[i + 1] += (*first)[i];
  for (guint i = 0; i < input->n_edges; i++)
    {
      guint node = by_target ? input->edges[i].to : input->edges[i].from;

      (*list)[(*first)[node] + fill[node]++] = i;
    }
}

static gboolean
layout_rank_has_pin (const VnGraphLayoutInput *input,
                     VnGraphLayoutPin          pin)
{
  for (guint i = 0; i < input->n_nodes; i++)
    if (input->nodes[i].pin == pin)
      return TRUE;
  return FALSE;
}

/* Longest path. Fills rank and the order in which nodes were reached; FALSE if some never are: a cycle. */
static gboolean
layout_rank_longest_path (Work         *work,
                          const guint  *out_first,
                          const guint  *out,
                          guint        *sorted,
                          GError      **error)
{
  const VnGraphLayoutInput *input = work->input;
  gboolean has_top = layout_rank_has_pin (input, VN_PIN_TOP);
  g_autofree guint *waiting = g_new0 (guint, input->n_nodes + 1);
  guint head = 0, tail = 0;

  for (guint i = 0; i < input->n_edges; i++)
    waiting[input->edges[i].to]++;
  for (guint i = 0; i < input->n_nodes; i++)
    {
      work->node_rank[i] = has_top && input->nodes[i].pin != VN_PIN_TOP;
      if (waiting[i] == 0)
        sorted[tail++] = i;
    }

  while (head < tail)
    {
      guint node = sorted[head++];

      for (guint i = out_first[node]; i < out_first[node + 1]; i++)
        {
          guint to = input->edges[out[i]].to;

          work->node_rank[to] = MAX (work->node_rank[to], work->node_rank[node] + 1);
          if (--waiting[to] == 0)
            sorted[tail++] = to;
        }
    }
  if (tail == input->n_nodes)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("%u of %u nodes depend on their own outputs (a cycle); such a graph cannot be run or drawn"),
               input->n_nodes - tail, input->n_nodes);
  return FALSE;
}

/* Sources, and chains hanging from nothing but a source, go down to right above what they feed. */
static void
layout_rank_tighten (Work        *work,
                     const guint *in_first,
                     const guint *in,
                     const guint *out_first,
                     const guint *out,
                     const guint *sorted)
{
  const VnGraphLayoutInput *input = work->input;
  g_autofree gboolean *loose = g_new0 (gboolean, input->n_nodes + 1);

  for (guint i = 0; i < input->n_nodes; i++)
    {
      guint node = sorted[i];
      guint n_in = in_first[node + 1] - in_first[node];

      if (n_in == 1)
        {
          guint from = input->edges[in[in_first[node]]].from;

          loose[node] = loose[from] && out_first[from + 1] - out_first[from] == 1;
        }
      else
        {
          loose[node] = n_in == 0 && input->nodes[node].pin == VN_PIN_NONE;
        }
    }
  for (guint i = input->n_nodes; i-- > 0;)
    {
      guint node = sorted[i], lowest = G_MAXUINT;

      for (guint k = out_first[node]; k < out_first[node + 1]; k++)
        lowest = MIN (lowest, work->node_rank[input->edges[out[k]].to]);
      if (loose[node] && lowest != G_MAXUINT)
        work->node_rank[node] = lowest - 1;
    }
}

/* Gives each node a rank such that every edge leads downwards. */
gboolean
vn_graph_layout_rank_nodes (Work    *work,
                            GError **error)
{
  const VnGraphLayoutInput *input = work->input;
  g_autofree guint *in_first = NULL, *in = NULL, *out_first = NULL, *out = NULL, *sorted = NULL;

  if (!layout_rank_check_edges (input, error))
    return FALSE;

  work->node_rank = g_new0 (guint, input->n_nodes + 1);
  sorted = g_new0 (guint, input->n_nodes + 1);
  layout_rank_group_edges (input, TRUE, &in_first, &in);
  layout_rank_group_edges (input, FALSE, &out_first, &out);
  if (!layout_rank_longest_path (work, out_first, out, sorted, error))
    return FALSE;

  layout_rank_tighten (work, in_first, in, out_first, out, sorted);
  for (guint i = 0; i < input->n_nodes; i++)
    if (input->nodes[i].pin != VN_PIN_BOTTOM)
      work->n_ranks = MAX (work->n_ranks, work->node_rank[i] + 1);
  if (!layout_rank_has_pin (input, VN_PIN_BOTTOM))
    return TRUE;
  for (guint i = 0; i < input->n_nodes; i++)
    if (input->nodes[i].pin == VN_PIN_BOTTOM)
      work->node_rank[i] = work->n_ranks;
  work->n_ranks++;
  return TRUE;
}

/* ---- vertices ---- */

static guint
layout_rank_add_vertex (Work       *work,
                        VertexKind  kind,
                        guint       rank,
                        double      width,
                        double      height)
{
  Vertex vertex = { .kind = kind, .rank = rank, .width = width, .height = height };

  g_array_append_val (work->vertices, vertex);
  return work->vertices->len - 1;
}

static void
layout_rank_add_segment (Work  *work,
                         guint  top,
                         guint  bottom)
{
  Segment segment = { top, bottom };

  g_array_append_val (work->segments, segment);
}

static int
layout_rank_compare_edges (gconstpointer a,
                           gconstpointer b,
                           gpointer      user_data)
{
  const Work *work = user_data;
  guint ia = *(const guint *) a, ib = *(const guint *) b;
  const VnGraphLayoutEdge *ea = &work->input->edges[ia], *eb = &work->input->edges[ib];
  guint ra = work->node_rank[ea->to], rb = work->node_rank[eb->to];

  if (ea->from != eb->from)
    return ea->from < eb->from ? -1 : 1;
  if (ea->output != eb->output)
    return ea->output < eb->output ? -1 : 1;
  if (ra != rb)
    return ra < rb ? -1 : 1;
  return ia < ib ? -1 : ia > ib;
}

static void
layout_rank_add_stubs (Work        *work,
                       const guint *edges,
                       guint        n)
{
  for (guint i = 0; i < n; i++)
    {
      const VnGraphLayoutEdge *edge = &work->input->edges[edges[i]];
      StubVertex above = { .edge = edges[i], .n_edges = 1 };

      work->links[edges[i]].is_cut = TRUE;
      above.vertex = layout_rank_add_vertex (work, VERTEX_STUB, work->node_rank[edge->to] - 1, STUB_WIDTH, STUB_HEIGHT);
      layout_rank_add_segment (work, above.vertex, edge->to);
      g_array_append_val (work->stubs, above);
      if (i == 0)
        {
          StubVertex below = { .edge = edges[i], .n_edges = n, .at_source = TRUE };

          below.vertex = layout_rank_add_vertex (work, VERTEX_STUB, work->node_rank[edge->from] + 1, STUB_WIDTH,
                                                 STUB_HEIGHT);
          layout_rank_add_segment (work, edge->from, below.vertex);
          g_array_append_val (work->stubs, below);
        }
    }
}

/* Edges of one tensor, nearest target first: one lane down to the farthest that is not cut. */
static void
layout_rank_add_lane (Work        *work,
                      const guint *edges,
                      guint        n)
{
  guint from = work->input->edges[edges[0]].from;
  guint top = work->node_rank[from], bottom, first = work->vertices->len;

  bottom = work->node_rank[work->input->edges[edges[n - 1]].to];
  for (guint rank = top + 1; rank < bottom; rank++)
    {
      guint vertex = layout_rank_add_vertex (work, VERTEX_LANE, rank, 0, 0);

      layout_rank_add_segment (work, rank == top + 1 ? from : vertex - 1, vertex);
    }
  for (guint i = 0; i < n; i++)
    {
      guint to = work->input->edges[edges[i]].to;
      Link *link = &work->links[edges[i]];

      link->n_lanes = work->node_rank[to] - top - 1;
      link->first_lane = link->n_lanes > 0 ? first : NO_VERTEX;
      link->shared = link->n_lanes > 0 && i + 1 < n;
      layout_rank_add_segment (work, link->n_lanes > 0 ? first + link->n_lanes - 1 : from, to);
    }
}

static void
layout_rank_split_tensor (Work        *work,
                          const guint *edges,
                          guint        n,
                          guint        cut_span)
{
  guint near = 0;

  while (near < n)
    {
      const VnGraphLayoutEdge *edge = &work->input->edges[edges[near]];

      if (work->node_rank[edge->to] - work->node_rank[edge->from] > cut_span)
        break;
      near++;
    }
  if (near > 0)
    layout_rank_add_lane (work, edges, near);
  if (near < n)
    layout_rank_add_stubs (work, edges + near, n - near);
}

static void
layout_rank_fill_neighbours (Work    *work,
                             gboolean upwards,
                             guint  **first,
                             guint  **list)
{
  guint n = work->vertices->len;
  g_autofree guint *fill = g_new0 (guint, n + 1);

  *first = g_new0 (guint, n + 1);
  *list = g_new0 (guint, work->segments->len + 1);
  for (guint i = 0; i < work->segments->len; i++)
    {
      const Segment *segment = &g_array_index (work->segments, Segment, i);

      (*first)[(upwards ? segment->bottom : segment->top) + 1]++;
    }
  for (guint i = 0; i < n; i++)
    (*first)[i + 1] += (*first)[i];
  for (guint i = 0; i < work->segments->len; i++)
    {
      const Segment *segment = &g_array_index (work->segments, Segment, i);
      guint at = upwards ? segment->bottom : segment->top;

      (*list)[(*first)[at] + fill[at]++] = upwards ? segment->top : segment->bottom;
    }
}

/* Makes vertices and segments of nodes and edges. */
void
vn_graph_layout_build_ranks (Work *work)
{
  const VnGraphLayoutInput *input = work->input;
  g_autofree guint *edges = g_new (guint, input->n_edges + 1);
  guint cut_span = input->cut_span;

  if (cut_span == 0)
    cut_span = input->n_nodes > CUT_NODES ? CUT_SPAN : G_MAXUINT;
  work->vertices = g_array_new (FALSE, FALSE, sizeof (Vertex));
  work->segments = g_array_new (FALSE, FALSE, sizeof (Segment));
  work->stubs = g_array_new (FALSE, FALSE, sizeof (StubVertex));
  work->links = g_new0 (Link, input->n_edges + 1);
  for (guint i = 0; i < input->n_nodes; i++)
    layout_rank_add_vertex (work, VERTEX_NODE, work->node_rank[i], input->nodes[i].width, input->nodes[i].height);

  for (guint i = 0; i < input->n_edges; i++)
    edges[i] = i;
  if (input->n_edges > 1)
    g_qsort_with_data (edges, (int) input->n_edges, sizeof (guint), layout_rank_compare_edges, work);
  for (guint i = 0, n; i < input->n_edges; i += n)
    {
      const VnGraphLayoutEdge *edge = &input->edges[edges[i]];

      for (n = 1; i + n < input->n_edges; n++)
        {
          const VnGraphLayoutEdge *next = &input->edges[edges[i + n]];

          if (next->from != edge->from || next->output != edge->output)
            break;
        }
      layout_rank_split_tensor (work, edges + i, n, cut_span);
    }
  layout_rank_fill_neighbours (work, TRUE, &work->up_first, &work->up);
  layout_rank_fill_neighbours (work, FALSE, &work->down_first, &work->down);
}
