package rules

// thresholds returns the thresholds that the configuration sets; nil if there are none.
func (o *Options) thresholds() map[string]float64 {
	if o.Policy == nil {
		return nil
	}
	return o.Policy.Thresholds
}
