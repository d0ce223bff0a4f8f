// Package provider is the catalogue of the coding-agent CLIs that ideai can
// start: how each is found, which arguments mean what, which project files it
// reads by itself, and by which doors a text really reaches its model.
//
// A profile is data, a YAML file embedded in the program; nothing of it comes
// from a project, because a profile decides what is executed. Its matrix of
// carriers holds only doors that were seen to work by running the real CLI;
// each names the version it was seen with.
//
// The package knows files, arguments and variables as values. It touches no
// file and starts no process: the host package does.
package provider
