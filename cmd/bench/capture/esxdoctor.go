//go:build linux

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed esxdoctor_driver.go.txt
var esxDoctorDriver []byte

//go:embed tally.go
var tallySource []byte

// buildEsxDoctor compiles the clone in dir together with the driver, and returns the path of
// the program in folder. It does not change the clone.
func buildEsxDoctor(dir, folder string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	command := filepath.Join(dir, "cmd", "esx-doctor")
	replace := map[string]string{}
	for name, source := range map[string][]byte{"capturebench_driver.go": esxDoctorDriver, "capturebench_tally.go": tallySource} {
		path := filepath.Join(folder, name+".txt")
		if err := os.WriteFile(path, source, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(command, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(folder, "esx-doctor")
	cmd := exec.Command("go", "build", "-overlay", overlayFile, "-o", program, "./cmd/esx-doctor")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOEXPERIMENT=", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build esx-doctor in %s: %w: %s", dir, err, out)
	}
	return program, nil
}
