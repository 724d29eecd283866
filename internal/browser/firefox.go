package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// A Firefox is a page in a headless Firefox, which is driven by WebDriver BiDi.
type Firefox struct {
	conn     *websocket.Conn
	context  string // of the page
	ids      int
	requests []string // except for files and parts of the page
}

// OpenFirefox starts Firefox on the page at address, or skips the test.
func OpenFirefox(t *testing.T, address string) *Firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			t.Skip("no firefox-esr or firefox in PATH")
		}
	}
	const origin = "http://127.0.0.1"
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-remote", "--remote-debugging-port=0", "--remote-allow-origins="+origin, "--profile", t.TempDir())
	told, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	listening := regexp.MustCompile(`ws://127\.0\.0\.1:\d+`)
	lines, server := bufio.NewScanner(told), ""
	for server == "" && lines.Scan() {
		server = listening.FindString(lines.Text())
	}
	if server == "" {
		t.Fatalf("%s does not listen: %v", path, lines.Err())
	}
	go func() { // it must not wait for a reader
		for lines.Scan() {
		}
	}()
	f := &Firefox{}
	if f.conn, err = websocket.Dial(server+"/session", "", origin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.conn.Close() })
	f.call(t, "session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.call(t, "session.subscribe", map[string]any{"events": []string{"network.beforeRequestSent"}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.call(t, "browsingContext.getTree", map[string]any{}, &tree)
	if len(tree.Contexts) == 0 {
		t.Fatal("Firefox has no page")
	}
	f.context = tree.Contexts[0].Context
	f.call(t, "browsingContext.navigate", map[string]any{"context": f.context, "url": address, "wait": "complete"}, nil)
	return f
}

// call runs a command of WebDriver BiDi (W3C working draft of 2025) and decodes its result.
func (f *Firefox) call(t *testing.T, method string, params map[string]any, result any) {
	t.Helper()
	f.ids++
	err := f.conn.SetDeadline(time.Now().Add(3 * time.Minute))
	err = errors.Join(err, websocket.JSON.Send(f.conn, map[string]any{"id": f.ids, "method": method, "params": params}))
	for err == nil {
		var reply struct {
			ID             int
			Error, Message string
			Method         string
			Params         struct{ Request struct{ URL string } }
			Result         json.RawMessage
		}
		if err = websocket.JSON.Receive(f.conn, &reply); err != nil {
			break
		}
		if url := reply.Params.Request.URL; reply.Method == "network.beforeRequestSent" && !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
			f.requests = append(f.requests, url)
		}
		if reply.ID != f.ids {
			continue
		}
		if reply.Error != "" {
			err = fmt.Errorf("%s: %s", reply.Error, reply.Message)
		} else if result != nil {
			err = json.Unmarshal(reply.Result, result)
		}
		if err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", method, err)
}

// Text returns the text that an expression has, or whose promise has.
func (f *Firefox) Text(t *testing.T, expression string) string {
	t.Helper()
	var reply struct {
		Result           struct{ Value any }
		ExceptionDetails struct{ Text string }
	}
	f.call(t, "script.evaluate", map[string]any{"expression": expression, "target": map[string]any{"context": f.context}, "awaitPromise": true}, &reply)
	if reply.ExceptionDetails.Text != "" {
		t.Fatalf("%s: %s", expression, reply.ExceptionDetails.Text)
	}
	return fmt.Sprint(reply.Result.Value)
}

// Choose chooses files in a field.
func (f *Firefox) Choose(t *testing.T, selector string, files ...string) {
	t.Helper()
	var found struct{ Nodes []map[string]any }
	f.call(t, "browsingContext.locateNodes", map[string]any{"context": f.context, "locator": map[string]any{"type": "css", "value": selector}}, &found)
	if len(found.Nodes) != 1 {
		t.Fatalf("%s finds %d elements", selector, len(found.Nodes))
	}
	f.call(t, "input.setFiles", map[string]any{"context": f.context, "element": map[string]any{"sharedId": found.Nodes[0]["sharedId"]}, "files": files}, nil)
}

// Silent checks that there were no requests.
func (f *Firefox) Silent(t *testing.T) {
	t.Helper()
	f.Text(t, `""`) // reads the events until now
	if len(f.requests) > 0 {
		t.Errorf("Firefox asked for %q", f.requests)
	}
}
