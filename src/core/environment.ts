import { isTimeZone } from '../catalog/fields/times.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The time zone of this computer: `TZ` where it names one, as Node reads it too. */
export function computerZone(env: Environment): string {
  const named = env.TZ?.replace(/^:/, '') ?? '';
  return isTimeZone(named) ? named : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
