package auth_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/idea-ide/ideai/internal/auth"
)

func TestLoadKeyKeepsTheKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "key.pem")
	first, err := auth.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := auth.LoadKey(path)
	if err != nil || !first.Public().Equal(again.Public()) {
		t.Fatal("another key", err)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(p); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files left: %v %v", left, err)
	}
}

func TestLoadKeyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	const n = 16
	keys := make([]ed25519.PublicKey, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			k, err := auth.LoadKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = k.Public()
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !keys[0].Equal(k) {
			t.Fatal("two processes have two keys")
		}
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.pem")
	if _, err := auth.LoadKey(good); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(good, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.LoadKey(good); err == nil || !strings.Contains(err.Error(), "chmod 600 "+good) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	for name, content := range map[string]string{"empty": "", "text": "not a key",
		"half": "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.LoadKey(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Errorf("%s was changed", name)
		}
	}
}
