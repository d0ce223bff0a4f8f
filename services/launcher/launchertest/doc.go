// Package launchertest holds the launcher to its API. Run is a suite that takes
// clients, so that it holds for a launcher over a pipe, over TCP or in one
// process with all services. Rig is a launcher with fakes of the services it
// calls, for what only a fake can show: a service that is down or silent, a
// clock that moves.
package launchertest
