package flags

// SourceHelp explains SOURCE in the help of commands.
const SourceHelp = `SOURCE is a vCenter, a file or demo: homenode help sources lists them.`

// SourceTopic lists what a SOURCE can be, for homenode help sources.
const SourceTopic = `SOURCE is one of
  https://vc01.example.com   a vCenter or ESXi host (GOVC_USERNAME and GOVC_PASSWORD, or a prompt)
  vcenter                    the one that GOVC_URL (or VSPHERE_SERVER) names
  export.xlsx                an RVTools export; also a folder or .zip of its CSV files
  vms.json hosts.json        tables of VMs and hosts: CSV, .xlsx or JSON of govc, PowerCLI, Live Optics, Ansible
  fleet.json                 a snapshot, from homenode snapshot
  fleet.txtar                a scenario or story: a fleet written by hand
  esx01-vm-support.tgz       a vm-support bundle, .vmx or vmware.log; also a folder or archive of them
  kvm                        XML of virsh: hosts of KVM and their VMs, a file or a folder (assess, explain, compare, snapshot)
  demo                       a simulated vCenter with 24 hosts and 300 VMs
  @sources.txt               a file with one SOURCE a line; several are read in parallel as one fleet

The account of a vCenter comes from --credentials, a file of lines "host user password" (mode 0600); from GOVC_USERNAME and
GOVC_PASSWORD, or those of Terraform and Ansible (VSPHERE_USER, VSPHERE_PASSWORD); or from a prompt. The
role Read-only is enough. Certificates are verified: GOVC_TLS_CA_CERTS names further authorities, GOVC_TLS_KNOWN_HOSTS a file of
thumbprints to trust; --insecure accepts any certificate.`
