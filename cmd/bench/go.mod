module homenode/cmd/bench

go 1.26.0

require (
	github.com/vmware/govmomi v0.56.0
	golang.org/x/sys v0.49.0
	homenode v0.0.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace homenode => ../..
