"""The parts of kernelgen-bench/run and kernelgen-bench/report. Standard library only, except that
plots need matplotlib."""
