/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's debugging information (DWARF 5), as readelf (binutils) prints it: for names in reports. The entries of
 * one compilation unit are in a table, in the order of the tree: an entry's children follow it, one deeper. */
#ifndef RACE_DWARF_H
#define RACE_DWARF_H

#include <stddef.h>

enum race_tag {
    RACE_TAG_OTHER,
    RACE_TAG_FUNCTION, /* also one that is inlined */
    RACE_TAG_VARIABLE,
    RACE_TAG_POINTER,
    RACE_TAG_ARRAY,
    RACE_TAG_RANGE,
    RACE_TAG_STRUCTURE,
    RACE_TAG_MEMBER
};
struct race_entry {
    unsigned long number, type, origin; /* numbers of entries; 0: none */
    unsigned long size, low, high;      /* of a function: its first address, and its length */
    unsigned long address;              /* of a global variable, if has_address */
    unsigned long count;                /* of a range without has_upper: its elements, or 0 */
    long lower, upper;                  /* of a range */
    long at;                            /* of a member: its offset */
    long place;                         /* of a local variable, if has_place: in the frame */
    int depth, parent;                  /* parent: its index in the table, or -1 */
    int has_upper, has_address, has_place, is_descriptor;
    enum race_tag tag;
    char base; /* what a function's places count from: c: the frame's end, p: the register rbp, s: the stack pointer */
    char name[64];
};
struct race_entries {
    struct race_entry *entries;
    int n, room;
    int first; /* the lower bound of arrays that have none: 1 in Fortran, else 0 */
};

/* race_dwarf_each: reads the program's entries and calls `search` for each compilation unit, until it returns 1. It
 * reads none if readelf is not installed, or the program is so large that it would take seconds. */
void race_dwarf_each(int (*search)(const struct race_entries *t, void *arg), void *arg);

/* race_dwarf_entry: the entry that has the number, or NULL. race_dwarf_type: the same for a type, behind qualifiers and
 * names. race_dwarf_next_range: the next range of an array after `r`, at first after the array itself, or NULL;
 * race_dwarf_elements: that of a range. race_dwarf_size: the bytes of a type, or 0 if it is not constant. */
const struct race_entry *race_dwarf_entry(const struct race_entries *t, unsigned long number);
const struct race_entry *race_dwarf_type(const struct race_entries *t, unsigned long number);
const struct race_entry *race_dwarf_next_range(const struct race_entries *t, const struct race_entry *array,
                                               const struct race_entry *r);
size_t race_dwarf_elements(const struct race_entry *range);
size_t race_dwarf_size(const struct race_entries *t, unsigned long type);

#endif
