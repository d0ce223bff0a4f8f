package launchersvc

import (
	"testing"

	"pgregory.net/rapid"
)

func TestHostPaths(t *testing.T) {
	for _, c := range []struct {
		os   hostOS
		path string
		want bool
	}{
		{"linux", "/home/u", true}, {"linux", "home", false}, {"linux", `C:\x`, false}, {"linux", "", false}, {"linux", "/a\x00b", false},
		{"darwin", "/Users/Été", true},
		{"windows", `C:\Users\u`, true}, {"windows", "c:/users", true}, {"windows", `\\host\share\x`, true},
		{"windows", `C:relative`, false}, {"windows", `\rooted`, false}, {"windows", `1:\x`, false},
	} {
		if got := c.os.absolute(c.path); got != c.want {
			t.Errorf("%s absolute(%q) = %v", c.os, c.path, got)
		}
	}
	for _, c := range []struct {
		os   hostOS
		dir  string
		elem []string
		want string
	}{
		{"linux", "/home/u/shop/", []string{".ideai", "run", "l1"}, "/home/u/shop/.ideai/run/l1"},
		{"linux", "/home/u", []string{""}, "/home/u"},
		{"windows", `C:\shop`, []string{".ideai", "run"}, `C:\shop\.ideai\run`},
		{"windows", `\\host\share`, []string{"a/b"}, `\\host\share\a\b`},
	} {
		if got := c.os.join(c.dir, c.elem...); got != c.want {
			t.Errorf("%s join(%q, %q) = %q, want %q", c.os, c.dir, c.elem, got, c.want)
		}
	}
	for _, c := range []struct {
		os   hostOS
		rel  string
		want bool
	}{
		{"linux", "", true}, {"linux", "a/../b", true}, {"linux", "..", false}, {"linux", "a/../../b", false}, {"linux", "/a", false},
		{"linux", "..a", true}, {"linux", `..\a`, true}, {"windows", `..\a`, false}, {"windows", `a\..\..\b`, false}, {"windows", `C:\a`, false},
	} {
		if got := c.os.local(c.rel); got != c.want {
			t.Errorf("%s local(%q) = %v", c.os, c.rel, got)
		}
	}
	if o := hostOS("windows"); !o.inside(`C:\s\run/CLAUDE.md`, `C:\s\run`) || o.inside(`C:\s\runner`, `C:\s\run`) {
		t.Error("inside")
	}
}

// Whatever is local stays inside the folder it is joined to.
func TestLocalStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom([]hostOS{"linux", "darwin", "windows"}).Draw(t, "os")
		rel := rapid.StringMatching(`[a.:/\\]{0,12}`).Draw(t, "rel")
		dir := map[hostOS]string{"linux": "/p", "darwin": "/p", "windows": `C:\p`}[o]
		if !o.local(rel) {
			return
		}
		if joined := o.join(dir, rel); joined != dir && !o.inside(joined, dir) {
			t.Fatalf("%q joined to %q is %q", rel, dir, joined)
		}
	})
}

func TestLanguageOf(t *testing.T) {
	for locale, want := range map[string]string{
		"": "", "C": "", "C.UTF-8": "", "POSIX": "", "fr_FR.UTF-8": "fr", "fr": "fr", "fr-CA": "fr", "en_GB": "en", "de_DE.UTF-8": "en", "fry_NL": "en",
	} {
		if got := languageOf(locale); got != want {
			t.Errorf("languageOf(%q) = %q, want %q", locale, got, want)
		}
	}
}

func TestInstanceIDsStayIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agent := rapid.StringMatching(`[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?`).Draw(t, "agent")
		n := rapid.IntRange(2, 2000).Draw(t, "n")
		if id := instanceID(agent, n); len(id) > 63 || id == agent || instanceID(agent, n+1) == id {
			t.Fatalf("instance %d of %s is %s", n, agent, id)
		}
	})
}
