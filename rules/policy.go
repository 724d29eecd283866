package rules

// thresholds returns the threschecks that the configuration sets; nil when none does.
func (o *Options) thresholds() map[string]float64 {
	if o.Policy == nil {
		return nil
	}
	return o.Policy.Thresholds
}
