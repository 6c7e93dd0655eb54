/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is compiled once for the whole window where Meson's b_pch is on, as in run.sh: three fifths of the time that a file takes.
 * Files include what they need all the same: other builds have nothing of this. */
#include <adwaita.h>
