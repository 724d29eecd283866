package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
)

// TestWritingAccount checks that plans are carried out with the account of --write-credentials alone: the user of the URL that is collected
// from stays out, and a vCenter without a line is refused at the start.
func TestWritingAccount(t *testing.T) {
	account := filepath.Join(t.TempDir(), "writer")
	if err := os.WriteFile(account, []byte("vc01.example.com writer w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOVC_URL", "https://reader:secret@vc01.example.com/sdk")
	var asked []string
	root := func() *cobra.Command {
		cmd := &cobra.Command{Use: "homenode"}
		cmd.AddCommand(&cobra.Command{Use: "fix", DisableFlagParsing: true, Run: func(_ *cobra.Command, args []string) { asked = args }})
		return cmd
	}
	w := writing{folder: t.TempDir(), credentials: account}
	for url, want := range map[string]string{"https://reader@vc01.example.com": "https://vc01.example.com", "vcenter": "https://vc01.example.com/sdk"} {
		desk, err := w.desk(&cobra.Command{}, &flags.Source{}, root, nil, []target{{name: "vc01", url: url}}, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := desk.Keep(t.Context(), "vc01", nil); err == nil || !slices.Equal(asked, []string{want, "--credentials=" + account}) {
			t.Errorf("%s: fix %q, %v", url, asked, err)
		}
	}
	_, err := w.desk(&cobra.Command{}, &flags.Source{}, root, nil, []target{{name: "vc01", url: "https://vc01.example.com"}, {name: "vc02", url: "https://vc02.example.com"}}, nil, "")
	if err == nil || !strings.Contains(err.Error(), `--write-credentials: vc02.example.com: no account`) {
		t.Errorf("a vCenter without a line: %v", err)
	}
}
