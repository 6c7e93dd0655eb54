/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which layers most of the error comes from, in the form of the tool of a target that quantizes by itself. */

#include "vn-run.h"

G_BEGIN_DECLS

/* What a tool names of a layer: its node, its result, or its weights. */
typedef enum { VN_LAYER_NAMES_NODES, VN_LAYER_NAMES_TENSORS, VN_LAYER_NAMES_WEIGHTS } VnLayerNames;

/**
 * VnLayerList: a line of vn-layer-lists.def.
 * @targets: ids of targets, by blanks
 * @tool: its name, in every language
 * @ending: of the file, beside the export: ".hailo.py"
 * @template: file of src/interop/layer-lists
 * @before, @after: of a name on its line; then comes, behind @hash, what is told of it
 * @off: begins the line, instead of @before, of a layer that is not chosen
 * @quotes: names are strings, as Python, JSON and YAML read them
 * @unfit: (nullable): characters that no name may have, as they part names there
 * @like: (nullable): settings that make of a recipe of the target one that quantizes as the tool is assumed to, to measure with;
 *   %NULL: the recipe of the target does
 * @measured: (nullable): the same in words, in English as the file is; %NULL: the settings of the run say it
 */
typedef struct
{
  const char   *targets, *tool, *ending, *template;
  VnLayerNames  names;
  const char   *before, *off, *after, *hash, *unfit;
  gboolean      quotes;
  const char   *like, *measured;
} VnLayerList;

/**
 * VnListedLayer:
 * @name: as the list names it; %NULL: it has no name there
 * @node: vn_node_dup_label() of the node in the model as opened
 * @share: of the error of the outputs, 0 to 1
 * @is_chosen: it is one of the worst, which have VN_LISTED_SHARE of that together; the others are comments in the file
 */
typedef struct
{
  char     *name, *node, *op_type;
  double    share;
  gboolean  is_chosen;
} VnListedLayer;

void               vn_listed_layer_free   (VnListedLayer     *self);

const VnLayerList *vn_layer_list_of       (const VnPreset    *target);    /* nullable */
VnRecipe          *vn_layer_list_dup_like (const VnLayerList *self,
                                           const VnRecipe    *recipe);    /* nullable */
GPtrArray         *vn_layer_list_find     (const VnLayerList *self,
                                           VnRun             *exported,
                                           VnRun             *measured);
char              *vn_layer_list_dup_path (const VnLayerList *self,
                                           const char        *model_path);
char              *vn_layer_list_print    (const VnLayerList *self,
                                           GPtrArray         *layers,
                                           const char        *model);

G_END_DECLS
