"""The schema of a plan, the input of the engines and the runtime, and of their counters, defined once.

`enumerations`, `record_layouts`, `plan_fields`, whose parts are in files of their own (`program_fields`,
`memory_fields` and so on), and `counter_names` are the definitions. The Python engine uses them directly;
``python -m numasim.schema.generate_c`` writes the C headers, the C reader and the C++ names in ``generated/``, which a
test and the build compare with the schema.
"""
