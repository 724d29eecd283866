package vmx

import "syscall/js"

// decoderOf returns a decoder for the charset with this name; nil if the name is unknown. Browsers support the same charsets under the same
// names.
func decoderOf(name string) (decode func([]byte) ([]byte, error)) {
	defer func() {
		if recover() != nil { // the constructor throws
			decode = nil
		}
	}()
	d := js.Global().Get("TextDecoder").New(name)
	return func(b []byte) ([]byte, error) {
		a := js.Global().Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(a, b)
		return []byte(d.Call("decode", a).String()), nil
	}
}
