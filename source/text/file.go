package text

import "homenode/internal/bounded"

// ReadFile reads a handwritten file.
func ReadFile[T any](path string, read func(name string, data []byte) (T, error)) (T, error) {
	b, err := File(path)
	if err != nil {
		var none T
		return none, err
	}
	return read(path, b)
}

// File returns the content of a handwritten file.
func File(path string) ([]byte, error) { return bounded.File(path, bounded.Written) }
