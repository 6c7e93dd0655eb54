/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long work under way: starting it, asking it to end, and not hearing of its end. */
#include "vn-works.h"

#include "vn-i18n.h"

typedef struct
{
  VnWork         work;
  VnJob         *job;
  GCancellable  *cancellable;
  gpointer       subject;
  GDestroyNotify unref;
} Running;

struct _VnWorks
{
  GObject            *owner;     /* borrowed; NULL: it is gone */
  const VnWorksFuncs *funcs;
  Running             running[VN_N_PLACES];
};

static const VnWorkInfo infos[VN_N_WORKS] = {
  [VN_WORK_NONE] = { "", VN_PLACE_FRONT, 0, NULL },
#define VN_WORK(name, place, flags, done, start, take) [VN_WORK_##name] = { #name, VN_PLACE_##place, flags, done },
#include "vn-works.def"
#undef VN_WORK
};

/**
 * vn_work_get_info:
 *
 * Returns: (transfer none): its line of vn-works.def
 */
const VnWorkInfo *
vn_work_get_info (VnWork work)
{
  g_return_val_if_fail ((guint) work < VN_N_WORKS, &infos[VN_WORK_NONE]);

  return &infos[work];
}

/**
 * vn_works_new:
 * @owner: what @ended is called with; it is kept alive while something is under way, but not by an installation
 *
 * Returns: (transfer full): of which nothing is under way
 */
VnWorks *
vn_works_new (GObject            *owner,
              const VnWorksFuncs *funcs)
{
  VnWorks *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && funcs != NULL, NULL);

  self = g_rc_box_new0 (VnWorks);
  self->owner = owner;
  self->funcs = funcs;
  return self;
}

static void
works_clear (Running *running)
{
  g_clear_object (&running->job);
  g_clear_object (&running->cancellable);
  if (running->subject != NULL && running->unref != NULL)
    running->unref (running->subject);
  *running = (Running) { 0 };
}

/**
 * vn_works_free:
 * @self: (nullable):
 *
 * Cancels everything without waiting for it; @ended is not called any more.
 */
void
vn_works_free (VnWorks *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < VN_N_PLACES; i++)
    vn_works_drop (self, i);
  self->owner = NULL;
  g_rc_box_release (self);
}

typedef struct
{
  VnWorks     *works;
  VnWorkPlace  place;
  GObject     *owner;    /* nullable */
} Ending;

static void
works_job_ended (GObject      *source,
                 GAsyncResult *async,
                 gpointer      data)
{
  g_autofree Ending *ending = data;
  g_autoptr(GObject) owner = ending->owner;
  g_autoptr(VnJob) job = g_object_ref (VN_JOB (source));
  g_autoptr(GError) error = NULL;
  VnWorks *self = ending->works;
  Running ended = self->running[ending->place];

  vn_job_finish (job, async, &error);
  if (ended.job == job)   /* else it was dropped in the meantime */
    {
      self->running[ending->place] = (Running) { 0 };
      self->funcs->ended (self->owner, ended.work, job, ended.subject, error);
      works_clear (&ended);
    }
  g_rc_box_release (self);
}

/**
 * vn_works_start:
 * @job: (transfer full): starts now; nothing is under way in the place of @work
 * @subject: (nullable) (transfer full): what it is about, for @ended
 */
void
vn_works_start (VnWorks        *self,
                VnWork          work,
                VnJob          *job,
                gpointer        subject,
                GDestroyNotify  unref)
{
  Running *running;
  Ending *ending;

  g_return_if_fail (self != NULL && work != VN_WORK_NONE && VN_IS_JOB (job));
  g_return_if_fail (self->running[infos[work].place].job == NULL);

  running = &self->running[infos[work].place];
  *running = (Running) { work, job, g_cancellable_new (), subject, unref };
  ending = g_new0 (Ending, 1);
  *ending = (Ending) { g_rc_box_acquire (self), infos[work].place, infos[work].place != VN_PLACE_INSTALL
                       ? g_object_ref (self->owner) : NULL };
  vn_job_start (job, running->cancellable, works_job_ended, ending);
}

/**
 * vn_works_cancel:
 *
 * Asks what is under way in @place to end, which @ended tells.
 */
void
vn_works_cancel (VnWorks     *self,
                 VnWorkPlace  place)
{
  g_return_if_fail (self != NULL && place < VN_N_PLACES);

  if (self->running[place].cancellable != NULL)
    g_cancellable_cancel (self->running[place].cancellable);
}

/**
 * vn_works_drop:
 *
 * Asks what is under way in @place to end, without waiting for that or hearing of it.
 *
 * Returns: whether there was something
 */
gboolean
vn_works_drop (VnWorks     *self,
               VnWorkPlace  place)
{
  Running dropped;

  g_return_val_if_fail (self != NULL && place < VN_N_PLACES, FALSE);

  if (self->running[place].job == NULL)
    return FALSE;
  dropped = self->running[place];
  self->running[place] = (Running) { 0 };
  g_cancellable_cancel (dropped.cancellable);
  works_clear (&dropped);
  return TRUE;
}

/**
 * vn_works_get_job:
 *
 * Returns: (transfer none) (nullable): what is under way in @place
 */
VnJob *
vn_works_get_job (VnWorks     *self,
                  VnWorkPlace  place)
{
  g_return_val_if_fail (self != NULL && place < VN_N_PLACES, NULL);

  return self->running[place].job;
}

/**
 * vn_works_get_work:
 *
 * Returns: what is under way in @place, or %VN_WORK_NONE
 */
VnWork
vn_works_get_work (VnWorks     *self,
                   VnWorkPlace  place)
{
  g_return_val_if_fail (self != NULL && place < VN_N_PLACES, VN_WORK_NONE);

  return self->running[place].work;
}

/**
 * vn_works_get_subject:
 *
 * Returns: (transfer none) (nullable): what vn_works_start() was told of what is under way in @place
 */
gpointer
vn_works_get_subject (VnWorks     *self,
                      VnWorkPlace  place)
{
  g_return_val_if_fail (self != NULL && place < VN_N_PLACES, NULL);

  return self->running[place].subject;
}
