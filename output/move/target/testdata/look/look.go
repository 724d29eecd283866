// Look runs programs in a guest. It prints their output, and the machine according to package machine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"example.org/homenode/source/machine"
)

func main() {
	if err := look(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func look() error {
	ctx := context.Background()
	out := map[string]string{}
	for _, line := range os.Args[1:] {
		words := strings.Fields(line)
		said, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, said)
		}
		out[line] = string(said)
	}
	m, err := machine.Read(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"said": out, "machine": m})
}
