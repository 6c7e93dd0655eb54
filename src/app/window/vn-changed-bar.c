/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that says that the model changed on disk. */
#include "vn-changed-bar.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-rows.h"

struct _VnChangedBar
{
  AdwBin       parent_instance;

  VnDocument  *document;
  GtkRevealer *revealer;
  GtkLabel    *text;
};

G_DEFINE_FINAL_TYPE (VnChangedBar, vn_changed_bar, ADW_TYPE_BIN)

static void
changed_bar_update (VnChangedBar *self)
{
  gboolean changed = vn_bench_has_changed_files (VN_BENCH (self->document));

  if (changed)   /* else it slides away as it was */
    {
      g_autofree char *shown = g_filename_display_basename (vn_bench_get_model (VN_BENCH (self->document))->path);
      g_autofree char *text = g_strdup_printf (_("“%s” now differs from what is shown here"), shown);

      gtk_label_set_label (self->text, text);
      gtk_widget_set_tooltip_text (GTK_WIDGET (self->text), text);
    }
  gtk_revealer_set_reveal_child (self->revealer, changed);
}

static void
changed_bar_reload (VnChangedBar *self)
{
  vn_bench_reload (VN_BENCH (self->document));
}

/**
 * vn_changed_bar_set_document:
 */
void
vn_changed_bar_set_document (VnChangedBar *self,
                             VnDocument   *document)
{
  g_return_if_fail (VN_IS_CHANGED_BAR (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "changed::files", G_CALLBACK (changed_bar_update), self, G_CONNECT_SWAPPED);
  changed_bar_update (self);
}

static void
vn_changed_bar_dispose (GObject *object)
{
  g_clear_object (&VN_CHANGED_BAR (object)->document);
  G_OBJECT_CLASS (vn_changed_bar_parent_class)->dispose (object);
}

static void
vn_changed_bar_class_init (VnChangedBarClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_changed_bar_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
vn_changed_bar_init (VnChangedBar *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = vn_label_new (_("Changed on Disk"), "heading"), *reload = vn_button_new_with_mnemonic (_("Re_load"));

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Changed on Disk"), -1);
  self->text = GTK_LABEL (vn_label_new (NULL, NULL));
  gtk_label_set_wrap (GTK_LABEL (title), FALSE);
  gtk_label_set_wrap (self->text, FALSE);
  gtk_label_set_ellipsize (self->text, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->text), TRUE);
  gtk_widget_set_valign (reload, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (reload, _("Reload the Model, Keeping Recipe, Samples and Undo History"));
  g_signal_connect_swapped (reload, "clicked", G_CALLBACK (changed_bar_reload), self);
  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name ("dialog-warning-symbolic"));
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (box), reload);
  self->revealer = vn_foot_set_content (ADW_BIN (self), box);
}
