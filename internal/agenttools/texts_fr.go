package agenttools

import "fmt"

var inFrench = language{
	instructions: func(project, agent string) string {
		return fmt.Sprintf("Mémoire du projet `%s`. Tu es `%s`. Cherche avant de décider.", project, agent)
	},
	tools: map[string]toolText{
		"idea_memory_recall": {
			"Chercher dans les notes du projet",
			"Cherche les notes de ce projet sur un sujet : décisions, conventions, préférences, pièges. À appeler avant de choisir une approche ou d'interroger la personne. Écris la tâche en une phrase simple, dans n'importe quelle langue. Rend au plus cinq notes si tu n'en demandes pas plus, entières, abrégées ou par leur nom, avec la raison. Aucun résultat : le projet n'a pas de note là-dessus ; continue sans reformuler.",
		},
		"idea_memory_read": {
			"Lire une note du projet",
			"Lit une note entière par son nom, tel que donné par une recherche, un lien `[[nom]]` ou la liste de tes instructions. Les longues notes viennent en plusieurs parties.",
		},
	},

	argQuery: "La tâche ou la question, en une phrase simple.",
	argLimit: "Nombre de notes, au plus.",
	argName:  "Le nom de la note.",
	argPart:  "La partie d'une longue note.",

	noNote:  "Aucune note là-dessus. Continue.",
	byName:  "Par leur nom seulement ; `idea_memory_read` en donne une entière :",
	excerpt: "abrégée ; `idea_memory_read` la donne entière",
	pinned:  "épinglée pour toi",
	linked:  "liée depuis `%s`",
	fields:  map[string]string{"name": "dans son nom", "description": "dans sa description", "heading": "dans un titre", "body": "dans son texte"},
	found: func(n, total int) string {
		if n == 1 {
			return fmt.Sprintf("1 note sur %d.", total)
		}
		return fmt.Sprintf("%d notes sur %d.", n, total)
	},
	part: func(n, of int) string {
		if n < of {
			return fmt.Sprintf("partie %d sur %d ; la suivante est la partie %d", n, of, n+1)
		}
		return fmt.Sprintf("partie %d sur %d, la dernière", n, of)
	},

	unreachable: "La mémoire n'est pas joignable pour l'instant ; travaille sans elle et ne réessaie pas pendant ce tour.",
	ended:       "Ton accès à la mémoire du projet a pris fin ; travaille sans elle. Il revient quand la personne ouvre une nouvelle session avec ideai.",
	notYours:    "Cette session n'a pas le droit de lire cela ; travaille sans et ne réessaie pas.",
	noSuchNote:  "Il n'y a pas de note `%s`. Cherche son sujet avec `idea_memory_recall`, ou continue sans elle.",
	unusable:    "Cette note est inutilisable tant qu'une personne ne l'a pas réparée (%s). Continue sans elle.",
	wrong:       "Rien n'a été fait : %s. Rappelle l'outil une fois cela corrigé.",
	broken:      "La mémoire a échoué (requête %s) ; travaille sans elle et ne réessaie pas pendant ce tour.",
}
