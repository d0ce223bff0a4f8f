package main

import (
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// tr returns the text in the person's language. The English text is its own
// key; without a French one it stays as it is.
func (t *terminal) tr(s string) string {
	if t.lang != "fr" {
		return s
	}
	if fr, ok := french[s]; ok {
		return fr
	}
	return s
}

// language chooses between the languages ideai speaks: what the person set,
// else their locale.
func language(setting string, getenv func(string) string) string {
	for _, v := range []string{setting, getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")} {
		if v == "" {
			continue
		}
		if strings.HasPrefix(strings.ToLower(v), "fr") {
			return "fr"
		}
		return "en"
	}
	return "en"
}

// frenchReason is the French sentence for a fault: {key} stands for a value of
// its metadata, {msg} for the service's own words where they tell more.
func frenchReason(f *fault.Error) (string, bool) {
	s, ok := frenchReasons[f.Reason]
	if !ok {
		return "", false
	}
	for k, v := range f.Meta {
		s = strings.ReplaceAll(s, "{"+k+"}", v)
	}
	s = strings.ReplaceAll(s, "{msg}", f.Msg)
	if f.Reason == fault.InvalidField && len(f.Fields) == 1 {
		s += " : " + f.Fields[0].Path + " " + f.Fields[0].Message
	}
	return s, true
}

var frenchReasons = map[fault.Reason]string{
	fault.InvalidField:           "un champ n'est pas valable",
	fault.PageTokenInvalid:       "le jeton de page ne vaut pas pour cette requête ; recommence la liste au début",
	fault.ProjectNotFound:        "le projet {project} n'est pas enregistré, ou ne peut pas servir ; lance « ideai init » dans son dossier, ou « ideai project list » pour voir",
	fault.WorktreeNotFound:       "le projet {project} n'a pas de copie de travail {worktree} ; « ideai project show {project} » les liste",
	fault.NoteNotFound:           "aucune note {note} ; « ideai memory list » les montre",
	fault.PersonaNotFound:        "aucun agent {agent} ; « ideai agent list » les montre",
	fault.SkillNotFound:          "aucun savoir-faire {skill} ; regarde sous .ideai/skills",
	fault.ProfileNotFound:        "aucun profil {profile} ; « ideai launch --help » les nomme",
	fault.LaunchNotFound:         "aucun lancement {launch} ; « ideai launch explain » montre le dernier",
	fault.StaleEtag:              "quelqu'un l'a changé depuis la lecture ; relis-le, puis recommence",
	fault.IDReused:               "l'identifiant {id} a déjà servi à autre chose ; choisis-en un autre",
	fault.ProjectUntrusted:       "tu n'as pas encore accordé ta confiance au projet {project} ; lance « ideai trust »",
	fault.OverBudget:             "la partie {section} prend {tokens} jetons pour un budget de {budget} ; raccourcis-la ou élève le budget dans .ideai/project.yaml",
	fault.InjectionUnsupported:   "{profile} n'a pas d'entrée {strategy} pour ce lancement ({kind}, {workspace}) ; essaie sans --strategy",
	fault.InjectionTooLarge:      "le contexte fait {bytes} octets et l'entrée {carrier} de {profile} en prend {limit} ; utilise {instead}",
	fault.ArgumentConflict:       "l'argument {argument} contredit ce qu'ideai passe à {profile} ; retire-le",
	fault.HiddenText:             "{name} contient un caractère invisible en position {position} ; retire-le et recommence",
	fault.TooLarge:               "{name} fait {bytes} octets, la limite est de {limit} ; raccourcis ou partage",
	fault.Damaged:                "{name} est illisible à la ligne {line} ; corrige le fichier ({msg})",
	fault.NameMismatch:           "le nom « {name} » du préambule diffère de l'identifiant {id} ; donne-leur la même valeur",
	fault.OutsideProject:         "{name} mène hors du projet, vers {target} ; garde les fichiers dans le projet",
	fault.ReasonUnauthenticated:  "le serveur n'a pas reconnu l'appelant ; demande un nouveau jeton",
	fault.TokenExpired:           "le jeton a expiré ; relance l'agent",
	fault.CallerNotAllowed:       "{surface} ne peut pas appeler {method} ; cette commande est réservée à la personne",
	fault.OutOfScope:             "le jeton de l'agent ne vaut pas pour cela ({claim}) ; reste dans ton projet",
	fault.StoreLocked:            "un autre serveur ({holder}) tient les fichiers {service} du projet {project} ; arrête-le ou sers-t'en",
	fault.StoreReadOnly:          "{path} ne peut pas être écrit ; vérifie ses permissions",
	fault.StoreFull:              "le disque est plein pour {path} ; libère de la place et recommence",
	fault.StoreUnavailable:       "{path} ne peut pas servir ; vérifie ce qui s'y trouve (un fichier ou un dossier qui n'a rien à y faire), ses permissions et son disque",
	fault.WatchLagged:            "le suivi a pris trop de retard ; recommence",
	fault.Draining:               "le serveur s'arrête ; recommence dans un instant",
	fault.ServiceUnavailable:     "{service} ne répond pas ; recommence, ou regarde le journal du serveur ({msg})",
	fault.ReasonDeadlineExceeded: "l'appel a pris trop de temps ; recommence",
	fault.ReasonCanceled:         "interrompu",
	fault.MessageTooLarge:        "un message de {bytes} octets dépasse la limite de {limit} ; demande moins à la fois",
	fault.ReasonInternal:         "le serveur a failli ; son journal dit pourquoi sous la requête {request_id}",
	fault.UnknownMethod:          "le serveur ne connaît pas {method} ; client et serveur sont de versions différentes",
}
