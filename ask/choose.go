package ask

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules"
)

// A Choice selects the other alternative where sources disagree.
type Choice struct {
	IDs []string `ask:"choose,list" help:"take the other side where sources disagree, such as F-18 (list: homenode rules --conflicts)"`
}

// Choices parses the chosen alternatives.
func (c *Choice) Choices() (out vnuma.Choices, err error) {
	for _, id := range c.IDs {
		if err := out.Take(id); err != nil {
			return out, Wrong("choose", err)
		}
	}
	return out, nil
}

// Options returns the options of an assessment.
func (c *Choice) Options(e *Env) (rules.Options, error) {
	choices, err := c.Choices()
	o := rules.Options{Choices: choices, Policy: e.Policy, Today: e.Today}
	if e.Held != nil {
		o.Ticks = e.Held.Ticks
	}
	return o, err
}
