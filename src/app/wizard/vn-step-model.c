/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: what the opened model is, and whether it can be quantized. */
#include "vn-step-model.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"

#include <string.h>

#define MAX_OPERATORS 12

struct _VnStepModel
{
  VnWizardStep  parent_instance;

  GtkListBox   *facts, *inputs, *outputs, *operators;
  GtkWidget    *already;
  AdwActionRow *already_row;
};

G_DEFINE_FINAL_TYPE (VnStepModel, vn_step_model, VN_TYPE_WIZARD_STEP)

static void
step_model_fill_facts (VnStepModel *self,
                       VnModel     *model)
{
  g_autofree char *path = model->path != NULL ? vn_format_path (model->path) : g_strdup ("–");
  g_autofree char *size = vn_format_bytes (model->file_size);
  g_autofree char *nodes = g_strdup_printf ("%u", model->graph->nodes->len);
  g_autofree char *opset = g_strdup_printf ("%" G_GINT64_FORMAT, vn_model_get_opset (model, ""));

  vn_list_box_clear (self->facts);
  gtk_list_box_append (self->facts, vn_row_new (_("File"), path));
  gtk_list_box_append (self->facts, vn_row_new (_("File size"), size));
  gtk_list_box_append (self->facts, vn_row_new (_("Nodes"), nodes));
  gtk_list_box_append (self->facts, vn_row_new (_("Opset"), opset));
}

static void
step_model_fill_values (GtkListBox *list,
                        GPtrArray  *values)
{
  vn_list_box_clear (list);
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);
      g_autofree char *type = NULL;

      if (value->initializer != NULL)
        continue;
      type = vn_type_to_string (&value->type);
      gtk_list_box_append (list, vn_row_new (value->name, type));
    }
}

static int
step_model_compare_count (gconstpointer a,
                          gconstpointer b,
                          gpointer      counts)
{
  guint x = GPOINTER_TO_UINT (g_hash_table_lookup (counts, *(char **) a));
  guint y = GPOINTER_TO_UINT (g_hash_table_lookup (counts, *(char **) b));

  return x != y ? (x < y) - (x > y) : strcmp (*(char **) a, *(char **) b);
}

static void
step_model_fill_operators (VnStepModel *self,
                           VnModel     *model)
{
  g_autoptr(GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree gpointer *names = NULL;
  guint n;

  vn_list_box_clear (self->operators);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, node->op_type));

      g_hash_table_insert (counts, node->op_type, GUINT_TO_POINTER (count + 1));
    }
  names = g_hash_table_get_keys_as_array (counts, &n);
  g_qsort_with_data (names, (int) n, sizeof *names, step_model_compare_count, counts);
  for (guint i = 0; i < MIN (n, MAX_OPERATORS); i++)
    {
      guint number = GPOINTER_TO_UINT (g_hash_table_lookup (counts, names[i]));
      g_autofree char *count = g_strdup_printf ("%u", number);

      gtk_list_box_append (self->operators, vn_row_new (names[i], count));
    }
}

/* It would be quantized a second time, on top of its own errors: says so, with what can be done instead. */
static void
step_model_show_already (VnStepModel *self,
                         VnModel     *model)
{
  guint n = vn_quantize_count_quantized (model), n_nodes = model->graph->nodes->len;
  g_autofree char *text = g_strdup_printf (ngettext ("%u of its %u nodes quantizes tensors or works on quantized ones",
                                                     "%u of its %u nodes quantize tensors or work on quantized ones", n), n,
                                                     n_nodes);

  gtk_widget_set_visible (self->already, n > 0);
  adw_action_row_set_subtitle (self->already_row, text);
}

static void
step_model_fill (VnStepModel *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))));

  if (model == NULL)
    return;
  step_model_show_already (self, model);
  step_model_fill_facts (self, model);
  step_model_fill_values (self->inputs, model->graph->inputs);
  step_model_fill_values (self->outputs, model->graph->outputs);
  step_model_fill_operators (self, model);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
model_changed (VnStepModel *self)
{
  vn_later (self, vn_wizard_step_get_document (VN_WIZARD_STEP (self)), (VnLaterFunc) step_model_fill);
}

static void
vn_step_model_document_set (VnWizardStep *step)
{
  g_signal_connect_object (vn_wizard_step_get_document (step), "changed::model",
                           G_CALLBACK (model_changed), step, G_CONNECT_SWAPPED);
  step_model_fill (VN_STEP_MODEL (step));
}

static char *
vn_step_model_dup_answer (VnWizardStep *step)
{
  return vn_bench_dup_title (VN_BENCH (vn_wizard_step_get_document (step)));
}

static char *
vn_step_model_dup_blocker (VnWizardStep *step)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (vn_wizard_step_get_document (step)));

  return model != NULL && vn_quantize_count_quantized (model) > 0 ? g_strdup (_("This model is already quantized")) : NULL;
}

static void
vn_step_model_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_MODEL);
  G_OBJECT_CLASS (vn_step_model_parent_class)->dispose (object);
}

static void
vn_step_model_class_init (VnStepModelClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_model_dispose;
  step_class->document_set = vn_step_model_document_set;
  step_class->dup_answer = vn_step_model_dup_answer;
  step_class->dup_blocker = vn_step_model_dup_blocker;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-model.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, already);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, already_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, facts);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, inputs);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, outputs);
  gtk_widget_class_bind_template_child (widget_class, VnStepModel, operators);
}

static void
vn_step_model_init (VnStepModel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
