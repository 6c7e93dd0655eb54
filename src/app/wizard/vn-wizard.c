/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wizard: the list of its steps, which of them can be opened, and the way back and forth. */
#include "vn-wizard.h"

#include "vn-adaptive-bin.h"
#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"
#include "vn-step-data.h"
#include "vn-step-review.h"
#include "vn-wizard-step.h"

#include <string.h>

#define VN_WIZARD_STEP(id, title) GType vn_step_##id##_get_type (void);
#include "vn-wizard-steps.def"
#undef VN_WIZARD_STEP

static const struct { const char *id, *title; GType (*get_type) (void); } pages[] = {
#define VN_WIZARD_STEP(id, title) { #id, title, vn_step_##id##_get_type },
#include "vn-wizard-steps.def"
#undef VN_WIZARD_STEP
};

#define N_STEPS G_N_ELEMENTS (pages)
#define SIDE_WIDTH 216
#define MIN_WIDTH 590
#define NARROW 900              /* below, the list of steps shows numbers only */

struct _VnWizard
{
  AdwBin          parent_instance;

  VnDocument     *document;
  VnWizardStep   *steps[N_STEPS];   /* borrowed from the stack; NULL before vn_wizard_make_steps() */
  guint           at, reached;      /* reached: furthest step that has been seen */
  gboolean        busy;
  gboolean        goes_on;          /* when calibration ends well the review is wanted */
  gboolean        is_stale;         /* something changed while nobody saw it */

  AdwHeaderBar   *header;
  AdwWindowTitle *title;
  GtkButton      *next, *back, *calibrate;
  GtkLabel       *reason;
  VnAdaptiveBin  *adaptive;
  GtkWidget      *side, *note;
  AdwButtonContent *leave;
  GtkListBox     *list;
  GtkStack       *stack;
};

G_DEFINE_FINAL_TYPE (VnWizard, vn_wizard, ADW_TYPE_BIN)

static gboolean
wizard_can_leave (VnWizard *self,
                  guint     step)
{
  g_autofree char *blocker = vn_wizard_step_dup_blocker (self->steps[step]);

  return blocker == NULL;
}

/* A step can be shown when nothing blocks the ones before it. */
static guint
wizard_get_last_open (VnWizard *self)
{
  guint last = 0;

  while (last < self->reached && wizard_can_leave (self, last))
    last++;
  return last;
}

static GtkWidget *
wizard_make_number (VnWizard *self,
                    guint     i,
                    gboolean  done)
{
  g_autofree char *number = g_strdup_printf ("%u", i + 1);
  const gboolean warns = i != self->at && vn_wizard_step_has_warning (self->steps[i]);
  GtkWidget *widget = warns ? gtk_image_new_from_icon_name ("dialog-warning-symbolic")
                    : done ? gtk_image_new_from_icon_name ("object-select-symbolic") : gtk_label_new (number);

  gtk_widget_add_css_class (widget, "step-number");
  gtk_widget_set_valign (widget, GTK_ALIGN_CENTER);
  if (i == self->at)
    gtk_widget_add_css_class (widget, "current");
  else if (warns)
    gtk_widget_add_css_class (widget, "warns");
  else if (done)
    gtk_widget_add_css_class (widget, "done");
  return widget;
}

static GtkWidget *
wizard_make_row (VnWizard *self,
                 guint     i,
                 gboolean  done)
{
  gboolean narrow = vn_adaptive_bin_is_narrow (self->adaptive);
  g_autofree char *answer = done && !narrow ? vn_wizard_step_dup_answer (self->steps[i]) : NULL;
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_widget_set_valign (texts, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (texts), vn_label_new (_(pages[i].title), NULL));
  if (answer != NULL)
    {
      GtkWidget *dim = vn_label_new (answer, "dim-label");

      gtk_widget_add_css_class (dim, "caption");
      gtk_label_set_wrap (GTK_LABEL (dim), FALSE);
      gtk_label_set_ellipsize (GTK_LABEL (dim), PANGO_ELLIPSIZE_END);
      gtk_box_append (GTK_BOX (texts), dim);
    }
  gtk_box_append (GTK_BOX (box), wizard_make_number (self, i, done && i != self->at));
  gtk_box_append (GTK_BOX (box), texts);
  gtk_widget_set_visible (texts, !narrow);
  gtk_widget_set_tooltip_text (row, narrow ? _(pages[i].title) : NULL);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_widget_set_sensitive (row, i <= wizard_get_last_open (self));
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, _(pages[i].title), -1);
  return row;
}

static void
wizard_update_list (VnWizard *self)
{

  self->busy = TRUE;
  vn_list_box_clear (self->list);
  for (guint i = 0; i < N_STEPS; i++)
    gtk_list_box_append (self->list, wizard_make_row (self, i, i < self->reached && wizard_can_leave (self, i)));
  gtk_list_box_select_row (self->list, gtk_list_box_get_row_at_index (self->list, (int) self->at));
  self->busy = FALSE;
}

static guint
wizard_find (VnWizard   *self,
             const char *step)
{
  for (guint i = 0; i < N_STEPS; i++)
    if (g_str_equal (pages[i].id, step))
      return i;
  g_return_val_if_reached (0);
}

/* Whether something is missing between here and @step. */
static gboolean
wizard_is_blocked_before (VnWizard   *self,
                          const char *step)
{
  for (guint i = self->at; i < wizard_find (self, step); i++)
    if (!wizard_can_leave (self, i))
      return TRUE;
  return FALSE;
}

/* Not insensitive: a button that becomes sensitive again below a pointer at rest does not get its next click. */
static void
wizard_set_blocked (GtkButton *button,
                    gboolean   blocked)
{
  if (blocked)
    gtk_widget_add_css_class (GTK_WIDGET (button), "blocked");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (button), "blocked");
  gtk_accessible_update_state (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_STATE_DISABLED, blocked, -1);
}

static gboolean
wizard_is_blocked (GtkButton *button)
{
  return gtk_widget_has_css_class (GTK_WIDGET (button), "blocked");
}

static void
wizard_update_buttons (VnWizard *self)
{
  g_autofree char *blocker = vn_wizard_step_dup_blocker (self->steps[self->at]);

  gtk_widget_set_sensitive (GTK_WIDGET (self->back), self->at > 0);
  wizard_set_blocked (self->next, blocker != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->calibrate), self->at > 0 && self->at + 1 < wizard_find (self, "calibrate"));
  wizard_set_blocked (self->calibrate, wizard_is_blocked_before (self, "calibrate"));
  gtk_button_set_label (self->next, self->at == N_STEPS - 1 ? _("_Export") : self->at == N_STEPS - 2
                        ? _("_Export…") : _("_Next"));
  vn_button_names_set (GTK_WIDGET (self->next));
  gtk_label_set_label (self->reason, blocker != NULL ? blocker : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->reason), blocker);
  /* Waiting, or beginning, is no fault. */
  if (vn_wizard_step_has_warning (self->steps[self->at]))
    gtk_widget_add_css_class (GTK_WIDGET (self->reason), "reason");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->reason), "reason");
}

static void
wizard_update (VnWizard *self)
{
  g_autofree char *title = NULL;

  self->is_stale = FALSE;
  if (self->steps[0] == NULL || vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  title = vn_bench_dup_title (VN_BENCH (self->document));
  adw_window_title_set_subtitle (self->title, title);
  wizard_update_list (self);
  wizard_update_buttons (self);
}

/* One change of the document changes several steps. */
static void
wizard_renew (VnWizard *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    vn_later (self, self->document, (VnLaterFunc) wizard_update);
  else
    self->is_stale = TRUE;
}

static void
wizard_mapped (VnWizard *self)
{
  if (self->is_stale)
    wizard_update (self);
}

static void
wizard_go_to (VnWizard *self,
              guint     step)
{
  self->goes_on = FALSE;
  self->at = step;
  self->reached = MAX (self->reached, step);
  gtk_stack_set_visible_child (self->stack, GTK_WIDGET (self->steps[step]));
  vn_wizard_step_enter (self->steps[step]);
  wizard_update (self);
}

/* Once calibration has ended well, if nobody went elsewhere in the meantime. */
static void
wizard_go_on (VnWizard *self)
{
  if (self->goes_on && self->at == wizard_find (self, "calibrate") && wizard_can_leave (self, self->at) &&
      vn_bench_get_job (VN_BENCH (self->document)) == NULL && !vn_bench_is_stale (VN_BENCH (self->document)))
    wizard_go_to (self, self->at + 1);
}

static void
wizard_step_changed (VnWizard *self)
{
  wizard_renew (self);
  wizard_go_on (self);
}

static void
wizard_next_clicked (VnWizard *self)
{
  if (wizard_is_blocked (self->next))
    return;
  if (self->at == N_STEPS - 1)
    vn_wizard_step_next (self->steps[self->at]);
  else
    wizard_go_to (self, self->at + 1);
}

/* With what the target has chosen; and on to what came out. */
static void
wizard_calibrate_clicked (VnWizard *self)
{
  if (wizard_is_blocked (self->calibrate))
    return;
  wizard_go_to (self, wizard_find (self, "calibrate"));
  self->goes_on = TRUE;
  wizard_go_on (self);
}

static void
wizard_back_clicked (VnWizard *self)
{
  if (self->at > 0)
    wizard_go_to (self, self->at - 1);
}

static void
wizard_row_selected (VnWizard      *self,
                     GtkListBoxRow *row)
{
  guint index = row != NULL ? (guint) gtk_list_box_row_get_index (row) : self->at;

  if (!self->busy && index != self->at)
    wizard_go_to (self, index);
}

static void
wizard_model_changed (VnWizard *self)
{
  self->reached = self->at = 0;
  wizard_renew (self);
}

/**
 * vn_wizard_set_document:
 */
void
vn_wizard_set_document (VnWizard   *self,
                        VnDocument *document)
{
  g_return_if_fail (VN_IS_WIZARD (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (wizard_model_changed), self, G_CONNECT_SWAPPED);
}

/**
 * vn_wizard_make_steps:
 *
 * Makes what the assistant shows, if it is not there yet: a window paints sooner that has it made afterwards.
 */
void
vn_wizard_make_steps (VnWizard *self)
{
  g_return_if_fail (VN_IS_WIZARD (self) && self->document != NULL);

  if (self->steps[0] != NULL)
    return;
  for (guint i = 0; i < N_STEPS; i++)
    {
      self->steps[i] = g_object_new (pages[i].get_type (), NULL);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->steps[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, _(pages[i].title), -1);
      gtk_stack_add_named (self->stack, GTK_WIDGET (self->steps[i]), pages[i].id);
      vn_wizard_step_set_document (self->steps[i], pages[i].id, self->document);
      g_signal_connect_swapped (self->steps[i], "changed", G_CALLBACK (wizard_step_changed), self);
    }
  vn_button_names_set (GTK_WIDGET (self->stack));
}

/* Where it was left; if it was not shown yet, what there is to review, or the first that asks for something. */
static guint
wizard_find_begin (VnWizard *self)
{
  if (!wizard_can_leave (self, 0))
    return 0;
  if (self->at == 0 && vn_bench_get_shown (VN_BENCH (self->document)) != NULL && !vn_bench_is_stale (VN_BENCH (self->document)))
    return wizard_find (self, "review");
  return MAX (self->at, wizard_find (self, "data"));
}

/**
 * vn_wizard_begin:
 * @step: (nullable): id of the step to show; %NULL: where it was left, or where there is something to see or to say
 *
 * To be called before the assistant is shown; there must be a model.
 */
void
vn_wizard_begin (VnWizard   *self,
                 const char *step)
{
  guint at;

  g_return_if_fail (VN_IS_WIZARD (self) && self->document != NULL);

  vn_wizard_make_steps (self);
  at = wizard_find_begin (self);
  for (guint i = 0; step != NULL && i < N_STEPS; i++)
    if (g_str_equal (pages[i].id, step))
      at = i;
  wizard_go_to (self, at);
}

/**
 * vn_wizard_show_curve:
 *
 * Begins where mixed precision is calculated and shown; to be called when the assistant is shown.
 */
void
vn_wizard_show_curve (VnWizard *self)
{
  g_return_if_fail (VN_IS_WIZARD (self));

  vn_wizard_begin (self, "review");
  vn_step_review_show_curve (VN_STEP_REVIEW (self->steps[self->at]));
}

/**
 * vn_wizard_edit_size:
 * @input: an input with open dims
 *
 * Begins where its size is set; to be called when the assistant is shown.
 */
void
vn_wizard_edit_size (VnWizard   *self,
                     const char *input)
{
  g_return_if_fail (VN_IS_WIZARD (self) && input != NULL);

  vn_wizard_begin (self, "data");
  vn_step_data_edit_size (VN_STEP_DATA (self->steps[self->at]), input);
}

/**
 * vn_wizard_get_step:
 *
 * Returns: (transfer none): id of the present step
 */
const char *
vn_wizard_get_step (VnWizard *self)
{
  g_return_val_if_fail (VN_IS_WIZARD (self), NULL);

  return pages[self->at].id;
}

/**
 * vn_wizard_go_next:
 *
 * As the button does, if it can be pressed.
 */
void
vn_wizard_go_next (VnWizard *self)
{
  g_return_if_fail (VN_IS_WIZARD (self));

  wizard_next_clicked (self);
}

static void
wizard_next_action (GtkWidget  *widget,
                    const char *name,
                    GVariant   *parameter)
{
  vn_wizard_go_next (VN_WIZARD (widget));
}

static void
wizard_shrink_buttons (VnWizard *self,
                       gboolean  narrow)
{
  GtkButton *buttons[] = { self->next, self->back, self->calibrate };

  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    vn_button_let_shrink (buttons[i], narrow);
}

/* Labels are cut off only where there is no room for them even beside a title that is. */
static void
wizard_fit_header (VnWizard *self,
                   int       width)
{
  int least = 0;

  wizard_shrink_buttons (self, FALSE);
  gtk_widget_measure (GTK_WIDGET (self->header), GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
  wizard_shrink_buttons (self, least > width);
}

static void
wizard_narrowed (VnWizard *self)
{
  gboolean narrow = vn_adaptive_bin_is_narrow (self->adaptive);

  gtk_widget_set_size_request (self->side, narrow ? -1 : SIDE_WIDTH, -1);
  gtk_widget_set_visible (self->note, !narrow);
  adw_header_bar_set_centering_policy (self->header, narrow ? ADW_CENTERING_POLICY_LOOSE : ADW_CENTERING_POLICY_STRICT);
  adw_button_content_set_label (self->leave, narrow ? "" : _("_Graph"));
  vn_button_names_set (gtk_widget_get_parent (GTK_WIDGET (self->leave)));
  if (narrow)
    gtk_widget_add_css_class (GTK_WIDGET (self->stack), "narrow");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->stack), "narrow");
  wizard_update (self);
}

static void
wizard_init_narrow (VnWizard *self)
{
  self->adaptive = vn_adaptive_bin_insert (GTK_WIDGET (self), "child", MIN_WIDTH, NARROW);
  g_signal_connect_object (self->adaptive, "notify::narrow", G_CALLBACK (wizard_narrowed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->adaptive, "resized", G_CALLBACK (wizard_fit_header), self, G_CONNECT_SWAPPED);
}

static void
vn_wizard_dispose (GObject *object)
{
  VnWizard *self = VN_WIZARD (object);

  for (guint i = 0; i < N_STEPS; i++)
    if (self->steps[i] != NULL)
      g_signal_handlers_disconnect_by_data (self->steps[i], self);
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_WIZARD);
  memset (self->steps, 0, sizeof self->steps);
  G_OBJECT_CLASS (vn_wizard_parent_class)->dispose (object);
}

static void
vn_wizard_class_init (VnWizardClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_wizard_dispose;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-wizard.ui");
  gtk_widget_class_bind_template_child (widget_class, VnWizard, header);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, title);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, next);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, back);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, calibrate);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, reason);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, leave);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, side);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, note);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, list);
  gtk_widget_class_bind_template_child (widget_class, VnWizard, stack);
  gtk_widget_class_install_action (widget_class, "wizard.next", NULL, wizard_next_action);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "win.leave-wizard", NULL);
}

static void
vn_wizard_init (VnWizard *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  wizard_init_narrow (self);
  g_signal_connect_swapped (self->next, "clicked", G_CALLBACK (wizard_next_clicked), self);
  g_signal_connect_swapped (self->calibrate, "clicked", G_CALLBACK (wizard_calibrate_clicked), self);
  g_signal_connect_swapped (self->back, "clicked", G_CALLBACK (wizard_back_clicked), self);
  g_signal_connect_swapped (self->list, "row-selected", G_CALLBACK (wizard_row_selected), self);
  g_signal_connect (self, "map", G_CALLBACK (wizard_mapped), NULL);
}
