package testdeps

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"

	"example.org/homenode/internal/bounded"
)

// Gone is the damage of a missing file.
const Gone = "it is missing"

// A Damage is a way to damage a file.
type Damage struct {
	Name  string
	do    func(r *rand.Rand, b []byte) []byte
	place func(path string) error
}

// Do damages a file that is not empty.
func (d *Damage) Do(r *rand.Rand, path string) error {
	if d.place != nil {
		return errors.Join(os.Remove(path), d.place(path))
	}
	b, err := bounded.File(path, 1<<30)
	if err != nil {
		return err
	}
	return os.WriteFile(path, d.do(r, b), 0o600)
}

// Damages lists the ways to damage a file.
var Damages = []Damage{
	{"a bit is another", func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] ^= 1 << r.IntN(8); return b }, nil},
	{"ten bytes are others", func(r *rand.Rand, b []byte) []byte {
		for range 10 {
			b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		}
		return b
	}, nil},
	{"a piece is zeros", func(r *rand.Rand, b []byte) []byte {
		at := r.IntN(len(b))
		for i := at; i < min(at+512, len(b)); i++ {
			b[i] = 0
		}
		b[at] = 0xff // there may have been zeros already
		return b
	}, nil},
	{"the end is missing", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }, nil},
	{"a piece is missing", func(r *rand.Rand, b []byte) []byte {
		at := r.IntN(len(b))
		return append(b[:at:at], b[min(at+1+r.IntN(300), len(b)):]...)
	}, nil},
	{"it is empty", func(*rand.Rand, []byte) []byte { return nil }, nil},
	{"it is something else", func(r *rand.Rand, b []byte) []byte {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}, nil},
	{Gone, nil, func(string) error { return nil }},
	{"the first line", func(_ *rand.Rand, b []byte) []byte { b[3] ^= 1; return b }, nil},
	{"a folder stands there", nil, func(path string) error { return os.Mkdir(path, 0o700) }},
	{"another block in its place", nil, func(path string) error {
		of, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.block"))
		if err != nil || len(of) == 0 || filepath.Ext(path) != ".block" {
			return errors.Join(err, os.WriteFile(path, []byte("something else"), 0o600))
		}
		b, err := bounded.File(of[len(of)-1], 1<<30)
		return errors.Join(err, os.WriteFile(path, b, 0o600))
	}},
	{"a link to nothing stands there", nil, func(path string) error { return os.Symlink(path+" is gone", path) }},
}
