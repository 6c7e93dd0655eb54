#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# without-gtk.sh READELF PROGRAM: fails if the program needs GTK or libadwaita.
needed=$("$1" -d "$2" | grep NEEDED) || { echo "no dynamic section read"; exit 1; }
echo "$needed"
! echo "$needed" | grep -E 'libgtk|libadwaita'
