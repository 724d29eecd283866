package rule

import (
	"slices"

	"homenode/esxi/plan"
	"homenode/internal/words"
	"homenode/rules/finding"
)

// price describes the findings of medium or high severity that the plan makes of the VM in place of those that it cures; "" for none.
func (p *Pass) price(best *plan.Plan) (text string) {
	now := p.now()
	for _, a := range p.weigh(p.VM.Edits(&best.Edit)) {
		had := func(n finding.Finding) bool {
			return n.Rule == a.Rule && n.Topic == a.Topic && n.Severity >= a.Severity
		}
		if a.Severity >= finding.Medium && !slices.ContainsFunc(now, had) {
			text = words.Join("; ", text, "the plan makes another finding of "+a.Severity.String()+" severity: "+a.Message)
		}
	}
	return text
}
