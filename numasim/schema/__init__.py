"""The schema of a plan (the input of the engines and the task runtime) and of their counters, defined once.

`enumerations`, `record_layouts` and `plan_fields` are the definitions. Python uses the definitions directly. ``python
-m numasim.schema.generate_c`` writes the C headers, the C reader and the C++ names in ``lib/core/generated``. A test
and the build compare the generated files with the schema.
"""
