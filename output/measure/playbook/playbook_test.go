package playbook_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/output/measure/playbook"
	"example.org/homenode/source/measured"
)

// TestPlaybook checks that the playbook is YAML, uses modules of ansible.builtin alone, removes what it made whatever happens, and
// that its head names every variable.
func TestPlaybook(t *testing.T) {
	var plays []map[string]any
	if err := yaml.Unmarshal([]byte(playbook.Text), &plays); err != nil {
		t.Fatal(err)
	}
	if len(plays) != 2 {
		t.Fatalf("found %d plays, want 2", len(plays))
	}
	if plays[0]["serial"] != "{{ homenode_at_once | default(1) }}" {
		t.Errorf("serial is %v: guests of one host would measure at once", plays[0]["serial"])
	}
	known := []string{"name", "when", "register", "changed_when", "failed_when"}
	modules := 0
	var look func(task map[string]any)
	look = func(task map[string]any) {
		for key, value := range task {
			switch list, isList := value.([]any); {
			case isList && slices.Contains([]string{"block", "rescue", "always"}, key):
				for _, one := range list {
					look(one.(map[string]any))
				}
			case strings.HasPrefix(key, "ansible.builtin."):
				modules++
			case !slices.Contains(known, key):
				t.Errorf("task %v: found %s, want a module of ansible.builtin or one of %v", task["name"], key, known)
			}
		}
	}
	for _, play := range plays {
		for _, task := range play["tasks"].([]any) {
			look(task.(map[string]any))
		}
	}
	if modules != 7 {
		t.Errorf("found %d modules, want 7", modules)
	}
	block := plays[0]["tasks"].([]any)[0].(map[string]any)
	always, _ := block["always"].([]any)
	if len(always) != 1 || always[0].(map[string]any)["ansible.builtin.file"].(map[string]any)["state"] != "absent" {
		t.Errorf("always is %v: the folder in the guest would stay", always)
	}

	head, tasks, _ := strings.Cut(playbook.Text, "\n- name:")
	set := regexp.MustCompile(`register: (\w+)`).FindAllStringSubmatch(tasks, -1)
	for _, name := range regexp.MustCompile(`homenode_\w+`).FindAllString(tasks, -1) {
		isSet := slices.ContainsFunc(set, func(m []string) bool { return m[1] == name })
		if !isSet && !strings.Contains(head, "\n#   "+name+" ") {
			t.Errorf("the head does not name the variable %s", name)
		}
	}
}

// TestAnsible measures guests that are this machine: one, one whose program does not exist, one whose program writes nothing, one that
// does not end, one that cannot be reached, and one more. It wants Ansible, which make prove alone installs.
func TestAnsible(t *testing.T) {
	program := testdeps.Ansible(t)
	dir, guest := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "homenode-measure"), "example.org/homenode/cmd/homenode-measure").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	python := filepath.Join(filepath.Dir(program), "python")
	local := " ansible_connection=local ansible_python_interpreter=" + python
	for name, text := range map[string]string{
		"measure.yml": playbook.Text,
		"sleeps":      "#!/bin/sh\necho $$ > " + dir + "/pid\nexec sleep 600\n",
		"silent":      "#!/bin/sh\n",
		"inventory.ini": "[all]\nfirst homenode_name=\"sql 01's\"" + local + "\nabsent homenode_binary=" + dir + "/no-such" + local + "\nquiet homenode_binary=" + dir + "/silent" + local +
			"\nendless homenode_longest=1 homenode_binary=" + dir + "/sleeps" + local + "\ndead ansible_host=127.0.0.1 ansible_port=1\nlast homenode_options='[\"topology\"]'" + local + "\n[good]\nfirst\nlast\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	play := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-i", "inventory.ini", "measure.yml", "-e", "homenode_folder=" + guest}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ANSIBLE_NOCOLOR=1", "HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(guest); len(left) > 0 {
			t.Errorf("%d folders are left in the guests:\n%s", len(left), out)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	check := func(folder string, want map[string]string) {
		t.Helper()
		files, _ := filepath.Glob(filepath.Join(dir, folder, "*"))
		if len(files) != len(want) {
			t.Errorf("got the files %v, want %v", files, want)
		}
		for file, name := range want {
			b, err := os.ReadFile(filepath.Join(dir, folder, file))
			if err != nil {
				t.Error(err)
				continue
			}
			if docs, err := measured.Read(file, bytes.NewReader(b)); err != nil || len(docs) != 1 || docs[0].Name != name {
				t.Errorf("%s: got %d results, %v, want that of %q", file, len(docs), err, name)
			}
		}
	}
	want := map[string]string{"first.json": "sql 01's", "last.json": "last"}

	out, code := play()
	if code == 0 {
		t.Errorf("exit code 0 although guests were not measured:\n%s", out)
	}
	for _, name := range []string{"absent", "quiet", "endless", "dead"} {
		if !strings.Contains(out, `"msg": "`+name+` was not measured"`) {
			t.Errorf("the end does not name %s:\n%s", name, out)
		}
	}
	check("measured", want)
	pid := golden.Read(t, filepath.Join(dir, "pid"))
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(pid)))); err == nil {
		t.Error("the program that does not end runs on in the guest")
	}

	if out, code := play("-e", "homenode_guests=good", "-e", "homenode_at_once=2", "-e", "homenode_results="+filepath.Join(dir, "again")); code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	check("again", want)
}
