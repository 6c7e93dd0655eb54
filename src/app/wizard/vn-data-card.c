/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is to be decided about the samples before calibration: a card with what was found, and buttons that do something about
 * it. */
#include "vn-data-card.h"

#include "vn-button-names.h"
#include "vn-data-suspicion.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#define MOST_CURES 3u     /* buttons; more are in the list of presets */

/* Something to say. */
typedef struct
{
  VnNoteLevel  level;
  gboolean     is_problem;   /* nothing can be kept */
  gboolean     is_of_size;   /* other sizes of inputs help */
  char        *code, *title, *text;
  GPtrArray   *cures;        /* of VnDataCure, borrowed from @look of the card; nullable */
} Saying;

struct _VnDataCard
{
  AdwBin      parent_instance;

  GPtrArray  *sayings;    /* of Saying, worst first */
  GHashTable *kept;       /* codes that are not to be said again */
  gboolean    has_preprocessing;   /* can be set on the same page */

  GtkImage   *icon;
  GtkLabel   *title, *text;
  GtkBox     *beside, *below;
};

G_DEFINE_FINAL_TYPE (VnDataCard, vn_data_card, ADW_TYPE_BIN)

enum { SIGNAL_APPLY, SIGNAL_CHOOSE, SIGNAL_PREPROCESS, SIGNAL_SIZES, N_SIGNALS };
static guint signals[N_SIGNALS];

static void data_card_update (VnDataCard *self);

static void
data_card_free_saying (gpointer data)
{
  Saying *self = data;

  g_free (self->code);
  g_free (self->title);
  g_free (self->text);
  g_clear_pointer (&self->cures, g_ptr_array_unref);
  g_free (self);
}

static const Saying *
data_card_find_first (VnDataCard *self)
{
  for (guint i = 0; i < self->sayings->len; i++)
    {
      const Saying *saying = self->sayings->pdata[i];

      if (!g_hash_table_contains (self->kept, saying->code))
        return saying;
    }
  return NULL;
}

static void
data_card_keep_clicked (VnDataCard *self)
{
  const Saying *saying = data_card_find_first (self);

  if (saying != NULL)
    g_hash_table_add (self->kept, g_strdup (saying->code));
  data_card_update (self);
}

static void
data_card_choose_clicked (VnDataCard *self)
{
  g_signal_emit (self, signals[SIGNAL_CHOOSE], 0);
}

static void
data_card_preprocess_clicked (VnDataCard *self)
{
  g_signal_emit (self, signals[SIGNAL_PREPROCESS], 0);
}

static void
data_card_sizes_clicked (VnDataCard *self)
{
  g_signal_emit (self, signals[SIGNAL_SIZES], 0);
}

/* The cure goes with what was found as soon as it is applied. */
static void
data_card_apply_clicked (VnDataCard *self,
                         GtkButton  *button)
{
  guint index = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "vn-cure"));
  const Saying *saying = data_card_find_first (self);
  g_autoptr(GPtrArray) cures = saying != NULL && saying->cures != NULL ? g_ptr_array_ref (saying->cures) : NULL;

  if (cures != NULL && index < cures->len)
    g_signal_emit (self, signals[SIGNAL_APPLY], 0, cures->pdata[index]);
}

static GtkWidget *
data_card_add_button (VnDataCard *self,
                      GtkBox     *box,
                      const char *label,
                      gboolean    suggested,
                      GCallback   clicked)
{
  GtkWidget *button = vn_button_new_with_mnemonic (label);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  if (suggested)
    gtk_widget_add_css_class (button, "suggested-action");
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_box_append (box, button);
  return button;
}

static void
data_card_add_buttons (VnDataCard   *self,
                       const Saying *saying)
{
  const guint n_cures = saying->cures != NULL ? MIN (saying->cures->len, MOST_CURES) : 0;
  GtkBox *box = n_cures == 1 ? self->beside : self->below;

  for (guint i = 0; i < n_cures; i++)
    {
      const VnDataCure *cure = saying->cures->pdata[i];
      g_autofree char *label = g_strdup_printf (_("Use %s"), cure->title);
      GtkWidget *button = data_card_add_button (self, box, label, i == 0,
                                                G_CALLBACK (data_card_apply_clicked));

      gtk_button_set_use_underline (GTK_BUTTON (button), FALSE);
      g_object_set_data (G_OBJECT (button), "vn-cure", GUINT_TO_POINTER (i));
    }
  if (saying->is_of_size)
    data_card_add_button (self, box, _("Set Input _Sizes"), TRUE, G_CALLBACK (data_card_sizes_clicked));
  else if (n_cures == 0 && self->has_preprocessing && vn_data_suspicion_is_of_preprocessing (saying->code))
    data_card_add_button (self, box, _("Set _Preprocessing"), TRUE, G_CALLBACK (data_card_preprocess_clicked));
  else if (n_cures == 0)
    data_card_add_button (self, box, _("Choose _Others…"), saying->level > VN_NOTE_INFO, G_CALLBACK (data_card_choose_clicked));
  if (!saying->is_problem)
    data_card_add_button (self, box, _("_Keep"), FALSE, G_CALLBACK (data_card_keep_clicked));
  gtk_widget_set_visible (GTK_WIDGET (self->below), box == self->below);
  gtk_widget_set_visible (GTK_WIDGET (self->beside), box == self->beside);
}

static void
data_card_update (VnDataCard *self)
{
  const Saying *saying = data_card_find_first (self);
  const gboolean is_fact = saying != NULL && saying->level == VN_NOTE_INFO;

  gtk_widget_set_visible (GTK_WIDGET (self), saying != NULL);
  vn_box_clear (GTK_WIDGET (self->beside));
  vn_box_clear (GTK_WIDGET (self->below));
  if (saying == NULL)
    return;
  gtk_image_set_from_icon_name (self->icon, is_fact ? "dialog-information-symbolic" : "dialog-warning-symbolic");
  if (is_fact)
    {
      gtk_widget_remove_css_class (GTK_WIDGET (self->icon), "warning");
      gtk_widget_remove_css_class (gtk_widget_get_parent (GTK_WIDGET (self->icon)), "warning-card");
      gtk_widget_add_css_class (gtk_widget_get_parent (GTK_WIDGET (self->icon)), "fact-card");
    }
  else
    {
      gtk_widget_add_css_class (GTK_WIDGET (self->icon), "warning");
      gtk_widget_remove_css_class (gtk_widget_get_parent (GTK_WIDGET (self->icon)), "fact-card");
      gtk_widget_add_css_class (gtk_widget_get_parent (GTK_WIDGET (self->icon)), "warning-card");
    }
  gtk_label_set_label (self->title, saying->title);
  gtk_label_set_label (self->text, saying->text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, saying->title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, saying->text, -1);
  data_card_add_buttons (self, saying);
}

/* What is wrong, and what it would be instead, or what to do. */
static char *
data_card_write_text (const VnDataFinding *finding)
{
  const VnDataCure *first = finding->cures->len > 0 ? finding->cures->pdata[0] : NULL;

  if (first == NULL)
    return finding->remedy != NULL ? g_strdup_printf ("%s. %s", finding->text, finding->remedy)
           : g_strdup_printf ("%s.", finding->text);
  if (!finding->is_certain)
    return g_strdup_printf (_("%s. Several preprocessings would fit, the likeliest first: choose the one used in training."),
                            finding->text);
  return first->effect != NULL ? g_strdup_printf ("%s. %s", finding->text, first->effect)
         : g_strdup_printf ("%s.", finding->text);
}

/**
 * vn_data_card_show_problem:
 * @title: what does not work
 * @text: why
 * @is_of_size: with another size of an input, which can be set on the same page, it could: the card emits sizes
 */
void
vn_data_card_show_problem (VnDataCard *self,
                           const char *title,
                           const char *text,
                           gboolean    is_of_size)
{
  Saying *saying;

  g_return_if_fail (VN_IS_DATA_CARD (self));

  saying = g_new0 (Saying, 1);
  *saying = (Saying) { .level = VN_NOTE_PROBLEM, .is_problem = TRUE, .is_of_size = is_of_size, .code = g_strdup (""),
                       .title = g_strdup (title), .text = g_strdup (text) };
  g_ptr_array_set_size (self->sayings, 0);
  g_ptr_array_add (self->sayings, saying);
  data_card_update (self);
}

static void
data_card_add_findings (VnDataCard       *self,
                        const VnDataLook *look,
                        gboolean          suspicions)
{
  for (guint i = 0; look != NULL && i < look->findings->len; i++)
    {
      const VnDataFinding *finding = look->findings->pdata[i];
      Saying *saying;

      if ((finding->level > VN_NOTE_INFO) != suspicions)
        continue;
      saying = g_new0 (Saying, 1);
      *saying = (Saying) { .level = finding->level, .code = g_strdup (finding->code), .title = g_strdup (finding->title),
                           .text = data_card_write_text (finding), .cures = g_ptr_array_ref (finding->cures) };
      g_ptr_array_add (self->sayings, saying);
    }
}

/**
 * vn_data_card_show_look:
 * @look: (nullable): what was found; %NULL: nothing yet
 * @notes: (nullable): what was said when the samples were opened
 * @has_preprocessing: it can be set on the same page, which goes there on the signal preprocess
 *
 * Shows what is worst of what the user has not decided to keep.
 */
void
vn_data_card_show_look (VnDataCard       *self,
                        const VnDataLook *look,
                        VnNotes          *notes,
                        gboolean          has_preprocessing)
{
  g_return_if_fail (VN_IS_DATA_CARD (self));

  self->has_preprocessing = has_preprocessing;
  g_ptr_array_set_size (self->sayings, 0);
  data_card_add_findings (self, look, TRUE);
  for (guint i = 0; notes != NULL && i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);
      Saying *saying;

      if (note->level == VN_NOTE_INFO)
        continue;
      saying = g_new0 (Saying, 1);
      *saying = (Saying) { .level = note->level, .code = g_strdup (note->code),
                           .title = g_strdup (_("Detected when the samples were opened")),
                           .text = g_strdup_printf ("%s%s%s.", note->subject != NULL ? note->subject : "", note->subject != NULL
                                                    ? ": " : "",
                                                    note->text) };
      g_ptr_array_add (self->sayings, saying);
    }
  data_card_add_findings (self, look, FALSE);
  data_card_update (self);
}

/**
 * vn_data_card_forget:
 *
 * There are other samples: what was kept is said again.
 */
void
vn_data_card_forget (VnDataCard *self)
{
  g_return_if_fail (VN_IS_DATA_CARD (self));

  g_hash_table_remove_all (self->kept);
}

static void
vn_data_card_finalize (GObject *object)
{
  VnDataCard *self = VN_DATA_CARD (object);

  g_ptr_array_unref (self->sayings);
  g_hash_table_unref (self->kept);
  G_OBJECT_CLASS (vn_data_card_parent_class)->finalize (object);
}

static void
vn_data_card_class_init (VnDataCardClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_data_card_finalize;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_ALERT);
  signals[SIGNAL_APPLY] = g_signal_new ("apply", VN_TYPE_DATA_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                        G_TYPE_POINTER);
  signals[SIGNAL_PREPROCESS] = g_signal_new ("preprocess", VN_TYPE_DATA_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                             0);
  signals[SIGNAL_SIZES] = g_signal_new ("sizes", VN_TYPE_DATA_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIGNAL_CHOOSE] = g_signal_new ("choose", VN_TYPE_DATA_CARD, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_data_card_init (VnDataCard *self)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);

  self->sayings = g_ptr_array_new_with_free_func (data_card_free_saying);
  self->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->icon = GTK_IMAGE (gtk_image_new ());
  gtk_image_set_pixel_size (self->icon, 24);
  gtk_widget_set_valign (GTK_WIDGET (self->icon), GTK_ALIGN_START);
  self->title = GTK_LABEL (vn_label_new ("", "heading"));
  self->text = GTK_LABEL (vn_label_new ("", NULL));
  self->below = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8));
  self->beside = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8));
  gtk_widget_set_margin_top (GTK_WIDGET (self->below), 6);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->below));
  gtk_box_append (GTK_BOX (row), GTK_WIDGET (self->icon));
  gtk_box_append (GTK_BOX (row), texts);
  gtk_box_append (GTK_BOX (row), GTK_WIDGET (self->beside));
  gtk_widget_add_css_class (row, "warning-card");
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), row);
}
