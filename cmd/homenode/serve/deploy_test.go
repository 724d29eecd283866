package serve

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

const deploy = "../../../deploy"

// expressions returns those of the alerts and dashboards that are shipped, with values for the variables
// of Grafana.
func expressions(t *testing.T) (alerts, panels []string) {
	t.Helper()
	b, err := os.ReadFile(deploy + "/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	if err := yaml.Unmarshal(b, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			alerts = append(alerts, r.Expr)
		}
	}
	files, err := filepath.Glob(deploy + "/grafana/dashboards/*.json")
	if err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$vcenter", ".*", "$cluster", ".*", "$host", ".*", "$vm", "cache01", "$__rate_interval", "2m", "$__range", "1h")
	for _, file := range files {
		b := golden.Read(t, file)
		var board struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
			Templating struct {
				List []struct {
					Type  string
					Query any
				}
			}
		}
		if err := json.Unmarshal(b, &board); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, p := range board.Panels {
			for _, x := range p.Targets {
				panels = append(panels, variables.Replace(x.Expr))
			}
		}
		for _, v := range board.Templating.List {
			if q, ok := v.Query.(map[string]any); ok {
				of := regexp.MustCompile(`^label_values\((.*), \w+\)$`).FindStringSubmatch(q["query"].(string))
				if of == nil {
					t.Fatalf("%s: %v", file, q)
				}
				panels = append(panels, variables.Replace(of[1]))
			}
		}
	}
	if len(alerts) < 10 || len(panels) < 40 {
		t.Fatalf("%d alerts, %d panels", len(alerts), len(panels))
	}
	return alerts, panels
}

// TestThresholds holds what alerts and dashboards take over from checks equal to the defaults of those.
func TestThresholds(t *testing.T) {
	value := func(id, name string) float64 {
		i := slices.IndexFunc(rules.All, func(r *rule.Rule) bool { return r.ID == id })
		x := rules.All[i].Named(name)
		if x.Unit == rule.GiB {
			return x.Default * float64(numa.GiB)
		}
		return x.Default
	}
	locality, remote := value("M001", "locality"), value("M001", "remote")
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for file, texts := range map[string][]string{
		"prometheus/alerts.yaml": {
			"expr: homenode_vm_numa_local_ratio < " + number(locality) + " and homenode_vm_numa_remote_bytes > " + number(remote) + "\n",
			"N%L is below " + rule.NL(locality) + " and more than " + strings.Replace(numa.Bytes(remote).String(), " MiB", " MB", 1) + " are remote",
			"(homenode_node_cpu_core_util_ratio or homenode_node_cpu_util_ratio) > " + number(value("M004", "busy")) + "\n",
			"(homenode_node_cpu_core_util_ratio or homenode_node_cpu_util_ratio) < " + number(value("M004", "idle")) + "\n",
			"increase(homenode_vm_numa_migrations_total[10m]) > " + number(10*value("M003", "perMinute")) + "\n",
			number(4*value("H007", "reserve")) + " * homenode_host_memory_minfree_bytes\n",
		},
		"grafana/dashboards/fleet.json": {"< " + number(locality) + ") or vector(0)"},
		"grafana/dashboards/vm.json":    {`"value": ` + number(locality) + "\n", `"value": ` + number(value("M005", "fair")) + "\n"},
	} {
		b := golden.Read(t, filepath.Join(deploy, file))
		for _, text := range texts {
			if !strings.Contains(string(b), text) {
				t.Errorf("%s: does not have %q", file, text)
			}
		}
	}
}

// empty are the panels that show nothing while all is well.
var empty = regexp.MustCompile(`fetch_failures|turns_skipped|rate\(homenode_vm_numa_migrations_total.* > 0`)

// TestAlertRules lets promtool test the alerts, and holds those of the demo equal to them.
func TestAlertRules(t *testing.T) {
	promtool := testdeps.Program(t, "promtool")
	cmd := exec.CommandContext(t.Context(), promtool, "test", "rules", "alerts_test.yaml")
	cmd.Dir = deploy + "/prometheus"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v: %s", err, out)
	}
	for _, name := range []string{"prometheus.yml", "prometheus-demo.yml"} {
		if out, err := exec.CommandContext(t.Context(), promtool, "check", "config", deploy+"/prometheus/"+name).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v: %s", err, out)
		}
	}
	real := golden.Read(t, deploy+"/prometheus/alerts.yaml")
	demo := golden.Read(t, deploy+"/prometheus/alerts-demo.yaml")
	_, want, _ := strings.Cut(regexp.MustCompile(`for: \d+m`).ReplaceAllString(string(real), "for: 1m"), "groups:")
	if _, got, _ := strings.Cut(string(demo), "groups:"); got != want {
		t.Error("alerts-demo.yaml differs from alerts.yaml in more than its times")
	}
}

// TestPrometheus lets a real Prometheus scrape the demo, whose cache01 has lost its locality, until the alert
// fires; every expression that is shipped is put to it and to homenode's own store.
func TestPrometheus(t *testing.T) {
	alerts, panels := expressions(t)
	text := golden.Read(t, deploy+"/prometheus/alerts.yaml")
	rules := filepath.Join(t.TempDir(), "alerts.yaml")
	golden.Write(t, rules, regexp.MustCompile(`for: \d+m`).ReplaceAll(text, []byte("for: 2s")))
	ours, _ := startServer(t, 2*time.Minute)
	real := testdeps.Prometheus(t, t.TempDir(), "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: ["+rules+"]\nscrape_configs: [{job_name: homenode, static_configs: [{targets: ['"+strings.TrimPrefix(ours, "http://")+"']}]}]\n")
	fires := func() bool {
		_, text := get(t, real+"/api/v1/query?query="+url.QueryEscape(`ALERTS{alertname="HomenodeLocalityLow",alertstate="firing",vm="cache01"}`))
		return strings.Contains(text, `"cache01"`)
	}
	for end := time.Now().Add(3 * time.Minute); !fires(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			_, text := get(t, real+"/api/v1/alerts")
			t.Fatalf("the alert does not fire: %s", text)
		}
	}
	_, value := get(t, real+"/api/v1/query?query="+url.QueryEscape(`homenode_vm_numa_local_ratio{vm="cache01"} < 0.8`))
	if !strings.Contains(value, `"esx02.demo"`) {
		t.Errorf("cache01 below 0.8: %s", value)
	}
	// Shares of time need two answers that differ, and rates two scrapes of those.
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		_, text := get(t, real+"/api/v1/query?query="+url.QueryEscape(`rate(homenode_vm_numa_balance_migrations_total{vm="cache01"}[1m])`))
		if strings.Contains(text, `"cache01"`) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no migrations are counted")
		}
	}
	for i, q := range append(alerts, panels...) {
		for _, at := range []string{real, ours} {
			_, text := get(t, at+"/api/v1/query?query="+url.QueryEscape(q))
			switch {
			case !strings.HasPrefix(text, `{"status":"success"`):
				t.Errorf("%s: %s: %s", at, q, text)
			case i >= len(alerts) && at == real && strings.Contains(text, `"result":[]`) && !empty.MatchString(q):
				t.Errorf("%s: %s: nothing", at, q)
			}
		}
	}
}

// TestUnitMemory checks that Go collects before systemd slows the process down, and that before systemd ends it.
func TestUnitMemory(t *testing.T) {
	unit := golden.Read(t, deploy+"/systemd/homenode.service")
	m := regexp.MustCompile(`(?s)GOMEMLIMIT=(\d+)MiB.*\nMemoryHigh=(\d+)M\nMemoryMax=(\d+)G\n`).FindSubmatch(unit)
	if m == nil {
		t.Fatal("the unit has no limits of memory")
	}
	limit, _ := strconv.Atoi(string(m[1]))
	high, _ := strconv.Atoi(string(m[2]))
	most, _ := strconv.Atoi(string(m[3]))
	if limit >= high || high >= most<<10 || most > 2 {
		t.Errorf("GOMEMLIMIT %d, MemoryHigh %d, MemoryMax %d", limit, high, most<<10)
	}
}

// TestUnit lets systemd look at the unit, where there is one.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	unit := golden.Read(t, deploy+"/systemd/homenode.service")
	file := filepath.Join(t.TempDir(), "homenode.service")
	golden.Write(t, file, []byte(strings.ReplaceAll(string(unit), "=/usr/local/bin/homenode", "=/bin/true")))
	for _, args := range [][]string{{"verify", "--man=no", file}, {"security", "--offline=yes", "--threshold=20", file}} {
		if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %v: %v: %s", args, err, out)
		}
	}
}
