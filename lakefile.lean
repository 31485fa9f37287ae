import Lake
open Lake DSL

package maskpool

/-- The library: arithmetic, finite sums, the specification, the embedding of Jaxprs, certificates. -/
@[default_target]
lean_lib MaskPool

/-- The generated certificates, one folder for each kernel. -/
@[default_target]
lean_lib certificates where
  globs := #[.submodules `certificates]
