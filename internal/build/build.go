// Package build tells which build of ideai is running, so that a command can
// see whether the background server it found is the same program, and which
// of the two is the later one.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// version is set at link time for releases: -ldflags "-X …/build.version=v1.2.3".
var version string

// Info identifies a build.
type Info struct {
	ID      string    // equal ids are the same program
	Version string    // for people
	Time    time.Time // when it was built, to the second
}

// Current describes the running executable. The id is the VCS revision when
// the build came from a clean checkout, else a hash of the executable's
// content, kept in cacheDir under its size and modification time because
// hashing costs more than the command has. It never fails: a cache that cannot
// be written only costs time.
func Current(cacheDir string) Info {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	bi, _ := debug.ReadBuildInfo()
	return describe(bi, exe, cacheDir)
}

func describe(bi *debug.BuildInfo, exe, cacheDir string) Info {
	info := Info{Version: version}
	var revision, dirty string
	var vcsTime time.Time
	if bi != nil {
		if info.Version == "" {
			info.Version = bi.Main.Version
		}
		for _, s := range bi.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				dirty = s.Value
			case "vcs.time":
				vcsTime, _ = time.Parse(time.RFC3339, s.Value)
			}
		}
	}
	if info.Version == "" {
		info.Version = "(devel)"
	}
	if revision != "" && dirty == "false" && !vcsTime.IsZero() {
		info.ID, info.Time = "vcs-"+revision, vcsTime
		return info
	}
	st, err := os.Stat(exe)
	if err != nil {
		info.ID = "unknown-" + info.Version
		return info
	}
	info.Time = st.ModTime().Truncate(time.Second)
	info.ID = "exe-" + contentHash(exe, st, cacheDir)
	return info
}

// Replaces reports whether a client of build i has to replace a server of
// build other: another program, and built later.
func (i Info) Replaces(other Info) bool {
	return i.ID != other.ID && i.Time.Unix() > other.Time.Unix()
}

// cached is what the cache file holds for one executable.
type cached struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime_ns"`
	Hash  string `json:"hash"`
}

func contentHash(exe string, st os.FileInfo, cacheDir string) string {
	want := cached{Path: exe, Size: st.Size(), Mtime: st.ModTime().UnixNano()}
	name := sha256.Sum256([]byte(exe))
	file := filepath.Join(cacheDir, fmt.Sprintf("build-%x.json", name[:8]))
	if data, err := os.ReadFile(file); err == nil {
		var have cached
		if json.Unmarshal(data, &have) == nil && have.Hash != "" {
			want.Hash = have.Hash
			if have == want {
				return have.Hash
			}
		}
	}
	hash, err := hashFile(exe)
	if err != nil {
		// Still names this very file, only less surely than its content does.
		return fmt.Sprintf("stat-%d-%d", want.Size, want.Mtime)
	}
	want.Hash = hash
	keep(file, want)
	return hash
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// keep writes the cache file by rename, so that two commands at once never
// read half of it.
func keep(file string, c cached) {
	data, err := json.Marshal(c)
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".build-*")
	if err != nil {
		return
	}
	_, werr := tmp.Write(data)
	cerr := tmp.Close()
	if werr != nil || cerr != nil || os.Rename(tmp.Name(), file) != nil {
		_ = os.Remove(tmp.Name())
	}
}
