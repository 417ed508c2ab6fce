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

export function isOn(flags: FlagValues, name: string): boolean {
  return flags[name] === true;
}

/** The kebab case that flags are written in: `firstName` is `--first-name`. */
export function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}
