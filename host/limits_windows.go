package host

// argvItemLimit: a whole command line holds 32,767 UTF-16 units.
const argvItemLimit = 24000
