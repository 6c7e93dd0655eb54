/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which notes are a suspicion about the samples, and what to do about it. */
#include "vn-data-suspicion.h"

#include "vn-i18n.h"

typedef struct
{
  const char *code, *title, *remedy;
  gboolean    by_preprocessing;
} Suspicion;

static const Suspicion suspicions[] = {
#define VN_DATA_SUSPICION(code, title, remedy, by_preprocessing) { code, title, remedy, by_preprocessing },
#include "vn-data-suspicions.def"
#undef VN_DATA_SUSPICION
};

static const Suspicion *
suspicion_find (const char *code)
{
  for (guint i = 0; i < G_N_ELEMENTS (suspicions); i++)
    if (g_str_equal (suspicions[i].code, code))
      return &suspicions[i];
  return NULL;
}

/**
 * vn_data_suspicion_get_title:
 * @code: of a suspicion
 *
 * Returns: (transfer none) (nullable): some words about it, translated; %NULL: it is none
 */
const char *
vn_data_suspicion_get_title (const char *code)
{
  const Suspicion *found;

  g_return_val_if_fail (code != NULL, NULL);

  found = suspicion_find (code);
  return found != NULL ? _(found->title) : NULL;
}

/**
 * vn_data_suspicion_is:
 *
 * Returns: whether @note says that samples may be wrong for the network
 */
gboolean
vn_data_suspicion_is (const VnNote *note)
{
  g_return_val_if_fail (note != NULL, FALSE);

  return note->level >= VN_NOTE_WARNING && suspicion_find (note->code) != NULL;
}

/**
 * vn_data_suspicion_get_remedy:
 * @note: a suspicion
 *
 * Returns: (transfer none): what to do about it, translated: as the note says, or as is usual
 */
const char *
vn_data_suspicion_get_remedy (const VnNote *note)
{
  const Suspicion *usual;

  g_return_val_if_fail (note != NULL, NULL);

  usual = suspicion_find (note->code);
  g_return_val_if_fail (usual != NULL, NULL);

  return note->remedy != NULL ? note->remedy : _(usual->remedy);
}

/**
 * vn_data_suspicion_is_of_preprocessing:
 * @code: of any note
 *
 * Returns: whether other preprocessing of the same samples may mend it
 */
gboolean
vn_data_suspicion_is_of_preprocessing (const char *code)
{
  const Suspicion *found;

  g_return_val_if_fail (code != NULL, FALSE);

  found = suspicion_find (code);
  return found != NULL && found->by_preprocessing;
}
