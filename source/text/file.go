package text

import "homenode/internal/bounded"

// ReadFile reads a file that people write by hand.
func ReadFile[T any](path string, read func(name string, data []byte) (T, error)) (T, error) {
	b, err := File(path)
	if err != nil {
		var none T
		return none, err
	}
	return read(path, b)
}

// File returns what is in a file that people write by hand.
func File(path string) ([]byte, error) { return bounded.File(path, bounded.Written) }
