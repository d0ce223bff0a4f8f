package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/idea-ide/ideai/provider"
)

// versionMaxAge bounds how long a version is believed. A changed program is
// seen at once by its size and time; a shim that starts another program stays
// the same when that one is updated.
const versionMaxAge = 12 * time.Hour

// knownVersion is a version and the program that told it.
type knownVersion struct {
	Version string    `json:"version"`
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
	Asked   time.Time `json:"asked"`
}

// cachedVersion returns the version of the CLI at path. The cache is one small
// JSON file by resolved path; it may be deleted at any time, and what cannot
// be read or written of it is asked for again.
func cachedVersion(ctx context.Context, p *provider.Profile, path, cacheFile string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return ""
	}
	known := readVersions(cacheFile)
	k, found := known[resolved]
	age := time.Since(k.Asked)
	if found && k.Size == info.Size() && k.ModTime.Equal(info.ModTime()) && age >= 0 && age < versionMaxAge {
		return k.Version
	}
	version := askVersion(ctx, p, path)
	if version != "" && cacheFile != "" {
		known[resolved] = knownVersion{Version: version, Size: info.Size(), ModTime: info.ModTime(), Asked: time.Now()}
		writeVersions(cacheFile, known)
	}
	return version
}

func readVersions(file string) map[string]knownVersion {
	known := map[string]knownVersion{}
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &known) != nil {
		return map[string]knownVersion{}
	}
	return known
}

func writeVersions(file string, known map[string]knownVersion) {
	data, err := json.Marshal(known)
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "versions-*")
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	if errClose := temp.Close(); err != nil || errClose != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name())
	}
}
