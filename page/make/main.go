// Command make writes homenode.html from the WebAssembly module at the first argument and the runtime of Go at the second, to standard output.
package main

import (
	"bufio"
	"fmt"
	"os"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/version"
	"example.org/homenode/page"
)

// most limits the size of each input.
const most = 128 << 20

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("found %d arguments, want the module and the runtime", len(args))
	}
	wasm, err := bounded.File(args[0], most)
	if err != nil {
		return err
	}
	runtime, err := bounded.File(args[1], most)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	if err := page.Write(w, version.String(), wasm, runtime); err != nil {
		return err
	}
	return w.Flush()
}
