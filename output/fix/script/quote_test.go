package script

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v4"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// hostile are texts that break careless quoting.
var hostile = []string{"", "plain", "$(rm -rf ~)", "`id`", "it's", `"x"`, "two\nlines", "%2f", "ü ‘京’ ’’", "'@", "@'\n", "{{ jinja }}", "{% x %}", "${hcl}", "%{if}", "$${x}", `back\slash\`, "-x", "~", "a\tb", "!unsafe", "#c", "\u2028", "\U0001f5a5", "a=b", "*", "null", "off", "'"}

func seeds(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
}

// carried reports whether scripts carry the text: others are refused before.
func carried(s string) bool { return unsayable(s) == "" }

// FuzzShell lets a shell print back what was quoted for it.
func FuzzShell(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		if !carried(s) {
			t.Skip("scripts refuse the text before")
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+words.Command(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q, %v", s, out, err)
		}
	})
}

// FuzzPowerShell reads the expression back with the rules of PowerShell for single quotes.
func FuzzPowerShell(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		if !carried(s) {
			t.Skip("scripts refuse the text before")
		}
		q := words.PowerShell(s)
		tokens, err := lex(q)
		if err != nil {
			t.Fatalf("%q: %q: %v", s, q, err)
		}
		got := ""
		for _, k := range tokens {
			switch k.kind {
			case text, char:
				got += k.text
			case word:
				if !strings.Contains("+()", k.text) {
					t.Fatalf("%q: %q holds %q", s, q, k.text)
				}
			}
		}
		if got != s {
			t.Errorf("%q comes back as %q from %s", s, got, q)
		}
	})
}

// FuzzYAML reads the scalar back, within a map as the playbooks have it.
func FuzzYAML(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		if !carried(s) {
			t.Skip("scripts refuse the text before")
		}
		q := yaml(s)
		var node goyaml.Node
		if err := goyaml.Unmarshal([]byte("- {"+q+": 1, key: "+q+"}\n"), &node); err != nil {
			t.Fatalf("%q: %s: %v", s, q, err)
		}
		m := node.Content[0].Content[0].Content
		if len(m) != 4 || m[0].Value != s || m[3].Value != s {
			t.Errorf("%q comes back as %q and %q", s, m[0].Value, m[3].Value)
		}
		if strings.Contains(s, "{") && m[3].Tag != "!unsafe" {
			t.Errorf("%q may be read as a template", s)
		}
	})
}

// FuzzHCL reads the string back with the rules of HCL for quoted templates. TestTerraformReads asks Terraform.
func FuzzHCL(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		if !carried(s) {
			t.Skip("scripts refuse the text before")
		}
		q := hcl(s)
		if got, ok := unhcl(q); !ok || got != s {
			t.Errorf("%q comes back as %q from %s", s, got, q)
		}
	})
}

// unhcl reads a quoted string of HCL without templates.
func unhcl(q string) (string, bool) {
	body, ok := strings.CutPrefix(q, `"`)
	body, end := strings.CutSuffix(body, `"`)
	if !ok || !end || strings.Contains(body, "${") || strings.Contains(body, "%{") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"' || c < ' ' || c > '~':
			return "", false
		case c != '\\':
			b.WriteByte(c)
		default:
			i++
			digits := map[byte]int{'u': 4, 'U': 8}[body[i]]
			if digits == 0 {
				b.WriteByte(body[i])
				continue
			}
			r := rune(0)
			for _, d := range body[i+1 : i+1+digits] {
				r = r<<4 | rune(strings.IndexRune("0123456789abcdef", d))
			}
			b.WriteRune(r)
			i += digits
		}
	}
	return b.String(), utf8.ValidString(b.String())
}

// TestForgedNumbers prints plans whose numbers are texts that end a line, a block or a list: none of it stands bare in a script, and a number stands there
// in one form for all languages.
func TestForgedNumbers(t *testing.T) {
	kinds := []numa.EditKind{numa.EditVCPUs, numa.EditMemory, numa.EditCoresPerSocket, numa.EditCoresPerNUMANode, numa.EditHardware, numa.EditMemoryReservation, numa.EditCPUReservation, numa.EditLatency}
	const evil = "8\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n- shell: id, {x: 1}]"
	bare := func(text string) bool {
		return strings.Contains(text, "\n  provisioner") || strings.Contains(text, "\n- shell")
	}
	p := small()
	p.Changes = p.Changes[:0]
	for i, kind := range kinds {
		vm := &fix.Target{Name: "a", ID: fmt.Sprintf("vm-%d", i)}
		edit := numa.Edit{Kind: kind, From: numa.Is("4"), To: numa.Is(evil)}
		locks := numa.Edit{Kind: numa.EditReserveAll, From: numa.Is("false"), To: numa.Is("true")}
		p.Changes = append(p.Changes, fix.Change{VM: vm, Edits: []numa.Edit{edit}}, fix.Change{VM: vm, Edits: []numa.Edit{locks}, Basis: []fix.Known{{Name: string(kind), Value: evil}}})
	}
	for _, format := range Formats {
		var b bytes.Buffer
		if err := Print(&b, format, p, true); err != nil {
			t.Fatal(err)
		}
		// sh and PowerShell have texts of several lines in single quotes, which FuzzShell and FuzzPowerShell read back.
		if !strings.HasPrefix(format, "govc") && !strings.HasPrefix(format, "powercli") && bare(b.String()) {
			t.Errorf("%s:\n%s", format, b.String())
		}
	}
	var edits []numa.Edit
	for _, kind := range kinds[:7] {
		edits = append(edits, numa.Edit{Kind: kind, To: numa.Is(evil)})
	}
	s := step{id: "vm-1", edits: edits}
	var play bytes.Buffer
	s.tasks(&play, true)
	for _, text := range []string{arguments("terraform", edits, terraformNames), arguments("packer", edits, packerNames), play.String()} {
		if bare(text) {
			t.Error(text)
		}
	}
	for text, want := range map[string]string{"8": "8", "010": "10", "+8": `"+8"`, "0x8": `"0x8"`, "8e1": `"8e1"`, "": `""`, "8 ": `"8 "`} {
		if got := number(text, hcl); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestTerraformReads lets Terraform read back what was quoted for it.
func TestTerraformReads(t *testing.T) {
	terraform := testdeps.Program(t, "terraform")
	var list []string
	for _, s := range hostile {
		list = append(list, hcl(s))
	}
	cmd := exec.CommandContext(t.Context(), terraform, "console")
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader("join(\"\\u0001\", [" + strings.Join(list, ", ") + "]) == base64decode(\"" + base64(strings.Join(hostile, "\x01")) + "\")\n")
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		t.Errorf("terraform console: %v\n%s", err, out)
	}
}

// FuzzComment checks that no name leaves its comment.
func FuzzComment(f *testing.F) {
	seeds(f)
	f.Add("x\r$(id)")
	f.Add("x\u0085y\u2028z\v\f")
	f.Fuzz(func(t *testing.T, s string) {
		got := commented(s)
		if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "#") || strings.ContainsAny(got, "\r\v\f\x00\u0085\u2028\u2029") {
			t.Errorf("%q is %q", s, got)
		}
	})
}
