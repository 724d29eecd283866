// Package playbook has the Ansible playbook that measures many guests: it copies homenode-measure into each, runs it, fetches the
// result and removes everything.
package playbook

import _ "embed"

// Text is the playbook: YAML for ansible-playbook, with modules of ansible.builtin only.
//
//go:embed playbook.yml
var Text string
