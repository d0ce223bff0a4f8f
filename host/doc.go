// Package host carries out a launch plan on the machine of the person: it
// tells a server what it must know of this machine, writes the launch's own
// directory, starts the CLI in the person's terminal and tidies up after it.
//
// It promises to write nowhere but in the launch's own directory, to put
// nothing between the CLI and the terminal, and to remove only directories
// that carry its own mark.
package host
