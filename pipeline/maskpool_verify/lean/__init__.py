"""From a traced kernel to the text of its Lean certificates.

``syntax`` writes the imported program as a term of the deep embedding; ``readable`` writes the Jaxpr, a
second time and on its own, as a plain Lean function; ``properties`` lists the theorems that a manifest asks
for; ``render`` puts them into files.
"""
