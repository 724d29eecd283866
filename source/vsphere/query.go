package vsphere

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A query reads the same properties of all objects of some kinds.
type query struct {
	stage string                         // the name in errors and Progress: "VMs"
	kinds []string                       // managed object types
	paths []string                       // property paths, including "name"
	page  int32                          // objects in one answer
	only  []types.ManagedObjectReference // these objects; nil for all
}

// An object is a query's result for one managed object.
type object struct {
	ref      types.ManagedObjectReference
	props    map[string]any  // valid during the call
	withheld map[string]bool // paths without an answer: no permission, or unknown to the server
}

// value returns the property at path if the server sent one of this type.
func value[T any](o *object, path string) (v T, ok bool) {
	v, ok = o.props[path].(T)
	return v, ok
}

// unset reports whether the server answered that the property has no value.
func (o *object) unset(path string) bool { return o.props[path] == nil && !o.withheld[path] }

// fact returns the property at path as a fact; unknown without one.
func fact[T any](o *object, path string) numa.Fact[T] {
	v, ok := value[T](o, path)
	if !ok {
		return numa.Fact[T]{}
	}
	return numa.ReadAt(v, path)
}

// collect runs the query and converts each object as its page arrives, so that only one page is in
// memory in the API's form. When the session expires on the way, it logs in again once and starts
// over, because the view is gone.
func collect[T any](ctx context.Context, inv *inventory, q query, convert func(*object) T) ([]T, error) {
	r := inv.reader
	fresh := func() *collection[T] {
		return &collection[T]{reader: r, query: q, convert: convert, denied: make(map[string][]string)}
	}
	c, noted := fresh(), len(inv.notes)
	err := c.run(ctx)
	if _, expired := err.(expiredError); expired {
		if err := r.login(ctx); err != nil {
			return nil, fmt.Errorf("read %s%s: session expired: log in again: %w", q.stage, c.position(), err)
		}
		c, inv.notes = fresh(), inv.notes[:noted]
		err = c.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s%s: %w", q.stage, c.position(), err)
	}
	inv.notes = append(inv.notes, c.notes()...)
	return c.done, nil
}

// A collection is the state of one run of a query.
type collection[T any] struct {
	*reader
	query
	convert func(*object) T

	viewed   bool // the view exists
	total    int  // objects in the view
	received int  // objects in the answers so far
	deleted  int  // of these, deleted before their properties were read
	done     []T
	unknown  []string            // paths unknown to the server
	denied   map[string][]string // path → IDs of the objects without permission
}

// position returns the progress of the query for an error.
func (c *collection[T]) position() string {
	if !c.viewed {
		return ""
	}
	return fmt.Sprintf(" after %s of %s", words.Thousands(c.received), words.Thousands(c.total))
}

// run reads all objects of a fresh view.
func (c *collection[T]) run(ctx context.Context) error {
	if c.only != nil {
		c.viewed, c.total = true, len(c.only)
		return c.readPages(ctx, types.ManagedObjectReference{})
	}
	view, err := c.viewAndCount(ctx)
	if err != nil {
		return err
	}
	if c.total > 0 {
		c.progress()
		if err := c.readPages(ctx, view); err != nil {
			return err // the view ends with the session
		}
	}
	return c.destroyView(ctx, view)
}

func (c *collection[T]) progress() {
	if c.opts.Progress != nil {
		c.opts.Progress(c.stage, c.received, c.total)
	}
}

// createView creates a view of all objects of these kinds.
func (r *reader) createView(ctx context.Context, kinds []string) (view types.ManagedObjectReference, err error) {
	err = r.call(ctx, func(ctx context.Context) error {
		res, err := methods.CreateContainerView(ctx, r.client, &types.CreateContainerView{
			This:      *r.client.ServiceContent.ViewManager,
			Container: r.client.ServiceContent.RootFolder,
			Type:      kinds,
			Recursive: true,
		})
		if err == nil {
			view = res.Returnval
		}
		return err
	})
	return view, err
}

// destroyView ends a view before its session does.
func (r *reader) destroyView(ctx context.Context, view types.ManagedObjectReference) error {
	return r.call(ctx, func(ctx context.Context) error {
		_, err := methods.DestroyView(ctx, r.client, &types.DestroyView{This: view})
		return err
	})
}

// inView selects properties of the objects in a view, without the view itself.
func inView(view types.ManagedObjectReference, properties ...types.PropertySpec) types.PropertyFilterSpec {
	return types.PropertyFilterSpec{
		ObjectSet: []types.ObjectSpec{{
			Obj:       view,
			Skip:      types.NewBool(true),
			SelectSet: []types.BaseSelectionSpec{&types.TraversalSpec{Type: view.Type, Path: "view"}},
		}},
		PropSet: properties,
	}
}

// viewAndCount creates the view of the query and counts its objects.
func (c *collection[T]) viewAndCount(ctx context.Context) (types.ManagedObjectReference, error) {
	view, err := c.createView(ctx, c.kinds)
	if err != nil {
		return view, err
	}
	_, err = c.retrieve(ctx, types.PropertyFilterSpec{
		ObjectSet: []types.ObjectSpec{{Obj: view}},
		PropSet:   []types.PropertySpec{{Type: view.Type, PathSet: []string{"view"}}},
	}, func(o *content) error {
		c.total, _ = o.props["view"].(int)
		return nil
	})
	if err != nil {
		return view, err
	}
	c.viewed = true
	return view, nil
}

// retrieve sends the first request for properties and returns the token of the
// next page.
func (c *collection[T]) retrieve(ctx context.Context, spec types.PropertyFilterSpec, each func(*content) error) (token string, err error) {
	return c.post(ctx, &methods.RetrievePropertiesExBody{Req: &types.RetrievePropertiesEx{
		This:    c.client.ServiceContent.PropertyCollector,
		SpecSet: []types.PropertyFilterSpec{spec},
		Options: types.RetrieveOptions{MaxObjects: c.page},
	}}, "RetrievePropertiesExResponse", each)
}

// readPages reads the properties of the objects in view, page by page.
func (c *collection[T]) readPages(ctx context.Context, view types.ManagedObjectReference) error {
	token, err := c.firstPage(ctx, view)
	for pages := 1; err == nil; pages++ {
		c.progress()
		if token == "" {
			return nil
		}
		if pages >= mostPages(c.total) {
			return fmt.Errorf("found more than %s answers for %s objects", words.Thousands(pages), words.Thousands(c.total))
		}
		token, err = c.post(ctx, &methods.ContinueRetrievePropertiesExBody{Req: &types.ContinueRetrievePropertiesEx{
			This:  c.client.ServiceContent.PropertyCollector,
			Token: token,
		}}, "ContinueRetrievePropertiesExResponse", c.add)
	}
	return err
}

// firstPage requests the properties, and again without those unknown to the server: an older
// vCenter rejects the whole request because of one of them.
func (c *collection[T]) firstPage(ctx context.Context, view types.ManagedObjectReference) (token string, err error) {
	for {
		spec := inView(view)
		if c.only != nil {
			spec.ObjectSet = nil
			for _, ref := range c.only {
				spec.ObjectSet = append(spec.ObjectSet, types.ObjectSpec{Obj: ref})
			}
		}
		for _, kind := range c.kinds {
			spec.PropSet = append(spec.PropSet, types.PropertySpec{Type: kind, PathSet: c.known()})
		}
		token, err := c.retrieve(ctx, spec, c.add)
		var invalid *types.InvalidProperty
		if _, ok := fault.As(err, &invalid); !ok {
			return token, err
		}
		i := slices.IndexFunc(c.known(), func(p string) bool { return p == invalid.Name || strings.HasSuffix(p, "."+invalid.Name) })
		if i < 0 || c.known()[i] == "name" {
			return "", fmt.Errorf("property %q: %w", invalid.Name, err)
		}
		c.unknown = append(c.unknown, c.known()[i])
	}
}

// known returns the wanted paths without those unknown to the server.
func (c *collection[T]) known() []string {
	return slices.DeleteFunc(slices.Clone(c.paths), func(p string) bool { return slices.Contains(c.unknown, p) })
}

// add converts one object of an answer.
func (c *collection[T]) add(content *content) error {
	if c.received++; c.received > mostObjects(c.total) {
		return fmt.Errorf("found more than twice the %s objects of the view", words.Thousands(c.total))
	}
	if n := len(content.ref.Value); n > numa.MaxName {
		return fmt.Errorf("found an ID of %d bytes", n)
	}
	o := object{ref: content.ref, props: content.props}
	if len(c.unknown)+len(content.missing) > 0 {
		o.withheld = make(map[string]bool)
	}
	for _, p := range c.unknown {
		o.withheld[p] = true
	}
	for _, m := range content.missing {
		o.withheld[m.Path] = true
		switch m.Fault.Fault.(type) {
		case *types.NotAuthenticated:
			return expiredError{fmt.Errorf("%s of %s is withheld", m.Path, content.ref.Value)}
		case *types.ManagedObjectNotFound:
			c.deleted++
			return nil
		case *types.InvalidProperty:
			if !slices.Contains(c.unknown, m.Path) {
				c.unknown = append(c.unknown, m.Path)
			}
		default:
			c.denied[m.Path] = append(c.denied[m.Path], content.ref.Value)
		}
	}
	if len(c.done) == cap(c.done) {
		c.done = slices.Grow(c.done, min(c.total, mostReserved)+1)
	}
	c.done = append(c.done, c.convert(&o))
	return nil
}

// notes lists the omissions of the answers.
func (c *collection[T]) notes() []numa.Note {
	var notes []numa.Note
	add := func(format string, a ...any) {
		notes = append(notes, numa.Note{At: c.host, Text: fmt.Sprintf(format, a...)})
	}
	for _, path := range c.unknown {
		add("API version %s does not know %s of %s: left unknown", c.client.ServiceContent.About.ApiVersion, path, c.stage)
	}
	for _, path := range c.paths {
		if ids := c.denied[path]; len(ids) > 0 {
			add("the account may not read %s of %s of %s %s, such as %s", path, words.Thousands(len(ids)), words.Thousands(c.total), c.stage, ids[0])
		}
	}
	if gone := max(c.total-c.received, 0) + c.deleted; gone > 0 {
		add("%s of %s %s disappeared while they were read", words.Thousands(gone), words.Thousands(c.total), c.stage)
	}
	return notes
}
