//go:build js

// Command wasm runs in the web worker of the page. It answers the calls of worker.js.
package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"syscall/js"
	"time"

	"example.org/homenode/internal/version"
	"example.org/homenode/page/asker"
)

func main() {
	// Browsers end a page that uses too much memory. Near this limit the GC runs more often, which is cheaper than a restart.
	debug.SetMemoryLimit(768 << 20)
	a := &asker.Asker{Version: version.String(), Now: time.Now}
	js.Global().Set("homenode", js.ValueOf(map[string]any{
		"answer": promised(func(args []js.Value) (any, error) {
			r, err := a.Answer(context.Background(), args[0].String(), args[1].String())
			if err != nil {
				return nil, err
			}
			return reply(r), nil
		}),
		"drop": promised(func(args []js.Value) (any, error) {
			address, tell, names, err := a.Drop(context.Background(), strings(args[0]))
			if err != nil {
				return nil, err
			}
			return map[string]any{"address": address, "tell": values(tell), "names": values(names)}, nil
		}),
		"snapshot": promised(func([]js.Value) (any, error) {
			snap, key, err := a.Snapshot()
			return map[string]any{"snapshot": bytes(snap), "key": bytes(key)}, err
		}),
		"version": version.String(),
	}))
	select {}
}

// promised returns a JavaScript function that returns a promise of the result of do. An error becomes a JavaScript Error with the same text.
func promised(do func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		executor := js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				v, err := safely(do, args)
				if err != nil {
					settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				settle[0].Invoke(v)
			}()
			return nil
		})
		defer executor.Release() // New calls it before it returns
		return js.Global().Get("Promise").New(executor)
	})
}

// safely calls do and turns a panic into an error.
func safely(do func(args []js.Value) (any, error), args []js.Value) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("homenode failed on this input (%v): please report it", p)
		}
	}()
	return do(args)
}

func reply(r *asker.Reply) map[string]any {
	out := map[string]any{"html": r.HTML, "title": r.Title, "command": r.Command, "pages": values(r.Pages), "tell": values(r.Tell)}
	if r.Name != "" {
		out["name"], out["data"] = r.Name, bytes(r.Data)
	}
	return out
}

func values(all []string) []any {
	out := make([]any, len(all))
	for i, s := range all {
		out[i] = s
	}
	return out
}

func strings(v js.Value) []string {
	out := make([]string, v.Length())
	for i := range out {
		out[i] = v.Index(i).String()
	}
	return out
}

// bytes returns a copy of b as a Uint8Array.
func bytes(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
