package cpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"example.org/homenode/internal/testdeps"
)

// emulated is set in the environment of tests that run in an emulation.
const emulated = "HOMENODE_TEST_EMULATED"

// TestARM64 runs the tests of the kernels as built for arm64, in an emulation of that processor: what they time there means
// nothing, and they assert nothing of it.
func TestARM64(t *testing.T) {
	testdeps.Proving(t)
	if runtime.GOARCH == "arm64" || runtime.GOOS != "linux" {
		t.Skip("this is arm64, or no Linux")
	}
	emulator := testdeps.Program(t, "qemu-aarch64-static")
	for _, kernel := range []string{"cpu", "pages", "chase", "pingpong", "bandwidth", "lost"} {
		t.Run(kernel, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), kernel)
			build := exec.Command("go", "test", "-c", "-o", program, "example.org/homenode/measure/guest/"+kernel)
			build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			run := exec.Command(emulator, program, "-test.short", "-test.timeout", "5m")
			run.Env = append(os.Environ(), emulated+"=1")
			run.Dir = "../" + kernel
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
