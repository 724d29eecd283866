package condition

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestConditionBounds checks that what could take long, or much memory, is refused before it is evaluated.
func TestConditionBounds(t *testing.T) {
	for text, want := range map[string]string{
		`let x=1..99;any(x,{any(x,{any(x,{any(x,{any(x,{any(x,{false})})})})})})`: "found a",
		`reduce(1..900000,#acc+string(#),"") == ""`:                               "found",
		`reduce(tags, #acc + #acc, "x") == ""`:                                    "found",
		`any(tags, {any(tags, {# == "a"})})`:                                      "found a loop in a loop",
		`any(tags, {let x = #; any(tags, {# == x})})`:                             "found a loop in a loop",
		`repeat("a", 900000) == name`:                                             "unknown name repeat",
		`len(map(tags, {#})) > 0`:                                                 "found map()",
		`let a = name + name; let b = a + a; b == ""`:                             "found + between texts",
		`let a = [tags, tags]; let b = [a, a]; string(b) == ""`:                   "found a list",
		`string([[name]]) == ""`:                                                  "found a list in a list",
		`{"a": name} == {"a": name}`:                                              "found a map",
		strings.Repeat("vcpus == 1 || ", 400) + "false":                           "found 5605 bytes",
		strings.Repeat("vcpus==1||", 190) + "false":                               "exceeds maximum allowed nodes",
		"vcpus ==": "unexpected token EOF",
		`any(tags, # matches "((a?){1000}|(a?){1000}|(a?){1000}|b)")`:        "found patterns of more than 1000 steps",
		`name matches "((a{1,9}){1,9}){1,9}z|(a{900})(b{900})"`:              "found patterns of more than 1000 steps",
		`map(1) || name matches "` + strings.Repeat("(a?){1000}", 160) + `"`: "",
		strings.Repeat(`name matches "a{300}" || `, 4) + "false":             "found patterns of more than 1000 steps",
		`name matches folder`:         "found a pattern that is no text",
		`let p = "a"; name matches p`: "found a pattern that is no text",
		`name matches "("`:            "missing closing )",
	} {
		before := allocated()
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.60q) = %v, want %q", text, err, want)
		}
		if n := allocated() - before; n > 64<<20 { // a pattern that is compiled before it is refused takes hundreds
			t.Errorf("Compile(%.60q) allocates %d MB", text, n>>20)
		}
	}
}

// allocated returns the bytes that the process has allocated until now.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestConditionsAreCheap evaluates the longest conditions that are allowed on 50 VMs of many tags: a fleet has some thousand, and a page 45 seconds.
func TestConditionsAreCheap(t *testing.T) {
	v := &numa.VM{Name: "sql01"}
	for i := range 30 {
		v.Tags = append(v.Tags, strings.Repeat("tag", 10)+string(rune('a'+i)))
	}
	v.VCPUs = numa.ReadAt(24, "")
	for _, one := range []string{`# contains "0"`, `# matches "(a+)+0"`, `# matches "(a?){90}0"`, `len(lower(upper(trim(#)))) > 99`} {
		text := "any(tags, {" + one
		for {
			longer := text + " || " + one
			if _, err := Compile(longer + "})"); err != nil {
				break
			}
			text = longer
		}
		c, err := Compile(text + "})")
		if err != nil {
			t.Fatal(err)
		}
		begin, before := time.Now(), allocated()
		for range 50 {
			if c.Holds(v, "c", nil) || c.Err() != nil {
				t.Fatalf("%.60q holds: %v", text, c.Err())
			}
		}
		if n := allocated() - before; n > 64<<20 {
			t.Errorf("%.60q allocates %d MB for 50 VMs", text, n>>20)
		}
		t.Logf("%.60q: %s for 50 VMs", text, time.Since(begin))
	}
}

// TestConditions checks what conditions can say.
func TestConditions(t *testing.T) {
	v := &numa.VM{Name: "sql01", Tags: []string{"prod", "sql"}, Attributes: []numa.Attribute{{Name: "owner", Value: "db team"}}}
	v.VCPUs = numa.ReadAt(24, "")
	on := &numa.Host{Name: "esx01", Model: numa.ReadAt("PowerEdge R750", ""), Nodes: numa.ReadAt(make([]numa.Node, 2), ""), Release: numa.ReadAt(numa.NewRelease(8, 0, 3), "")}
	for text, want := range map[string]bool{
		`vcpus == 24 && name startsWith "sql"`:                  true,
		`"prod" in tags`:                                        true,
		`any(tags, {hasPrefix(#, "s")}) && all(tags, # != "x")`: true,
		`attributes["owner"] matches "^db"`:                     true,
		`count(tags, {len(#) > 3}) == 1`:                        true,
		`len(filter(tags, {# startsWith "s"})) == 1`:            true,
		`let n = vcpus + 1; n == 25`:                            true,
		`lower(name) in ["web01"]`:                              false,
		`hostModel startsWith "PowerEdge" && hostNodes == 2`:    true,
		`hostMemory < 512 || hostHt`:                            false, // is unknown
		`release == 8.0 && update == 3`:                         true,
	} {
		c, err := Compile(text)
		if err != nil {
			t.Errorf("Compile(%q): %v", text, err)
			continue
		}
		if got := c.Holds(v, "c", on); got != want || c.Err() != nil {
			t.Errorf("%q holds: %v, %v; want %v", text, got, c.Err(), want)
		}
	}
}

// TestConditionFails checks that a condition that cannot be evaluated is an error: the VM does not vanish.
func TestConditionFails(t *testing.T) {
	c, err := Compile(`int(name) > 3`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Holds(&numa.VM{Name: "sql01"}, "", nil) || c.Err() == nil || !strings.Contains(c.Err().Error(), "VM sql01: ") {
		t.Errorf("Err() = %v, want one of sql01", c.Err())
	}
	if c.Reset(); c.Err() != nil {
		t.Error("an error outlives a reset")
	}
}
