package measure

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/measure/guest/beside"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/open"
)

// prediction reads the file of --predicted; nil without the flag.
func (c *command) prediction(ctx context.Context) (_ *vnuma.Layout, err error) {
	if c.predicted == "" {
		return nil, nil
	}
	in, err := open.Plain(ctx, c.predicted, strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return beside.Read(c.predicted, in)
}

// differs reports whether the guest differs from the prediction.
func differs(r *measured.Result) bool {
	return slices.ContainsFunc(r.Compared, func(c measured.Compared) bool { return c.Verdict == measured.Differs })
}
