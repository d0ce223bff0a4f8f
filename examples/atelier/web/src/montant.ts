/** Une somme en centimes d'euro. Toujours un entier. */
export type Centimes = number;

/** Écrit un montant comme sur une facture : « 12,50 € ». */
export function ecrire(montant: Centimes): string {
  if (!Number.isInteger(montant)) {
    throw new RangeError(`un montant est un nombre entier de centimes, pas ${montant}`);
  }
  const signe = montant < 0 ? "-" : "";
  const abs = Math.abs(montant);
  return `${signe}${Math.floor(abs / 100)},${String(abs % 100).padStart(2, "0")} €`;
}
