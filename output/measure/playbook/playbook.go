// Package playbook has the Ansible playbook that measures many guests. It copies homenode-measure to each guest, runs it, fetches the
// result and cleans up.
package playbook

import _ "embed"

// Text is the playbook: YAML for ansible-playbook, with modules of ansible.builtin only.
//
//go:embed playbook.yml
var Text string
