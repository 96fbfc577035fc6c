"""
A program at many samples in one call.

    batch        columns in, columns out: threads on the CPU, one thread for each sample on a GPU
    forms        the form of a batch: generated code, and of which numbers and arrays there are columns
    kernels      what goes over a stretch of samples
    way_in       the quick way in from Python, and `way_text`, which is that way in the language of LLVM
    stacked      values of many samples as one value, whose leaves are columns
    lanes        several samples side by side in vectors
    branches     whether code asks what differs from sample to sample
    choices      choices between numbers that are there, without a branch
    lane_memory  where lanes are read and written
"""
