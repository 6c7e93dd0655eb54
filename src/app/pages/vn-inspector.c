/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inspector: shows the selected node, several of them, a tensor, or the model as a whole. */
#include "vn-inspector.h"

#include "inspector-sections.h"
#include "vn-compare-source.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-operator-popover.h"
#include "vn-range-editor.h"
#include "vn-rows.h"
#include "vn-tensor-panel.h"

struct _VnInspector
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GtkWidget    *ranges;        /* in the present sections, or NULL */
  gboolean      waits;         /* sections are to be made anew once nothing is being moved */
  gboolean      region_waits;  /* the edges of the selected nodes are shown after the other sections */
  VnTensorReader *reader;      /* nullable: samples, for tensors */
  VnRun        *reader_result; /* nullable: that @reader is for */

  GtkLabel     *title, *subtitle;
  GtkWidget    *walk, *sections;
  GtkMenuButton *about;
};

G_DEFINE_FINAL_TYPE (VnInspector, vn_inspector, ADW_TYPE_BIN)

static void inspector_rebuild (VnInspector *self);

static void
inspector_settled (VnInspector *self)
{
  if (self->waits)
    inspector_rebuild (self);
}

static void
inspector_append (VnInspector *self,
                  GtkWidget   *section)
{
  if (section != NULL)
    gtk_box_append (GTK_BOX (self->sections), section);
}

/* Histogram with the range, and the ranges of channels. */
static void
inspector_add_activations (VnInspector       *self,
                           VnInspectedTensor *tensor)
{
  inspector_append (self, vn_inspector_activations (self->document, tensor, &self->ranges));
  inspector_append (self, vn_inspector_channels (self->document, tensor));
  if (self->ranges != NULL)
    g_signal_connect_object (self->ranges, "settled", G_CALLBACK (inspector_settled), self, G_CONNECT_SWAPPED);
}

static void
inspector_show_node (VnInspector *self,
                     VnNodeItem  *item)
{
  g_autoptr(VnInspectedTensor) tensor = vn_inspected_tensor_new_for_node (self->document, item);
  guint n = g_list_model_get_n_items (vn_document_get_nodes (self->document));
  g_autofree char *subtitle = g_strdup_printf (_("%s · node %u of %u"), item->name, item->index + 1, n);

  gtk_label_set_label (self->title, item->node->op_type);
  gtk_label_set_label (self->subtitle, subtitle);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), item->label);
  inspector_append (self, vn_inspector_unsupported (item->node));
  inspector_append (self, vn_inspector_error_card (self->document, item));
  inspector_append (self, vn_inspector_cures (self->document, item));
  inspector_append (self, vn_inspector_actions (vn_dtype_get_bits (item->precision) != 16, !item->excluded,
                                                item->has_rule));
  inspector_append (self, vn_inspector_output (self->document, item));
  if (tensor != NULL)
    inspector_add_activations (self, tensor);
  inspector_append (self, vn_inspector_origins (self->document, item));
  inspector_append (self, vn_inspector_bodies (item->node, vn_bench_get_shown (VN_BENCH (self->document))));
  inspector_append (self, vn_inspector_weights (self->document, item));
  inspector_append (self, vn_inspector_attributes (item->node));
  inspector_append (self, vn_inspector_values (self->document, _("Inputs"), item->node->inputs));
  inspector_append (self, vn_inspector_values (self->document, _("Outputs"), item->node->outputs));
  inspector_append (self, vn_inspector_description (item->node->doc));
}

static const VnNode *
inspector_get_node (VnInspector *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));

  if (model == NULL || vn_document_get_tensor (self->document) != NULL || gtk_bitset_get_size (selection) != 1 ||
      gtk_bitset_get_minimum (selection) >= model->graph->nodes->len)
    return NULL;
  return g_ptr_array_index (model->graph->nodes, gtk_bitset_get_minimum (selection));
}

static void
inspector_make_about (GtkMenuButton *button,
                      gpointer       data)
{
  const VnNode *node = inspector_get_node (data);

  gtk_menu_button_set_popover (button, node != NULL ? vn_operator_popover_new (node) : NULL);
}

/* The samples are opened once for all tensors of a run. */
static VnTensorReader *
inspector_get_reader (VnInspector *self,
                      VnRun       *result)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  guint n_calibration;

  if (self->reader != NULL && self->reader_result == result)
    return self->reader;
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->reader_result, vn_run_unref);
  data = vn_compare_source_dup_data (self->document, result, &shapes, &n_calibration);
  self->reader = vn_tensor_reader_new (data, shapes, n_calibration);
  self->reader_result = vn_run_ref (result);
  return self->reader;
}

static const char *
inspector_explain_no_values (VnInspector *self,
                             gboolean     has_result)
{
  if (has_result)
    return _("One of the two models has no such tensor: it was folded into another.");
  if (vn_quantize_count_quantized (vn_bench_get_model (VN_BENCH (self->document))) > 0)
    return _("This model is already quantized: Compare shows its values next to those of its float model.");
  return _("Float and quantized values are shown after quantization.");
}

static void
inspector_add_values (VnInspector       *self,
                      VnInspectedTensor *tensor)
{
  VnRun *result = vn_bench_get_confirmed (VN_BENCH (self->document));
  GtkWidget *panel = result != NULL ? vn_tensor_panel_new (self->document, inspector_get_reader (self, result), tensor) : NULL;

  if (panel != NULL)
    inspector_append (self, vn_section_new (_("Values"), vn_bench_is_stale (VN_BENCH (self->document))
                                            ? _("of the last full run") : NULL, panel));
  else
    inspector_append (self, vn_section_new (_("Values"), NULL,
                                            vn_label_new (inspector_explain_no_values (self, result != NULL), "dim-label")));
}

static void
inspector_show_tensor (VnInspector *self,
                       const char  *name)
{
  g_autoptr(VnInspectedTensor) tensor = vn_inspected_tensor_new_for_value (self->document, name);
  const VnValue *value = vn_graph_find_value (vn_bench_get_model (VN_BENCH (self->document))->graph, name);
  g_autofree char *way = vn_inspector_dup_way (self->document, value);

  gtk_label_set_label (self->title, name);
  gtk_label_set_label (self->subtitle, way);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), way);
  if (value != NULL && vn_value_get_constant (value) != NULL)
    {
      inspector_append (self, vn_inspector_constant (self->document, value));
      inspector_append (self, vn_inspector_tensor_ends (self->document, value));
      return;
    }
  inspector_append (self, vn_inspector_tensor (self->document, tensor));
  inspector_add_values (self, tensor);
  inspector_add_activations (self, tensor);
  inspector_append (self, vn_inspector_tensor_ends (self->document, value));
}

static void
inspector_show_region (VnInspector *self)
{
  if (!self->region_waits)
    return;
  self->region_waits = FALSE;
  inspector_append (self, vn_inspector_region (self->document, vn_document_get_selection (self->document)));
}

static void
inspector_show_many (VnInspector *self,
                     GtkBitset   *selection,
                     guint        n)
{
  g_autofree char *title = g_strdup_printf (ngettext ("%u Node", "%u Nodes", n), n);

  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, _("selected together"));
  inspector_append (self, vn_inspector_actions (TRUE, TRUE, TRUE));
  inspector_append (self, vn_inspector_shared (self->document, selection));
  self->region_waits = TRUE;
  vn_later_frame (GTK_WIDGET (self), self->document, (VnLaterFunc) inspector_show_region);
}

/* Nothing is selected: the model as a whole. */
static void
inspector_show_model (VnInspector *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  g_autofree char *title = vn_bench_dup_title (VN_BENCH (self->document));
  g_autoptr(GPtrArray) inputs = g_ptr_array_new ();

  /* old files list their weights among the inputs */
  for (guint i = 0; i < model->graph->inputs->len; i++)
    if (((VnValue *) g_ptr_array_index (model->graph->inputs, i))->initializer == NULL)
      g_ptr_array_add (inputs, g_ptr_array_index (model->graph->inputs, i));
  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, _("Select a node to see its details"));
  inspector_append (self, vn_inspector_model (model));
  inspector_append (self, vn_inspector_values (self->document, _("Inputs"), inputs));
  inspector_append (self, vn_inspector_values (self->document, _("Outputs"), model->graph->outputs));
  inspector_append (self, vn_inspector_file (model));
  inspector_append (self, vn_inspector_description (model->doc));
  inspector_append (self, vn_inspector_description (model->graph->doc));
  inspector_append (self, vn_inspector_metadata (model));
}

/* Whose name begins so was edited in place: it gets the focus back. */
#define EDITED "edit-"

static char *
inspector_dup_focus (VnInspector *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (focus == NULL || !gtk_widget_is_ancestor (focus, self->sections))
    return NULL;
  for (; focus != self->sections; focus = gtk_widget_get_parent (focus))
    if (g_str_has_prefix (gtk_widget_get_name (focus), EDITED))
      return g_strdup (gtk_widget_get_name (focus));
  return NULL;
}

static gboolean
inspector_give_focus (GtkWidget  *widget,
                      const char *name)
{
  if (g_str_equal (gtk_widget_get_name (widget), name))
    return gtk_widget_grab_focus (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (inspector_give_focus (child, name))
      return TRUE;
  return FALSE;
}

static void
inspector_clear (VnInspector *self)
{
  self->ranges = NULL;
  self->waits = self->region_waits = FALSE;
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), NULL);
  vn_box_clear (self->sections);
}

static void
inspector_fill (VnInspector *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint n = (guint) gtk_bitset_get_size (selection);

  if (vn_document_get_tensor (self->document) != NULL)
    inspector_show_tensor (self, vn_document_get_tensor (self->document));
  else if (n == 0)
    inspector_show_model (self);
  else if (n > 1)
    inspector_show_many (self, selection, n);
  else
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (self->document),
                                                          gtk_bitset_get_minimum (selection));

      inspector_show_node (self, item);
    }
}

/* What somebody holds stays until it is let go. */
static void
inspector_rebuild (VnInspector *self)
{
  g_autofree char *focus = NULL;

  if (self->ranges != NULL && vn_range_editor_is_moving (VN_RANGE_EDITOR (self->ranges)))
    {
      self->waits = TRUE;
      return;
    }
  focus = inspector_dup_focus (self);
  inspector_clear (self);
  gtk_widget_set_visible (self->walk, vn_bench_get_model (VN_BENCH (self->document)) != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->about), inspector_get_node (self) != NULL);
  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  inspector_fill (self);
  if (focus != NULL)
    inspector_give_focus (self->sections, focus);
}

static void
inspector_changed (VnInspector *self)
{
  vn_later (self, self->document, (VnLaterFunc) inspector_rebuild);
}

/* Another node, another model: what is held is let go, nothing of the one before stays. */
static void
inspector_turn (VnInspector *self)
{
  inspector_clear (self);
  inspector_changed (self);
}

/**
 * vn_inspector_set_document:
 */
void
vn_inspector_set_document (VnInspector *self,
                           VnDocument  *document)
{
  g_return_if_fail (VN_IS_INSPECTOR (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  static const char * const turns[] = { "changed::model", "selection-changed" };
  static const char * const signals[] = { "changed::run", "changed::recipe", "changed::expected" };

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    g_signal_connect_object (document, turns[i], G_CALLBACK (inspector_turn), self, G_CONNECT_SWAPPED);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (inspector_changed), self, G_CONNECT_SWAPPED);
  inspector_rebuild (self);
}

/**
 * vn_inspector_show_about:
 *
 * Shows what the operator of the selected node does, if one is selected.
 */
void
vn_inspector_show_about (VnInspector *self)
{
  g_return_if_fail (VN_IS_INSPECTOR (self));

  if (inspector_get_node (self) == NULL)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self->about), TRUE);
  gtk_menu_button_popup (self->about);
}

static void
vn_inspector_dispose (GObject *object)
{
  VnInspector *self = VN_INSPECTOR (object);

  g_clear_object (&self->document);
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->reader_result, vn_run_unref);
  self->ranges = NULL;
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_INSPECTOR);
  G_OBJECT_CLASS (vn_inspector_parent_class)->dispose (object);
}

static void
vn_inspector_class_init (VnInspectorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_inspector_dispose;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "win.copy", "s", "name");
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-inspector.ui");
  gtk_widget_class_bind_template_child (widget_class, VnInspector, title);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, subtitle);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, walk);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, about);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, sections);
}

static void
vn_inspector_init (VnInspector *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_menu_button_set_create_popup_func (self->about, inspector_make_about, self, NULL);
}
