"""The schema of a plan: what the engines and the runtime are given, and what they count, written down once.

`enumerations`, `record_layouts`, `plan_fields` and `counter_names` say what there is. The Python engine uses them as
they are; ``python -m numasim.schema.generate_c`` writes the C headers, the C reader and the C++ names in
``generated/``, which a test and the build compare with the schema. `completeness` holds what Python writes against
the fields.
"""
