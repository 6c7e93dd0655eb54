/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that a document has to be compared: the float model, what the quantized network is now, runs, files that were opened. */
#include "vn-compare-sources.h"

static VnCompareSource *
compare_sources_find (GListModel    *known,
                      VnCompareKind  kind,
                      VnProjectRun  *run)
{
  for (guint i = 0; i < g_list_model_get_n_items (known); i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (known, i);

      if (source->kind == kind && (run == NULL || g_str_equal (source->run->id, run->id)))
        return g_steal_pointer (&source);
    }
  return NULL;
}

static void
compare_sources_add (GPtrArray     *list,
                     VnDocument    *document,
                     GListModel    *known,
                     VnCompareKind  kind,
                     VnProjectRun  *run)
{
  VnCompareSource *source = compare_sources_find (known, kind, run);

  if (source != NULL)
    vn_compare_source_update (source, run);
  g_ptr_array_add (list, source != NULL ? source : vn_compare_source_new (document, kind, run, NULL));
}

/* The newest run first; the last one is what the quantized network is now. */
static void
compare_sources_add_runs (GPtrArray  *list,
                          VnDocument *document,
                          GListModel *known)
{
  GPtrArray *runs = vn_bench_get_runs (VN_BENCH (document));
  VnRun *now = vn_bench_get_confirmed (VN_BENCH (document));

  for (guint i = runs->len; i > 0; i--)
    {
      VnProjectRun *run = g_ptr_array_index (runs, i - 1);

      if (now == NULL || !vn_bench_is_shown (VN_BENCH (document), run))
        compare_sources_add (list, document, known, VN_COMPARE_RUN, run);
    }
}

static void
compare_sources_add_files (GPtrArray  *list,
                           GListModel *known)
{
  for (guint i = 0; i < g_list_model_get_n_items (known); i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (known, i);

      if (source->kind == VN_COMPARE_FILE)
        g_ptr_array_add (list, g_steal_pointer (&source));
    }
}

/**
 * vn_compare_sources_list:
 * @document: what is compared
 * @known: of #VnCompareSource: the ones there are; those that still hold are taken over with what was loaded for them
 *
 * Returns: (transfer container): of #VnCompareSource: what can be chosen, in the order in which lists show it, with the entry
 *   that opens a file at last; empty without a model
 */
GPtrArray *
vn_compare_sources_list (VnDocument *document,
                         GListModel *known)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func (g_object_unref);

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && G_IS_LIST_MODEL (known), NULL);

  if (vn_bench_get_model (VN_BENCH (document)) == NULL)
    return g_steal_pointer (&list);
  compare_sources_add (list, document, known, VN_COMPARE_FLOAT, NULL);
  if (vn_bench_get_confirmed (VN_BENCH (document)) != NULL)
    compare_sources_add (list, document, known, VN_COMPARE_NOW, NULL);
  compare_sources_add_runs (list, document, known);
  compare_sources_add_files (list, known);
  compare_sources_add (list, document, known, VN_COMPARE_OPEN, NULL);
  return g_steal_pointer (&list);
}

/**
 * vn_compare_sources_get_float:
 * @list: of vn_compare_sources_list()
 *
 * Returns: (transfer none) (nullable): the float model; %NULL in an empty list
 */
VnCompareSource *
vn_compare_sources_get_float (GPtrArray *list)
{
  g_return_val_if_fail (list != NULL, NULL);

  return list->len > 0 ? g_ptr_array_index (list, 0) : NULL;
}

/**
 * vn_compare_sources_get_present:
 * @list: of vn_compare_sources_list()
 *
 * Returns: (transfer none) (nullable): what is beside the float network when nothing was chosen: the result, or in a project that
 *   was opened the run that the other pages show, or the newest
 */
VnCompareSource *
vn_compare_sources_get_present (GPtrArray  *list,
                                VnDocument *document)
{
  VnCompareSource *newest = NULL;

  g_return_val_if_fail (list != NULL && VN_IS_DOCUMENT (document), NULL);

  for (guint i = 0; i < list->len; i++)
    {
      VnCompareSource *source = g_ptr_array_index (list, i);

      if (source->kind == VN_COMPARE_NOW || (source->kind == VN_COMPARE_RUN &&
                                             vn_bench_is_shown (VN_BENCH (document), source->run)))
        return source;
      if (newest == NULL && source->kind == VN_COMPARE_RUN)
        newest = source;
    }
  return newest;
}
