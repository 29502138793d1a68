package decide

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestDashed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if dashed(dir) {
		t.Error("an empty folder holds no such name")
	}
	if err := os.WriteFile(filepath.Join(dir, "a-b"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if dashed(dir) {
		t.Error("a dash within a name makes no option")
	}
	if err := os.WriteFile(filepath.Join(dir, "-o"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !dashed(dir) {
		t.Error("-o was not seen")
	}
	if !dashed(filepath.Join(dir, "nowhere")) {
		t.Error("nothing is known of a folder that is not there")
	}
	large := t.TempDir()
	for i := range maxNames {
		if err := os.WriteFile(filepath.Join(large, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !dashed(large) {
		t.Error("a folder that was not read to the end may hold one")
	}
}
