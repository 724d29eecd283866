package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// An Audit is a log of who did what, one JSON object a line. A nil Audit keeps nothing.
type Audit struct {
	mu   sync.Mutex
	file *os.File
}

// An Entry is a line of an Audit.
type Entry struct {
	Time    time.Time         `json:"time"`
	Who     string            `json:"who"` // "" for one who is not signed in
	Role    Role              `json:"role"`
	Via     string            `json:"via,omitempty"`
	From    string            `json:"from,omitempty"`
	What    string            `json:"what"`
	Result  string            `json:"result"`
	Details map[string]string `json:"details,omitempty"`
}

// OpenAudit opens a log to append to, and creates it for its owner alone. One that others may read is refused.
func OpenAudit(path string) (*Audit, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		err = fmt.Errorf("%s: others may read or write it (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Audit{file: f}, nil
}

// Close closes the log.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	return a.file.Close()
}

func (a *Audit) write(u User, what string, details map[string]string) error {
	if a == nil {
		return nil
	}
	e := Entry{Time: time.Now().UTC(), Who: u.Name, Role: u.Role, Via: u.Via, From: u.From, What: what, Result: "ok"}
	for k, v := range details {
		if k == "result" {
			e.Result = v
			continue
		}
		if e.Details == nil {
			e.Details = map[string]string{}
		}
		e.Details[k] = v
	}
	line, err := json.Marshal(&e)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}
