//go:build !js

package vmx

import "golang.org/x/text/encoding/htmlindex"

// decoderOf returns a decoder for the charset with this name; nil if the name is unknown.
func decoderOf(name string) func([]byte) ([]byte, error) {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return enc.NewDecoder().Bytes
}
