/** The time now, in UTC milliseconds. */
export type Clock = () => number;

/** The time now as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function nowOf({ clock }: { readonly clock: Clock }): string {
  const milliseconds = clock();
  if (latest.milliseconds !== milliseconds) latest = { milliseconds, text: new Date(milliseconds).toISOString() };
  return latest.text;
}

/** The latest text, formatted once for everything within the same millisecond. */
let latest = { milliseconds: Number.NaN, text: '' };
