package text

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxFile is the largest file that is read whole, in bytes.
const MaxFile = 64 << 20

// File returns what a file checks that people write by hand.
func File(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		err = fmt.Errorf("%s: found more than %d MB, want a text of at most that", path, MaxFile>>20)
	}
	return b, errors.Join(err, f.Close())
}

// ReadFile reads a file that people write by hand.
func ReadFile[T any](path string, read func(name string, data []byte) (T, error)) (T, error) {
	b, err := File(path)
	if err != nil {
		var none T
		return none, err
	}
	return read(path, b)
}
