package text

import "example.org/homenode/internal/bounded"

// File returns the content of a handwritten file.
func File(path string) ([]byte, error) { return bounded.File(path, bounded.Written) }
