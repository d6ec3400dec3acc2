/* Values of parameters as users write them. */
#ifndef NS_VALUES_H
#define NS_VALUES_H

#include <stdio.h>

#include "kernels/kernel.h"

/* Read `text` as a value of `parameter`; false, with a sentence for the user in `problem`, if it cannot be one. */
bool ns_value_read(ns_value *self, const ns_parameter *parameter, const char *text, char *problem, size_t bytes);

/* A whole number from `low` to `high`. */
bool ns_integer_read(int64_t *value, const char *text, int64_t low, int64_t high);

/* Write a value as JSON: a number, or text. */
void ns_value_write(FILE *file, const ns_parameter *parameter, const ns_value *value);

/* Name number `place` of `names`, which have blanks between them, into `name`; false where there are fewer. */
bool ns_choice_name(const char *names, int64_t place, char *name, size_t bytes);

#endif
