// Package journal keeps what is done to VMs on disk, before and after each step, so that whatever ends the process,
// the next one knows how far it came.
//
// A journal is a file of JSON lines. Each has a hash of itself and of the lines before it: a line that was changed or taken out
// is found. Each is on disk when Append returns. A last line without its end counts as not written.
package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/filelock"
	"example.org/homenode/internal/owned"
	"example.org/homenode/numa"
	"example.org/homenode/source/strict"
)

// The steps of a line.
const (
	StepPlan   = "plan"   // a run of this plan begins: to carry it out, or to take another back
	StepIntent = "intent" // what comes now
	StepTask   = "task"   // vCenter took it
	StepDone   = "done"   // it was read back
	StepEnd    = "end"    // how a VM or host came out
)

// A Line is one line of a journal.
type Line struct {
	N    int       `json:"n"`   // from 1
	Sum  string    `json:"sum"` // hex SHA-256 of this line with the sum of the line before it here; "" before the first
	Time time.Time `json:"t"`
	Plan string    `json:"plan,omitempty"` // ID of the run's plan
	Step string    `json:"step"`

	Whole *fix.Plan `json:"whole,omitempty"` // of StepPlan
	Undo  bool      `json:"undo,omitempty"`  // of StepPlan: the plan takes back an earlier one
	Power string    `json:"power,omitempty"` // of StepPlan: how VMs come to be off

	Target string `json:"target,omitempty"` // ID of the VM or host
	Name   string `json:"name,omitempty"`
	Do     string `json:"do,omitempty"` // reconfigure, options, shutdown, powerOff, powerOn
	// Edits say what an intent changes, from what to what; those of a done say what was read.
	Edits         []numa.Edit `json:"edits,omitempty"`
	ChangeVersion string      `json:"changeVersion,omitempty"`
	Ran           bool        `json:"ran,omitempty"`  // the VM was running before the run
	Host          string      `json:"host,omitempty"` // ID of the host that a VM is moved to
	Key           string      `json:"key,omitempty"`  // of the task, or ID of the VM that is moved
	State         string      `json:"state,omitempty"`
	Why           string      `json:"why,omitempty"`
}

// A Journal is open for writing. Its methods may be called at the same time.
type Journal struct {
	Path string

	mu     sync.Mutex
	f      *os.File
	unlock func()
	n      int
	prev   string // sum of the last line
	size   int64  // when it was opened
	failed error
	now    func() time.Time
}

// reserve is kept on disk while a journal is open, so that a full disk is known before a VM is touched and the last
// lines of one under way still find room.
const reserve = 1 << 20

// mostLine bounds a line: the first one holds the plan.
const mostLine = fix.MaxPlan + 1<<20

var errTooLong = fmt.Errorf("it is longer than %d MB", mostLine>>20)

// Create makes the journal of a plan in a folder. Only its owner can read it. It is an error when another process has it.
func Create(folder string, p *fix.Plan, now func() time.Time) (*Journal, error) {
	name := filepath.Join(folder, fmt.Sprintf("%s-%s", p.ID, now().UTC().Format("20060102T150405Z")))
	path := name + ".journal"
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, os.ErrExist) && n < 100; n++ { // another run of the second
		path = fmt.Sprintf("%s-%d.journal", name, n)
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{Path: path, f: f, now: now}
	if err := j.open(); err != nil {
		return nil, errors.Join(err, f.Close(), Discard(path)) // nothing is in it
	}
	return j, nil
}

// Discard removes a journal of which nothing was carried out, after its lock: no run makes a journal of this name before it is gone. The lock of any other
// journal stays, as a process that waits for it may have it open.
func Discard(path string) error {
	if err := os.Remove(path + ".lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}

// Open opens a journal to go on with it, and returns its lines. A torn last line is cut off.
func Open(path string, now func() time.Time) (*Journal, []Line, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	j := &Journal{Path: path, f: f, now: now}
	if err = owned.Check(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	} else {
		err = j.open()
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	var lines []Line
	var size int64
	var prev string
	if err == nil {
		lines, size, prev, err = read(f, path)
	}
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		_ = j.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	j.n, j.prev, j.size = len(lines), prev, size
	return j, lines, nil
}

// Hold keeps other processes from a journal until release is called; one that was removed needs nothing.
func Hold(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // NFS locks no file that is open for reading alone
	if errors.Is(err, os.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	unlock, err := filelock.Take(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		unlock()
		_ = f.Close() // it was not written
	}, nil
}

// open takes the lock and the reserve, and makes the file's name lasting.
func (j *Journal) open() error {
	unlock, err := filelock.Take(j.f)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Path, err)
	}
	j.unlock = unlock
	if err := j.keepReserve(); err != nil {
		_ = os.Remove(j.spare())
		unlock()
		return fmt.Errorf("%s: no room for the journal: %w", j.Path, err)
	}
	dir, err := os.Open(filepath.Dir(j.Path))
	if err != nil {
		return err
	}
	err = dir.Sync()
	return errors.Join(err, dir.Close())
}

func (j *Journal) spare() string { return j.Path + ".reserve" }

// keepReserve writes the reserve, a new file: a link that stands there would lead to another one. A hole would keep no room.
func (j *Journal) keepReserve() error {
	if err := os.Remove(j.spare()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(j.spare(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte{1}, reserve))
	return errors.Join(err, f.Sync(), f.Close())
}

// Close ends the journal. What was appended is on disk already.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = os.Remove(j.spare())
	err := j.f.Close()
	j.unlock()
	return err
}

// Withdraw removes the lines of a run that was refused: those appended since the journal was opened. The journal can be closed then.
func (j *Journal) Withdraw() error { return j.f.Truncate(j.size) }

// Append writes a line and returns when it is on disk. After an error every further line is refused, but those that
// Last writes.
func (j *Journal) Append(l Line) error { return j.append(l, false) }

// Last is Append for what has happened already: when the disk is full, the reserve makes room for it.
func (j *Journal) Last(l Line) error { return j.append(l, true) }

func (j *Journal) append(l Line, last bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil && !last {
		return j.failed
	}
	l.N, l.Time = j.n+1, j.now().UTC()
	data, err := l.sealed(j.prev)
	if err == nil && len(data) > mostLine {
		err = errTooLong
	}
	if err != nil {
		return err
	}
	err = j.write(append(data, '\n'))
	if err != nil && last {
		j.failed = fmt.Errorf("%s: %w", j.Path, err) // nothing more is begun in the room of the reserve
		_ = os.Remove(j.spare())
		err = j.write(append(data, '\n'))
	}
	if err != nil {
		j.failed = fmt.Errorf("%s: %w", j.Path, err)
		return j.failed
	}
	j.n, j.prev = l.N, l.Sum
	return nil
}

// sealed returns the line in JSON with its sum; prev is the sum of the line before it.
func (l *Line) sealed(prev string) ([]byte, error) {
	l.Sum = prev
	data, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	l.Sum = hex.EncodeToString(sum[:])
	return json.Marshal(l)
}

// write appends data whole, or leaves the file as it was.
func (j *Journal) write(data []byte) error {
	at, err := j.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = j.f.Write(data)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		_ = j.f.Truncate(at)
	}
	return err
}

// Read reads a journal that somebody else may be writing.
func Read(path string) ([]Line, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var lines []Line
	if err = owned.Check(f); err == nil {
		lines, _, _, err = read(f, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// read returns the lines, their size in bytes, and the sum of the last. A file that Create named after one plan is no journal of another.
func read(r io.Reader, path string) (lines []Line, size int64, prev string, err error) {
	b := bufio.NewReader(r)
	var c checker
	for n := 1; ; n++ {
		data, err := line(b)
		if err == io.EOF { // without its end: not written
			break
		}
		if err != nil {
			return nil, 0, "", fmt.Errorf("line %d: %w", n, err)
		}
		var l Line
		if err := strict.Unmarshal("", "journal", data, &l); err != nil {
			return nil, 0, "", fmt.Errorf("line %d: it is no line of a journal: %w", n, err)
		}
		l.N = n
		if written, err := l.sealed(prev); err != nil || !bytes.Equal(written, data) {
			return nil, 0, "", fmt.Errorf("line %d: the line does not match its checksum and the line before it: the journal was changed", n)
		}
		if err := c.check(&l); err != nil {
			return nil, 0, "", fmt.Errorf("line %d: %w", n, err)
		}
		prev, size, lines = l.Sum, size+int64(len(data))+1, append(lines, l)
	}
	if len(lines) == 0 {
		return nil, 0, "", errors.New("it has no line: the run ended before it began, and nothing was changed. Run --apply again")
	}
	if id, began, _ := strings.Cut(filepath.Base(path), "-"); id != lines[0].Plan && len(id) == len(lines[0].Plan) && strings.HasSuffix(began, ".journal") {
		return nil, 0, "", fmt.Errorf("line 1: it is the journal of the plan %s, its name is that of the plan %q: another file stands in its place", lines[0].Plan, id)
	}
	return lines, size, prev, nil
}

// line returns the next line without its end; io.EOF for one that has none.
func line(b *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := b.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case err == nil:
			return out[:len(out)-1], nil
		case err != bufio.ErrBufferFull:
			return nil, err
		case len(out) > mostLine:
			return nil, errTooLong
		}
	}
}
