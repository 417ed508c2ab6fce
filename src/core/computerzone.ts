import { isTimeZone } from '../catalog/fields/times.ts';

/** The zone of this computer: `TZ` where it names one, as Node reads it too. */
export function computerZone(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.TZ?.replace(/^:/, '') ?? '';
  return isTimeZone(named) ? named : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
