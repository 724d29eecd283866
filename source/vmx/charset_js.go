package vmx

import (
	"errors"
	"syscall/js"
)

// decoderOf returns what decodes texts of the charset of this name; nil when it is not known. The browser has the tables, with the same names.
func decoderOf(name string) (decode func([]byte) ([]byte, error)) {
	defer func() {
		if recover() != nil { // the constructor throws
			decode = nil
		}
	}()
	d := js.Global().Get("TextDecoder").New(name)
	return func(b []byte) (out []byte, err error) {
		defer func() {
			if recover() != nil {
				err = errors.New("not in its charset")
			}
		}()
		a := js.Global().Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(a, b)
		return []byte(d.Call("decode", a).String()), nil
	}
}
