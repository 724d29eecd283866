package ask

import (
	"homenode/esxi/vnuma"
	"homenode/rules"
)

// A Choice takes the other side where sources disagree.
type Choice struct {
	IDs []string `ask:"choose,list" help:"take the other side where sources disagree, such as F-18 (list: homenode rules --conflicts)"`
}

// Choices returns what was chosen.
func (c *Choice) Choices() (out vnuma.Choices, err error) {
	for _, id := range c.IDs {
		if err := out.Take(id); err != nil {
			return out, Wrong("choose", err)
		}
	}
	return out, nil
}

// Options returns how a fleet is judged.
func (c *Choice) Options(e *Env) (rules.Options, error) {
	choices, err := c.Choices()
	o := rules.Options{Choices: choices, Policy: e.Policy, Today: e.Today}
	if e.Held != nil {
		o.Ticks = e.Held.Ticks
	}
	return o, err
}
