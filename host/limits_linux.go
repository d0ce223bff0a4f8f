package host

// argvItemLimit is Linux's MAX_ARG_STRLEN without the final NUL, in bytes.
const argvItemLimit = 131071
