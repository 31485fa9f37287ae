module

public import MaskPool.Arith.Facts
public import MaskPool.Arith.Model
public import MaskPool.Certificate.Extended
public import MaskPool.Certificate.Normalize
public import MaskPool.Certificate.Transfer
public import MaskPool.Certificate.Translation
public import MaskPool.Idioms.FillConstant
public import MaskPool.Idioms.GuardedNormalizer
public import MaskPool.Idioms.MinusInfinity
public import MaskPool.Idioms.ZeroedFeatures
public import MaskPool.Invariance.Selection
public import MaskPool.Pool.LawFree
