/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the inspector that edit a tensor in place: precision, range method, range. */
#include "inspector-tensor.h"

#include "vn-badge.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#define KEY "vn-inspector-edit"

/* A row and what it edits. */
typedef struct
{
  VnDocument        *document;    /* borrowed: it outlives the inspector */
  VnInspectedTensor *tensor;
  guint              bits[8];     /* of a row of precisions: by choice */
  guint              n;
  GtkEditable       *ends[2];     /* of a row of a range */
  char              *shown[2];    /* what stands in them unless somebody writes */
} Edit;

static void
inspector_edit_free (gpointer data)
{
  Edit *self = data;

  vn_inspected_tensor_free (self->tensor);
  g_free (self->shown[0]);
  g_free (self->shown[1]);
  g_free (self);
}

static Edit *
inspector_edit_attach (GtkWidget         *row,
                       VnDocument        *document,
                       VnInspectedTensor *tensor,
                       const char        *name)
{
  Edit *self = g_new0 (Edit, 1);

  self->document = document;
  self->tensor = vn_inspected_tensor_copy (tensor);
  g_object_set_data_full (G_OBJECT (row), KEY, self, inspector_edit_free);
  gtk_widget_set_name (row, name);
  return self;
}

/* ---- precision ---- */

static guint
inspector_edit_get_bits (VnDType dtype)
{
  if (vn_dtype_is_integer (dtype))
    return (guint) vn_dtype_get_bits (dtype);
  return dtype == VN_DTYPE_F32 ? VN_BITS_FLOAT : VN_BITS_OF_TARGET;
}

/* What a rule says holds, also while its effect is not measured yet. */
static guint
inspector_edit_find_bits (VnDocument        *document,
                          VnInspectedTensor *tensor)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (document));
  const VnOverride *rule = vn_bench_find_tensor_rule (VN_BENCH (document), tensor->name);
  VnDType dtype;

  for (guint i = recipe->overrides->len; tensor->role == VN_TENSOR_ACTIVATION && tensor->item != NULL && i > 0; i--)
    {
      const VnOverride *other = g_ptr_array_index (recipe->overrides, i - 1);

      if (other->enabled && g_strcmp0 (other->pattern, tensor->item->label) == 0 &&
          (other->exclude || other->activation != VN_DTYPE_UNDEFINED))
        return other->exclude ? VN_BITS_FLOAT : inspector_edit_get_bits (other->activation);
    }
  dtype = rule != NULL ? (tensor->role == VN_TENSOR_ACTIVATION ? rule->activation : rule->weight) : VN_DTYPE_UNDEFINED;
  if (rule != NULL && (rule->exclude || dtype != VN_DTYPE_UNDEFINED))
    return rule->exclude ? VN_BITS_FLOAT : inspector_edit_get_bits (dtype);
  if (tensor->plan != NULL)
    return tensor->plan->quantized ? inspector_edit_get_bits (tensor->plan->dtype) : VN_BITS_FLOAT;
  if (tensor->item != NULL && tensor->item->excluded)
    return VN_BITS_FLOAT;
  dtype = tensor->role == VN_TENSOR_ACTIVATION ? recipe->activation : recipe->weight;
  return inspector_edit_get_bits (dtype);
}

static void
inspector_edit_add_choice (Edit          *self,
                           GtkStringList *titles,
                           guint          bits,
                           const char    *title)
{
  self->bits[self->n++] = bits;
  gtk_string_list_append (titles, title);
}

/* The precisions that can be asked for; the present one is among them, whatever it is. */
static void
inspector_edit_fill_choices (Edit          *self,
                             GtkStringList *titles,
                             guint          now)
{
  gboolean is_bias = self->tensor->role == VN_TENSOR_BIAS;

  if (self->tensor->role == VN_TENSOR_WEIGHT || now == 4)
    inspector_edit_add_choice (self, titles, 4, _("4-bit"));
  if (!is_bias)
    {
      inspector_edit_add_choice (self, titles, 8, _("8-bit"));
      inspector_edit_add_choice (self, titles, 16, _("16-bit"));
    }
  if ((now != 4 && now != 8 && now != 16 && now != VN_BITS_FLOAT) || (is_bias && now != VN_BITS_FLOAT))
    {
      g_autofree char *title = g_strdup_printf (_("%u-bit"), now);
      const VnTensorPlan *plan = self->tensor->plan;

      inspector_edit_add_choice (self, titles, now, now != 0 ? title : plan != NULL
                                 ? vn_dtype_get_name (plan->dtype) : _("Target default"));
    }
  inspector_edit_add_choice (self, titles, VN_BITS_FLOAT, _("Float"));
  inspector_edit_add_choice (self, titles, VN_BITS_OF_TARGET, _("Target default"));
}

static guint
inspector_edit_find_choice (Edit  *self,
                            guint  bits)
{
  for (guint i = 0; i < self->n; i++)
    if (self->bits[i] == bits)
      return i;
  return GTK_INVALID_LIST_POSITION;
}

static void
inspector_edit_precision_chosen (AdwComboRow *row)
{
  Edit *self = g_object_get_data (G_OBJECT (row), KEY);
  guint i = adw_combo_row_get_selected (row);

  if (i < self->n)
    vn_inspected_tensor_set_bits (self->tensor, self->document, self->bits[i]);
}

/* @badge: (nullable): a type that stands before what is chosen */
static void
inspector_edit_set_up_choice (GtkSignalListItemFactory *factory,
                              GtkListItem              *item,
                              gpointer                  badge)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *label = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  if (badge != NULL)
    {
      GtkWidget *mark = vn_badge_new ();

      vn_badge_set (mark, (VnDType) GPOINTER_TO_INT (badge));
      gtk_box_append (GTK_BOX (box), mark);
    }
  gtk_box_append (GTK_BOX (box), label);
  gtk_list_item_set_child (item, box);
}

static void
inspector_edit_bind_choice (GtkSignalListItemFactory *factory,
                            GtkListItem              *item)
{
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_last_child (gtk_list_item_get_child (item))),
                       gtk_string_object_get_string (GTK_STRING_OBJECT (gtk_list_item_get_item (item))));
}

/* What is chosen takes the room that there is: libadwaita cuts it after some twenty letters. */
static GtkWidget *
inspector_edit_make_combo (const char *title,
                           VnDType     badge)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr(GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  g_signal_connect (factory, "setup", G_CALLBACK (inspector_edit_set_up_choice), GINT_TO_POINTER ((int) badge));
  g_signal_connect (factory, "bind", G_CALLBACK (inspector_edit_bind_choice), NULL);
  adw_combo_row_set_factory (ADW_COMBO_ROW (row), factory);
  return row;
}

/**
 * vn_inspector_precision_row:
 * @title: of the row
 *
 * Returns: (transfer floating): a row that shows the precision of @tensor and makes a rule of another one
 */
GtkWidget *
vn_inspector_precision_row (VnDocument        *document,
                            VnInspectedTensor *tensor,
                            const char        *title)
{
  static const char * const names[] = { "edit-precision", "edit-weight", "edit-bias" };
  g_autoptr(GtkStringList) titles = gtk_string_list_new (NULL);
  GtkWidget *row;
  Edit *self;
  guint now;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL && title != NULL, NULL);

  row = inspector_edit_make_combo (title, tensor->plan == NULL ? VN_DTYPE_UNDEFINED : tensor->plan->quantized
                                   ? tensor->plan->dtype : VN_DTYPE_F32);
  self = inspector_edit_attach (row, document, tensor, names[tensor->role]);
  now = inspector_edit_find_bits (document, tensor);
  inspector_edit_fill_choices (self, titles, now);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (titles));
  vn_combo_row_show_whole (ADW_COMBO_ROW (row));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), inspector_edit_find_choice (self, now));
  gtk_widget_set_tooltip_text (row, tensor->role == VN_TENSOR_ACTIVATION ? _("Output precision; a change creates a "
                                                                             "rule that can be undone")
                                                                         : tensor->name);
  g_signal_connect (row, "notify::selected", G_CALLBACK (inspector_edit_precision_chosen), NULL);
  return row;
}

/* ---- method ---- */

static void
inspector_edit_method_chosen (AdwComboRow *row)
{
  Edit *self = g_object_get_data (G_OBJECT (row), KEY);
  guint i = adw_combo_row_get_selected (row), n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  if (i != GTK_INVALID_LIST_POSITION)
    vn_inspected_tensor_set_method (self->tensor, self->document, i < n ? methods[i]->id : NULL);
}

static const char *
inspector_edit_find_method (VnDocument        *document,
                            VnInspectedTensor *tensor)
{
  const VnOverride *rule = vn_bench_find_tensor_rule (VN_BENCH (document), tensor->name);

  if (rule != NULL && rule->method != NULL)
    return rule->method;
  return tensor->plan != NULL && tensor->plan->method != NULL
         ? tensor->plan->method : vn_bench_get_recipe (VN_BENCH (document))->method;
}

/**
 * vn_inspector_method_row:
 *
 * Returns: (transfer floating) (nullable): a row that shows which method chose the range of @tensor and makes a rule of another
 *   one; %NULL if its range is none of its own
 */
GtkWidget *
vn_inspector_method_row (VnDocument        *document,
                         VnInspectedTensor *tensor)
{
  g_autoptr(GtkStringList) titles = NULL;
  GtkWidget *row;
  const char *now;
  guint n, selected = GTK_INVALID_LIST_POSITION;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL, NULL);

  if (!vn_inspected_tensor_can_range (tensor))
    return NULL;
  now = inspector_edit_find_method (document, tensor);
  if (vn_range_method_find (now, NULL) == NULL)
    return vn_row_new (_("Method"), g_str_equal (now, "fixed") ? _("fixed by the operator") : now);
  titles = gtk_string_list_new (NULL);
  for (guint i = 0; i < n; i++)
    {
      gtk_string_list_append (titles, _(methods[i]->title));
      if (g_str_equal (methods[i]->id, now))
        selected = i;
    }
  gtk_string_list_append (titles, _("Target default"));
  row = inspector_edit_make_combo (_("Method"), VN_DTYPE_UNDEFINED);
  inspector_edit_attach (row, document, tensor, "edit-method");
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (titles));
  vn_combo_row_show_whole (ADW_COMBO_ROW (row));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), selected);
  gtk_widget_set_tooltip_text (row, _("Range method; a change creates a rule that can be undone"));
  g_signal_connect (row, "notify::selected", G_CALLBACK (inspector_edit_method_chosen), NULL);
  return row;
}

/* ---- range ---- */

static gboolean
inspector_edit_parse_end (GtkEditable *entry,
                          double      *number)
{
  g_autofree char *text = vn_format_from_locale (gtk_editable_get_text (entry));
  float value;
  guint n = 0;
  gboolean ok = vn_format_parse_floats (text, &value, 1, &n) && n == 1;

  if (ok)
    {
      *number = (double) value;
      gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
    }
  else
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
  return ok;
}

static void
inspector_edit_range_entered (GtkWidget *row)
{
  Edit *self = g_object_get_data (G_OBJECT (row), KEY);
  gboolean changed = FALSE;
  VnRange range;

  for (guint i = 0; i < 2; i++)
    changed |= !g_str_equal (gtk_editable_get_text (self->ends[i]), self->shown[i]);
  if (!changed || !inspector_edit_parse_end (self->ends[0], &range.min) || !inspector_edit_parse_end (self->ends[1], &range.max))
    return;
  for (guint i = 0; i < 2; i++)      /* once: Enter, and then the focus goes */
    {
      g_free (self->shown[i]);
      self->shown[i] = g_strdup (gtk_editable_get_text (self->ends[i]));
    }
  vn_inspected_tensor_set_range (self->tensor, self->document, &range);
}

static void
inspector_edit_range_reset (GtkWidget *row)
{
  Edit *self = g_object_get_data (G_OBJECT (row), KEY);

  vn_inspected_tensor_set_range (self->tensor, self->document, NULL);
}

static GtkWidget *
inspector_edit_make_end (GtkWidget  *row,
                         const char *text,
                         const char *name,
                         const char *label)
{
  GtkWidget *entry = gtk_entry_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();

  gtk_editable_set_text (GTK_EDITABLE (entry), text);
  gtk_editable_set_width_chars (GTK_EDITABLE (entry), 7);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), 7);
  gtk_editable_set_alignment (GTK_EDITABLE (entry), 1);
  gtk_entry_set_input_purpose (GTK_ENTRY (entry), GTK_INPUT_PURPOSE_NUMBER);
  gtk_widget_set_valign (entry, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (entry, "numeric");
  gtk_widget_add_css_class (entry, "range-end");
  gtk_widget_set_name (entry, name);
  gtk_widget_set_tooltip_text (entry, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_signal_connect_object (entry, "activate", G_CALLBACK (inspector_edit_range_entered), row, G_CONNECT_SWAPPED);
  g_signal_connect_object (focus, "leave", G_CALLBACK (inspector_edit_range_entered), row, G_CONNECT_SWAPPED);
  gtk_widget_add_controller (entry, focus);
  return entry;
}

/**
 * vn_inspector_range_row:
 *
 * Returns: (transfer floating) (nullable): a row with both ends of the range of @tensor, which makes a rule of others; %NULL if
 *   its range is none of its own
 */
GtkWidget *
vn_inspector_range_row (VnDocument        *document,
                        VnInspectedTensor *tensor)
{
  static const char * const names[] = { "edit-low", "edit-high" };
  const char *labels[] = { _("Lower end of the range"), _("Upper end of the range") };
  GtkWidget *row, *reset;
  gboolean is_given;
  VnRange range;
  Edit *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL, NULL);

  if (!vn_inspected_tensor_can_range (tensor))
    return NULL;
  row = adw_action_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Range"));
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  self = inspector_edit_attach (row, document, tensor, "edit-range");
  range = vn_inspected_tensor_get_range (tensor, document, &is_given);
  reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_set_tooltip_text (reset, _("Reset Range to Method"));
  gtk_widget_set_valign (reset, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (reset, "flat");
  gtk_widget_set_visible (reset, is_given);
  g_signal_connect_object (reset, "clicked", G_CALLBACK (inspector_edit_range_reset), row, G_CONNECT_SWAPPED);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), reset);
  for (guint i = 0; i < 2; i++)
    {
      GtkWidget *entry;

      self->shown[i] = vn_format_number (i == 0 ? range.min : range.max, 4);
      entry = inspector_edit_make_end (row, self->shown[i], names[i], labels[i]);
      self->ends[i] = GTK_EDITABLE (entry);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), entry);
      if (i == 0)
        adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_label_new ("…"));
    }
  return row;
}
