import { usageFailure } from '../../core/failure.ts';
import { type FlagValues, textFlag } from './values.ts';

/** A whole number within bounds from a flag, undefined when it was not given. Throws a Failure (exit 2). */
export function wholeNumber(flags: FlagValues, name: string, least: number, most: number): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  throw usageFailure(`--${name} must be a whole number, ${range}.`, { source: `--${name}` });
}
