module

public import MaskPoolReal.Kernels
