package main

import (
	"regexp"
	"strings"
)

// ofFile finds what a service says of a line of a file.
var ofFile = regexp.MustCompile(`(?s)^(left out: )?(\.ideai/\S+), line (\d+): (.*)$`)

// ofNotes finds what the launcher says of notes that are not used.
var ofNotes = regexp.MustCompile("^([0-9]+) notes? (?:is|are) not used: (`[^`]+`) tells why$")

// fileProblem returns what a service says of a file, such as a problem or a
// warning, in the person's language as far as it is of a known kind.
func (t *terminal) fileProblem(msg string) string {
	if m := ofNotes.FindStringSubmatch(msg); m != nil && t.lang == "fr" {
		return "notes inutilisables : " + m[1] + " ; " + m[2] + " dit pourquoi"
	}
	m := ofFile.FindStringSubmatch(msg)
	if t.lang != "fr" || m == nil {
		return msg
	}
	left := ""
	if m[1] != "" {
		left = "laissé de côté : "
	}
	return left + m[2] + ", ligne " + m[3] + " : " + frenchWhys.Replace(m[4])
}

// frenchWhys has what can be wrong with a line, as the services write it.
//
//nolint:misspell // the words are French
var frenchWhys = strings.NewReplacer(
	"; mend this line", " ; corrige cette ligne",
	"cannot be read: ", "illisible : ",
	"not YAML: ", "ce n'est pas du YAML : ",
	"sequence end token ']' not found", "il manque « ] »",
	"not key: value pairs", "ce ne sont pas des paires clé: valeur",
	"a second YAML document begins here", "un second document YAML commence ici",
	"the front matter that begins here is never closed by a line of ---", "le préambule qui commence ici n'est jamais fermé par une ligne ---",
	"the value needs quotes to be YAML; it was read as plain text, and the next save adds them",
	"la valeur a besoin de guillemets en YAML ; elle a été lue comme du texte, et le prochain enregistrement les ajoute",
	"git left a conflict here; choose a side and remove the markers", "git a laissé un conflit ici ; choisis un côté et retire les marques",
	"git's conflict markers begin here; choose a side", "un conflit de git commence ici ; choisis un côté",
	" must be en or fr", " doit valoir en ou fr",
	" must be a mapping", " doit avoir des clés en dessous",
	" must be a text", " doit être un texte",
	" must be a list of texts", " doit être une liste de textes",
	" must be the id of an agent", " doit être l'identifiant d'un agent",
	" must be the id of a profile", " doit être l'identifiant d'un profil",
	" must be a whole number from 0 to ", " doit être un nombre entier de 0 à ",
)
