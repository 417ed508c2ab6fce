import { usageFailure } from '../../core/failure.ts';

/** Flag values as oclif parsed them, by flag name. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** The text of a flag, undefined when it was not given. */
export function textFlag(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** Every text of a repeatable flag. */
export function textFlags(flags: FlagValues, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
}

/** Whether a boolean flag was given. */
export function isOn(flags: FlagValues, name: string): boolean {
  return flags[name] === true;
}

/** A whole number within bounds from a flag, undefined when it was not given. Throws a Failure (exit 2). */
export function wholeNumber(flags: FlagValues, name: string, min: number, max: number): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  throw usageFailure(`--${name} must be a whole number, ${range}.`, { source: `--${name}` });
}

/** The kebab case that flags are written in: `firstName` is `--first-name`. */
export function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}
