package apply

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.org/homenode/change/fix/journal"
	"example.org/homenode/numa"
)

// ErrLocked says that another run changes the vCenter.
var ErrLocked = errors.New("another run changes this vCenter")

// name returns the name of the run in the lock.
func (r *run) name() string { return Name(r.j.Path) }

// Name returns the name that the run of a journal has in the lock: the journal, a hash of the folder, and this machine. A process that resumes the journal
// has the same name.
func Name(journal string) string {
	machine, _ := os.Hostname()      // without a name any machine may go on
	path, _ := filepath.Abs(journal) // "" where the working directory is gone
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s (%x) on %s", filepath.Base(path), folder[:4], cmp.Or(machine, "a machine without a name"))
}

// Under returns the path of the journal whose run has this name in the lock, where it is in one of the folders of this machine; "" for none.
func Under(name string, folders ...string) string {
	file, _, _ := strings.Cut(name, " ")
	for _, folder := range folders {
		if path := filepath.Join(folder, filepath.Base(file)); Name(path) == name {
			return path
		}
	}
	return ""
}

// held reports whether the run still has the lock, and ends the run where somebody removed it: another run may change the same VMs.
func (r *run) held(ctx context.Context) (held bool) {
	err := r.again(ctx, func() (err error) {
		held, err = r.t.Held(ctx, r.name())
		return err
	})
	switch {
	case err != nil:
		r.halt(fmt.Errorf("the lock that keeps other runs away could not be read: %w", err))
	case !held:
		r.halt(errors.New("the lock that keeps other runs away was removed while this run had it: another run may have begun. --resume goes on when none has"))
	}
	return held && err == nil
}

// unnamed is how long a lock may have no name at least: a run names it in its next call, and one that was killed before never does.
const unnamed = 2 * time.Second

// lock keeps other runs away, on this machine and on others. A run that is killed while it makes the lock, or whose connection ends then, may leave one
// without a name: it is adopted when it still has none after a while.
func (r *run) lock(ctx context.Context) error {
	holder := ""
	take := func(adopt bool) error {
		return r.again(ctx, func() (err error) {
			holder, err = r.t.Lock(ctx, r.name(), adopt)
			return err
		})
	}
	err := take(false)
	if err == nil && holder == numa.UnnamedRun {
		if err = pause(ctx, nil, max(unnamed, 2*r.o.Poll)); err == nil {
			err = take(true)
		}
	}
	if err != nil { // its name may be in it
		_, left := r.t.Unlock(ctx, r.name())
		err = errors.Join(err, left)
	}
	switch {
	case err != nil:
		return fmt.Errorf("the lock that keeps other runs away could not be taken: %w. Nothing was changed", err)
	case holder != "":
		return fmt.Errorf("%w: %s. Nothing was changed. If that run was killed, --resume or --rollback of its journal goes on with it, and --unlock removes its lock", ErrLocked, holder)
	}
	return nil
}

// Release removes the lock that the killed run of a journal left, also one that it had not named yet. It returns ErrLocked when another run has the lock.
func Release(ctx context.Context, t Target, j *journal.Journal) error {
	r := &run{t: t, j: j}
	r.o.complete()
	err := r.lock(ctx)
	if err == nil {
		err = r.unlock(ctx)
	}
	return err
}

// unlock lets other runs begin.
func (r *run) unlock(ctx context.Context) error {
	err := r.again(ctx, func() error {
		_, err := r.t.Unlock(ctx, r.name())
		return err
	})
	if err != nil {
		return fmt.Errorf("the lock that keeps other runs away stays, --unlock removes it: %w", err)
	}
	return nil
}
