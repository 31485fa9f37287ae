import Lake
open Lake DSL

package maskpool_real

require maskpool from ".."
require "leanprover-community" / "mathlib" @ git "v4.28.0"

/-- The theorems of `MaskPool` about mathlib's real numbers. -/
@[default_target]
lean_lib MaskPoolReal
