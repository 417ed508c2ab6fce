/** Figures of a long run go to standard output as they come. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A number from the environment, which makes a run shorter, longer, or the same again. */
export function setting(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be a whole number, not ${text}.`);
}

/** Seconds since a moment of `performance.now()`. */
export function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(0);
}
