module

public import MaskPool.Arith.Facts
public import MaskPool.Arith.Model
public import MaskPool.Certificate.Normalize
public import MaskPool.Certificate.Transfer
public import MaskPool.Certificate.Translation
public import MaskPool.Invariance.Selection
public import MaskPool.Pool.Idioms
public import MaskPool.Pool.LawFree
