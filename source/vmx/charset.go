//go:build !js

package vmx

import "golang.org/x/text/encoding/htmlindex"

// decoderOf returns what decodes texts of the charset of this name; nil when it is not known.
func decoderOf(name string) func([]byte) ([]byte, error) {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return enc.NewDecoder().Bytes
}
