import { usageFailure } from '../../core/failure.ts';
import { type FlagValues, textFlag } from './values.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a flag such as 90m, 2h, 3600s or 3600, from a second to 24 days; undefined when it was not given. Throws a Failure (exit 2). */
export function durationFlag(flags: FlagValues, name: string): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const [, amount = '', unit = ''] = /^(\d{1,6})([smh]?)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? 0);
  // A timer takes no more than 2^31 - 1.
  if (amount !== '' && milliseconds >= 1000 && milliseconds < 2 ** 31) return milliseconds;
  throw usageFailure(`--${name} must be a time such as 90m, 2h or 3600s, up to 24 days.`, { source: `--${name}` });
}
