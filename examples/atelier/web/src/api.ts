/** Une erreur de l'API : on décide sur `code`, on montre `message`. */
export interface ErreurApi {
  code: "INTROUVABLE" | "PERIME" | "INDISPONIBLE" | "INVALIDE";
  message: string;
}

/** Une page d'une liste ; `suite` est vide à la fin. */
export interface Page<T> {
  elements: T[];
  suite: string;
}

/** Parcourt une liste page après page. */
export async function* parcourir<T>(chemin: string): AsyncGenerator<T> {
  let suite = "";
  do {
    const reponse = await fetch(`${chemin}?suite=${encodeURIComponent(suite)}`);
    if (!reponse.ok) {
      throw (await reponse.json()) as ErreurApi;
    }
    const page = (await reponse.json()) as Page<T>;
    yield* page.elements;
    suite = page.suite;
  } while (suite !== "");
}
